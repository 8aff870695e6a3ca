// edge: asks whether stdin is a terminal.
import { Effect } from "effect"
import { Command } from "effect/cli"
import { nameArgument } from "../../command/flags.ts"
import { refusal } from "../../Failure.ts"
import { stdin } from "../../input/values.ts"
import { ask, list, printNote } from "../../command/root.ts"

const name = nameArgument(
  "name",
  "The secret's name",
  'Give the secret\'s name; "stoa secrets ls" lists those that are set',
)

const set = Command.make(
  "set",
  { name },
  Effect.fn(function* ({ name }) {
    if (process.stdin.isTTY) yield* printNote("Type the value, then Enter and Ctrl-D. It is shown while you type.")
    // The trailing newline of an editor or echo is not part of a key.
    const value = (yield* stdin).replace(/\r?\n$/, "")
    if (value === "")
      return yield* refusal(
        `stdin was empty. Type the value in a terminal, or pipe it: printf %s 'VALUE' | stoa secrets set ${name}`,
      )
    yield* ask((stoa) => stoa.secrets.set(name, { value }))
    yield* printNote(`${name} is set; nobody can read it back`)
  }),
).pipe(
  Command.withDescription("Set a secret from stdin"),
  Command.withExamples([{ command: "printf %s 'VALUE' | stoa secrets set OPENAI", description: "Set it from a pipe" }]),
)

const ls = Command.make(
  "ls",
  {},
  Effect.fn(function* () {
    const { items } = yield* ask((stoa) => stoa.secrets.list())
    yield* list(items, { shown: ["name", "setAt"] })
  }),
).pipe(Command.withDescription("Names only"))

const rm = Command.make(
  "rm",
  { name },
  Effect.fn(function* ({ name }) {
    yield* ask((stoa) => stoa.secrets.remove(name))
    yield* printNote(`${name} is removed`)
  }),
).pipe(Command.withDescription("Remove a secret"))

export const secrets = Command.make("secrets").pipe(
  Command.withDescription("Named secrets that tools may use"),
  Command.withSubcommands([set, ls, rm]),
)
