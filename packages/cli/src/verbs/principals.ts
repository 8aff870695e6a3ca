import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { refused } from "../Failure.ts"
import { all, ask, client, list, show, talk } from "../root.ts"

const name = Argument.String("name").pipe(Argument.withDescription("Its name, which nobody else has"))

/** `agents` and `people` are the same verb for two kinds of principal. */
const verb = (plural: string, kind: "agent" | "person") => {
  const add = Command.make(
    "add",
    {
      name,
      toolset: Flag.Literals("toolset", ["stoa", "office", "gateway", "engrams", "team", "skills"]).pipe(
        Flag.withDescription("A set of tools it sees; may be given several times"),
        Flag.between(0, 6),
      ),
      role: Flag.String("role").pipe(Flag.withDescription("A role; may be given several times"), Flag.between(0, 8)),
    },
    Effect.fn(function* ({ name, role, toolset }) {
      const made = yield* ask((stoa) =>
        stoa.principals.add({
          kind,
          name,
          ...(toolset.length > 0 ? { toolsets: toolset } : {}),
          ...(role.length > 0 ? { roles: role as never } : {}),
        }),
      )
      yield* show(made, `${made.name} is here: ${made.id}`)
    }),
  ).pipe(
    Command.withDescription(`Add one of the ${plural}`),
    Command.withExamples([{ command: `stoa ${plural} add Pam --json`, description: "Add Pam and print her" }]),
  )
  const ls = Command.make(
    "ls",
    {},
    Effect.fn(function* () {
      const stoa = yield* client
      const items = yield* all((cursor) =>
        stoa.principals.list({ kind, limit: 100, ...(cursor === undefined ? {} : { cursor }) }),
      )
      yield* list(items, ["name", "id", "roles", "toolsets", "source"])
    }),
  ).pipe(Command.withDescription(`List the ${plural}`))
  const rm = Command.make(
    "rm",
    { name: Argument.String("name").pipe(Argument.withDescription("Name or id")) },
    Effect.fn(function* ({ name }) {
      const found = yield* ask((stoa) => stoa.principals.get(name))
      if (found.kind !== kind)
        return yield* refused(`${found.name} is not one of the ${plural}: it is a ${found.kind}.`)
      yield* ask((stoa) => stoa.principals.retire(found.id))
      yield* talk(`${name} has left; its tokens no longer work`)
    }),
  ).pipe(Command.withDescription("Retire one: its tokens stop, its past stays"))
  return Command.make(plural).pipe(
    Command.withDescription(`The ${plural} of the house`),
    Command.withSubcommands([add, ls, rm]),
  )
}

export const agents = verb("agents", "agent")
export const people = verb("people", "person")
