import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { refused } from "../Failure.ts"
import { nameOf, namesForPeople, withNames } from "../names.ts"
import { ask, list, root, show, talk } from "../root.ts"

export const pause = Command.make(
  "pause",
  {
    subject: Argument.String("subject").pipe(
      Argument.withDescription("everything, agents/NAME, tools/NAME or servers/NAME"),
      Argument.optional,
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why, for whoever meets it"), Flag.optional),
    lift: Flag.String("lift").pipe(Flag.withDescription("Let this subject go on"), Flag.optional),
  },
  Effect.fn(function* ({ lift, reason, subject }) {
    if (Option.isSome(lift)) {
      if (Option.isSome(subject)) return yield* refused("Pause one thing or lift another, not both at once.")
      yield* ask((stoa) => stoa.pauses.lift(lift.value))
      return yield* talk(`${lift.value} goes on`)
    }
    if (Option.isNone(subject)) {
      const { items } = yield* ask((stoa) => stoa.pauses.list())
      const { json } = yield* root
      const known = yield* namesForPeople
      const named = items.map((one) => ({ ...one, by: nameOf(one.by, known), subject: withNames(one.subject, known) }))
      return yield* list(json ? items : named, ["subject", "reason", "by", "createdAt"])
    }
    const made = yield* ask((stoa) =>
      stoa.pauses.set({ subject: subject.value, ...(Option.isSome(reason) ? { reason: reason.value } : {}) }),
    )
    yield* show(made, `${made.subject} is paused: it makes and takes no calls`)
  }),
).pipe(
  Command.withDescription("The kill switch: stop an agent, a tool, a server or everything; alone it lists"),
  Command.withExamples([
    { command: 'stoa pause tools/wipe --reason "it wiped too much"', description: "Stop one tool, at once" },
    { command: "stoa pause --lift tools/wipe", description: "Let it go on" },
  ]),
)
