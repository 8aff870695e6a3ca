/** Allow lists: which tools of a set a context may see and call. */
import { AccessContext, ListedSet } from "@stoa/contract"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { change } from "../../command/change.ts"
import { refusal } from "../../Failure.ts"
import { switchFlag } from "../../command/flags.ts"
import { ask, list, show, printNote } from "../../command/root.ts"

const set = Argument.Literals("set", ListedSet.literals).pipe(
  Argument.withDescription("A toolset, configured (your own tools) or upstream (those of MCP servers)"),
)
const context = Argument.Literals("context", AccessContext.literals).pipe(
  Argument.withDescription("The context of the caller's token"),
)

type Shown = { readonly tools: ReadonlyArray<string>; readonly unknown: ReadonlyArray<string> }
const words = ({ tools }: Shown): string => (tools.length === 0 ? "nothing" : tools.join("\n"))
const noted = ({ unknown }: Shown) =>
  unknown.length === 0 ? Effect.void : printNote(`Not available at the moment: ${unknown.join(", ")}`)

const ls = Command.make(
  "ls",
  {},
  Effect.fn(function* () {
    const { items } = yield* ask((stoa) => stoa.allowLists.list())
    yield* list(items, {
      shown: ["toolset", "context", "source", "changedAt", "tools"],
      spare: ["source", "changedAt"],
    })
  }),
).pipe(Command.withDescription("Every list, by set and context"))

const one = Command.make(
  "show",
  { set, context },
  Effect.fn(function* ({ context, set }) {
    const found = yield* ask((stoa) => stoa.allowLists.get(set, context))
    yield* show(found, words(found))
    yield* noted(found)
  }),
).pipe(Command.withDescription("One list, one tool per line"))

const replace = Command.make(
  "set",
  {
    set,
    context,
    tools: Argument.String("tool").pipe(
      Argument.withDescription("A tool's name, <server>/* for a whole server, or * for all"),
      Argument.variadic(),
    ),
    none: switchFlag("none", "Allow no tool at all"),
  },
  Effect.fn(function* ({ context, none, set, tools }) {
    if (tools.includes("") || (tools.length === 0) !== none)
      return yield* refusal(
        none ? "Name the tools, or give --none, not both." : "Name the tools, or give --none to allow none.",
      )
    const made = yield* change((stoa) => stoa.allowLists.set(set, context, { tools }))
    yield* show(made, words(made))
    yield* noted(made)
  }),
).pipe(
  Command.withDescription("Replace a list with these tools"),
  Command.withExamples([
    {
      command: "stoa lists set upstream agent 'notes/*' crm/search",
      description: "All of one server, one tool of another",
    },
  ]),
)

const reset = Command.make(
  "reset",
  { set, context },
  Effect.fn(function* ({ context, set }) {
    const made = yield* change((stoa) => stoa.allowLists.reset(set, context))
    yield* show(made, words(made))
  }),
).pipe(Command.withDescription("Reset a list to its default"))

export const lists = Command.make("lists").pipe(
  Command.withDescription("Allow lists: which tools a context sees and calls"),
  Command.withSubcommands([ls, one, replace, reset]),
)
