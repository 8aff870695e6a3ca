import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { refused } from "../Failure.ts"
import { jsonFlag, objectFlag } from "../input.ts"
import { all, ask, client, list, root, show, talk } from "../root.ts"

/** As many as a person reads at once. */
const usual = 20
const brief = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ")
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

interface Wanted {
  readonly limit: Option.Option<number>
  readonly cursor: Option.Option<string>
  readonly all: boolean
}

/** Longest waiting first, as the house lists them. A program that asks for JSON gets all of it, unless it says how many. */
const open = Effect.fnUntraced(function* ({ all: everything, cursor: from, limit }: Wanted) {
  const { json } = yield* root
  const stoa = yield* client
  const page = (count: number, cursor?: string) =>
    stoa.decisions.list({ state: "open", limit: count, ...(cursor === undefined ? {} : { cursor }) })
  const whole = everything || (json && Option.isNone(limit))
  const count = Option.getOrElse(limit, () => usual)
  const start = Option.getOrUndefined(from)
  const { items, next } = whole
    ? { items: yield* all((cursor) => page(100, cursor ?? start)), next: null }
    : yield* ask(() => page(count, start))
  const rows = items.map((one) => ({
    ...one,
    question: brief(one.question),
    input: one.call === null ? null : brief(JSON.stringify(one.call.input)),
  }))
  yield* list(json ? items : rows, ["id", "kind", "question", "input", "expiresAt"])
  if (next !== null)
    yield* talk(
      `These have waited longest; there are more. The next: stoa decide --cursor ${next}. All: stoa decide --all`,
    )
})

const approvals = Effect.fnUntraced(function* () {
  const stoa = yield* client
  const items = yield* all((cursor) =>
    stoa.decisions.approvals({ limit: 100, ...(cursor === undefined ? {} : { cursor }) }),
  )
  yield* list(items, ["id", "principal", "tool", "givenBy", "createdAt"])
})

const link = Effect.fnUntraced(function* (id: string, principal: Option.Option<string>) {
  const made = yield* ask((stoa) =>
    stoa.decisions.link(id, Option.isSome(principal) ? { principal: principal.value } : {}),
  )
  yield* show(made, made.url)
  yield* talk("Whoever opens it answers in that person's name: send it to nobody else.")
})

const text = (name: string, words: string) => Flag.String(name).pipe(Flag.withDescription(words), Flag.optional)
const flag = (name: string, words: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(words), Flag.withDefault(false))

export const decide = Command.make(
  "decide",
  {
    id: Argument.String("id").pipe(Argument.withDescription("The decision, dcs_…"), Argument.optional),
    approve: flag("approve", "Yes: the call runs"),
    deny: flag("deny", "No: the call is refused"),
    value: text("value", "What a form asks for, as JSON; @file reads a file, - reads stdin"),
    input: text("input", "With --approve: run it with this input instead"),
    reach: Flag.Literals("reach", ["once", "run", "always"]).pipe(
      Flag.withDescription("With --approve: for this call, or from now on"),
      Flag.optional,
    ),
    note: text("note", "A word on why"),
    link: flag("link", "Make a link that answers it from wherever it is opened"),
    for: text("for", "With --link: whose answer it is"),
    approvals: flag("approvals", "List what was approved from now on"),
    revoke: text("revoke", "Take such an approval back, by its id"),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription(`How many to list, at most 100; usually ${usual}, and all with --json`),
      Flag.optional,
    ),
    cursor: text("cursor", "List on from where the page before ended"),
    all: flag("all", "List all of them"),
  },
  Effect.fn(function* (given) {
    const { id, input, note, reach, revoke, value } = given
    const answers = [given.approve, given.deny, Option.isSome(value)].filter(Boolean).length
    if (Option.isSome(revoke)) {
      yield* ask((stoa) => stoa.decisions.revoke(revoke.value))
      return yield* talk(`${revoke.value} no longer holds`)
    }
    if (given.approvals) return yield* approvals()
    if (Option.isNone(id))
      return answers > 0 || given.link ? yield* refused("Say which one: stoa decide ID …") : yield* open(given)
    if (given.link) return yield* link(id.value, given.for)
    if (answers !== 1) return yield* refused("Give one answer: --approve, --deny or --value JSON.")
    if (Option.isSome(input) && !given.approve)
      return yield* refused("--input goes with --approve; a form takes --value.")
    const changed = Option.isSome(input) ? { input: yield* objectFlag(input.value, "input") } : {}
    const filled = Option.isSome(value) ? { value: (yield* jsonFlag(value.value, "value")) as never } : {}
    const answered = yield* ask((stoa) =>
      stoa.decisions.answer(id.value, {
        verdict: given.approve ? "approve" : given.deny ? "deny" : "submit",
        ...changed,
        ...filled,
        ...(Option.isSome(reach) ? { reach: reach.value } : {}),
        ...(Option.isSome(note) ? { note: note.value } : {}),
      }),
    )
    const more =
      answered.state === "open" ? `${answered.people - answered.approvals.length} more must approve it` : answered.state
    yield* show(answered, `${answered.id}  ${answered.verdict ?? "approve"}  ${more}`)
  }),
).pipe(
  Command.withDescription("What waits for an answer, and the answer; alone it lists"),
  Command.withExamples([
    { command: "stoa decide", description: "What you may answer" },
    { command: "stoa decide dcs_… --approve --json", description: "Let the call run" },
    { command: `stoa decide dcs_… --approve --input '{"folder":"logs"}'`, description: "Let it run with other input" },
  ]),
)
