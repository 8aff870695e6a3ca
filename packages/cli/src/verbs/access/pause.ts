import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { refusal } from "../../Failure.ts"
import { givenFlags, nameArgument, textFlag, wordsFlag } from "../../command/flags.ts"
import { nameOf, namesForPeople, withNames } from "../../output/names.ts"
import { ask, list, root, show, printNote } from "../../command/root.ts"

export const pause = Command.make(
  "pause",
  {
    subject: nameArgument(
      "subject",
      "everything, agents/NAME, tools/NAME or servers/NAME",
      "Give a subject: everything, agents/NAME, tools/NAME or servers/NAME",
    ).pipe(Argument.optional),
    reason: wordsFlag("reason", "The reason, which refused callers see"),
    lift: textFlag("lift", "Lift the pause of this subject"),
  },
  Effect.fn(function* ({ lift, reason, subject }) {
    if (Option.isSome(lift)) {
      if (Option.isSome(subject)) return yield* refusal("Pause one thing or lift another, not both at once.")
      yield* ask((stoa) => stoa.pauses.lift(lift.value))
      return yield* printNote(`${lift.value} is no longer paused`)
    }
    if (Option.isNone(subject)) {
      const { items } = yield* ask((stoa) => stoa.pauses.list())
      const { json } = yield* root
      const known = yield* namesForPeople(items)
      const named = items.map((one) => ({ ...one, by: nameOf(one.by, known), subject: withNames(one.subject, known) }))
      return yield* list(json ? items : named, { shown: ["subject", "by", "createdAt", "reason"] })
    }
    const made = yield* ask((stoa) => stoa.pauses.set({ subject: subject.value, ...givenFlags({ reason }) }))
    yield* show(made, `${made.subject} is paused: its calls are refused`)
  }),
).pipe(
  Command.withDescription(
    "The kill switch: pause an agent, a tool, a server or everything; without arguments, list pauses",
  ),
  Command.withExamples([
    { command: 'stoa pause tools/wipe --reason "it wiped too much"', description: "Stop one tool, at once" },
    { command: "stoa pause --lift tools/wipe", description: "Lift a pause" },
  ]),
)
