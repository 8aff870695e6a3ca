import { Effect } from "effect"
import { Command } from "effect/cli"
import { nameArgument } from "../../command/flags.ts"
import { columns } from "../../output/columns.ts"
import { nameOf, namesForPeople } from "../../output/names.ts"
import { ask, list, root, printNote } from "../../command/root.ts"

const ls = Command.make(
  "ls",
  {},
  Effect.fn(function* () {
    const { items } = yield* ask((stoa) => stoa.hosts.list())
    const { json } = yield* root
    const known = yield* namesForPeople(items)
    const rows = items.map((one) => ({ ...one, owner: nameOf(one.owner, known) }))
    yield* list(json ? items : rows, columns.hosts)
  }),
).pipe(Command.withDescription("List the processes and the functions they offer"))

const rm = Command.make(
  "rm",
  {
    host: nameArgument(
      "host",
      "Its name, or its id if it is somebody else's",
      'Give a host; "stoa hosts ls" lists them',
    ),
  },
  Effect.fn(function* ({ host }) {
    yield* ask((stoa) => stoa.hosts.remove(host))
    yield* printNote(`${host} and its tools are removed`)
  }),
).pipe(
  Command.withDescription("Remove a host and its tools; its process is told"),
  Command.withExamples([{ command: "stoa hosts rm billing", description: "Its open calls fail" }]),
)

export const hosts = Command.make("hosts").pipe(
  Command.withDescription("Processes that offer functions as tools"),
  Command.withSubcommands([ls, rm]),
)
