/** `stoa demo`: what the demo office consists of, which model it uses, and how to remove it. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { refusal } from "../../Failure.ts"
import { ask, list, root, show, printNote } from "../../command/root.ts"

const ls = Command.make(
  "ls",
  {},
  Effect.fn(function* () {
    const demo = yield* ask((stoa) => stoa.demo.get())
    const { json } = yield* root
    if (json) return yield* show(demo, "")
    yield* printNote(
      demo.state === "on"
        ? `The model of the demo is ${demo.model}; it has spent $${demo.budget.spent.toFixed(2)} of $${demo.budget.perDay} today`
        : demo.state === "none"
          ? "There is no demo here: it is made once, when a new house starts without a configuration file"
          : "The demo was removed",
    )
    yield* list(demo.parts, { shown: ["kind", "name"] })
  }),
).pipe(Command.withDescription("List everything the demo made, and the model of its agents"))

const rm = Command.make(
  "rm",
  {},
  Effect.fn(function* () {
    yield* ask((stoa) => stoa.demo.remove())
    yield* printNote("The demo is removed, with everything it made; it does not come back")
  }),
).pipe(Command.withDescription("Remove the demo and everything it made"))

const set = Command.make(
  "set",
  {
    model: Flag.String("model").pipe(
      Flag.withDescription("scripted, or a model that `demo ls --json` lists"),
      Flag.optional,
    ),
    budget: Flag.Finite("budget").pipe(Flag.withDescription("US dollars a day, for all its agents"), Flag.optional),
  },
  Effect.fn(function* ({ budget, model }) {
    if (Option.isNone(model) && Option.isNone(budget)) return yield* refusal("Give --model, --budget or both.")
    const demo = yield* ask((stoa) =>
      stoa.demo.change({
        ...(Option.isSome(model) ? { model: model.value } : {}),
        ...(Option.isSome(budget) ? { budget: budget.value } : {}),
      }),
    )
    yield* show(demo, `The model of the demo is ${demo.model}, and it may spend $${demo.budget.perDay} a day`)
  }),
).pipe(
  Command.withDescription("Let the demo's agents use a model of the house, within a daily budget"),
  Command.withExamples([
    {
      command: "stoa demo set --model demo-anthropic --budget 2",
      description: "With ANTHROPIC_API_KEY in the environment",
    },
  ]),
)

export const demo = Command.make("demo").pipe(
  Command.withDescription("The demo office of a new house"),
  Command.withSubcommands([ls, rm, set]),
)
