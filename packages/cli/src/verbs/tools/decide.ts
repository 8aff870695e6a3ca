import type { NewAnswer } from "@stoa/contract"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../../output/columns.ts"
import { type Decision, decisionLines, endOf, nobody, unanswerable } from "../../output/decisionLines.ts"
import { failureOf, refusal } from "../../Failure.ts"
import { givenFlags, switchFlag, textFlag, wordsFlag } from "../../command/flags.ts"
import { answerFrom, fieldsOf, fromFlags } from "../../input/form.ts"
import { isTerminal, jsonFlag, objectFlag, withTerminal } from "../../input/values.ts"
import { knownNames, nameOf, namesForPeople } from "../../output/names.ts"
import { all, ask, client, fittedText, list, printLine, root, show, printNote } from "../../command/root.ts"
import { shortIds } from "../../output/shortIds.ts"
import { idOf } from "../../command/ids.ts"
import { asTyped } from "../../Settings.ts"

/** Our own hints name the command that works here. Lines of others are behind a bar and stay unchanged. */
const linesOf = (...args: Parameters<typeof decisionLines>) =>
  decisionLines(...args).map((line) =>
    line.startsWith("  answer: ") || line.trim() === nobody(args[0]) ? asTyped(line) : line,
  )

const printFitted = (line: string) => printLine(fittedText(line, process.stdout))

/** As many as a person reads at once. */
const usual = 20
/** Through its moment and its number there: hardly any other id begins so, open or closed. */
const leastShown = "01a1e256-b39d-7000".length
interface Wanted {
  readonly limit: Option.Option<number>
  readonly cursor: Option.Option<string>
  readonly all: boolean
}

/** Longest waiting first, as the house lists them. With --json all of them, unless a limit is given. */
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
  if (json) return yield* list(items, { shown: [] })
  if (items.length === 0) return yield* printNote("There are no open questions.")
  const short =
    next === null && start === undefined
      ? shortIds(
          items.map((one) => one.id),
          leastShown,
        )
      : new Map<string, string>()
  const known = yield* knownNames(items)
  const who = yield* me
  for (const one of items)
    for (const line of linesOf(one, known, short.get(one.id) ?? one.id, who)) yield* printFitted(line)
  if (next !== null)
    yield* printNote(
      `These are the oldest; there are more. Next page: stoa decide --cursor ${next}. All: stoa decide --all`,
    )
})

const approvals = Effect.fnUntraced(function* () {
  const stoa = yield* client
  const items = yield* all((cursor) =>
    stoa.decisions.approvals({ limit: 100, ...(cursor === undefined ? {} : { cursor }) }),
  )
  const { json } = yield* root
  const known = yield* namesForPeople(items)
  const named = items.map((one) => ({
    ...one,
    principal: nameOf(one.principal, known),
    givenBy: nameOf(one.givenBy, known),
  }))
  yield* list(json ? items : named, columns.approvals)
})

/** So many that a refusal can say which they are. */
const maxAlike = 6

/**
 * The decision a person means: its id, or a beginning that no other decision has, not even a closed one. Otherwise an
 * agent could withdraw what somebody has read and ask something else that begins the same way.
 */
const decisionOf = (given: string) =>
  idOf(given, {
    noun: "decision",
    where: '"stoa decide" lists the open ones.',
    ids: Effect.suspend(() =>
      Effect.map(
        ask((stoa) =>
          stoa.decisions.list({ begins: given.startsWith("dcs_") ? given : `dcs_${given}`, limit: maxAlike }),
        ),
        ({ items }) => items.map(({ id }) => id),
      ),
    ),
  })

/** Who asks, so that nobody is told to do what only others may. */
const me = Effect.map(Effect.option(ask((stoa) => stoa.principals.me())), (found) =>
  Option.getOrUndefined(Option.map(found, (one): string => one.id)),
)

/** Fails early, with a hint, if the decision is closed or needs another kind of answer. */
const fitting = Effect.fnUntraced(function* (id: string, approves: boolean, fills: boolean) {
  const decision = yield* ask((stoa) => stoa.decisions.get(id))
  if (decision.state !== "open")
    return yield* refusal(
      `This decision is ${endOf(decision, yield* knownNames(decision))}. See it with: stoa decide ${id} --show`,
    )
  if (decision.kind === "approval" && fills) return yield* refusal("This is an approval: give --approve or --deny.")
  const field = fieldsOf(decision.schema).length === 0 ? "" : "--field NAME=VALUE, "
  if (decision.kind !== "approval" && approves)
    return yield* refusal(`This is a form: give ${field}--value JSON or --deny. See it with: stoa decide ${id} --show`)
  return decision
})

/** One complete decision, on stderr if stdout is for data. */
const whole = Effect.fnUntraced(function* (id: string, write: (line: string) => Effect.Effect<void>) {
  const decision = yield* ask((stoa) => stoa.decisions.get(id))
  const known = yield* knownNames(decision)
  for (const line of linesOf(decision, known, decision.id, yield* me)) yield* write(line)
  return decision
})

/** At a terminal, shows the question and asks for the answer, field by field for a form. */
const askHere = Effect.fnUntraced(function* (decision: Decision) {
  const answer = yield* Effect.tryPromise({
    try: () => withTerminal((say) => answerFrom(decision, say)),
    catch: failureOf,
  })
  if (answer === undefined) return yield* printNote("It stays open.")
  yield* answered(yield* ask((stoa) => stoa.decisions.answer(decision.id, answer as NewAnswer)))
})

/** Seconds in which an approved call that cannot run any more is refused; a longer one is told as running. */
const soon = 2

const answered = Effect.fnUntraced(function* (done: Decision) {
  const left = done.people - done.approvals.length
  const more = done.state === "open" ? `${left} more must approve it` : done.state
  yield* show(done, `${done.id}  ${done.verdict ?? "approve"}  ${more}`)
  const { call, verdict } = done
  if (call === null || verdict !== "approve") return
  // The call of another is not seen by everybody who may answer.
  const found = yield* Effect.option(ask((stoa) => stoa.calls.get(call.id, { wait: soon })))
  if (Option.isSome(found) && found.value.state === "refused")
    yield* printNote(`The call was refused all the same: ${found.value.error?.message ?? "no reason was given"}.`)
})

const link = Effect.fnUntraced(function* (id: string, principal: Option.Option<string>) {
  const made = yield* ask((stoa) => stoa.decisions.link(id, givenFlags({ principal })))
  yield* show(made, made.url)
  yield* printNote("Anybody who has this link can answer in that person's name: send it to nobody else.")
})

const fieldsGiven = Effect.fnUntraced(function* ({ id, schema }: Decision, given: ReadonlyArray<string>) {
  const found = fromFlags(fieldsOf(schema), given)
  return "fault" in found
    ? yield* refusal(`${found.fault}. See it with: stoa decide ${id} --show`)
    : (found.value as never)
})

const oneAnswer = "Give one answer: --approve, --deny or --value JSON. A form also takes --field NAME=VALUE."

export const decide = Command.make(
  "decide",
  {
    id: Argument.String("id").pipe(
      Argument.withDescription("The decision: its id, or the first characters of it"),
      Argument.optional,
    ),
    approve: switchFlag("approve", "Yes: the call runs"),
    deny: switchFlag("deny", "No: the call is refused"),
    show: switchFlag("show", "Show the whole of it: question, input, schema, who may answer and how"),
    field: Flag.String("field").pipe(
      Flag.withDescription("A field of a form, NAME=VALUE; can be given several times"),
      Flag.between(0, 200),
    ),
    value: textFlag("value", "What a form asks for, as JSON; @file reads a file, - reads stdin"),
    input: textFlag("input", "With --approve: run it with this input instead"),
    reach: Flag.Literals("reach", ["once", "run", "always"]).pipe(
      Flag.withDescription(
        "With --approve: for this call (once), for the rest of the run (run), or from now on (always)",
      ),
      Flag.optional,
    ),
    note: wordsFlag("note", "The reason"),
    link: switchFlag("link", "Make a link that answers it without signing in"),
    for: textFlag("for", "With --link: the person who answers; only yourself"),
    approvals: switchFlag("approvals", "List standing approvals"),
    revoke: textFlag("revoke", "Revoke a standing approval, by its id"),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription(`How many to list, at most 100; usually ${usual}, and all with --json`),
      Flag.optional,
    ),
    cursor: textFlag("cursor", "Continue after the previous page"),
    all: switchFlag("all", "List all of them"),
  },
  Effect.fn(function* (flags) {
    const { input, note, reach, revoke, value } = flags
    const answers = [flags.approve, flags.deny, Option.isSome(value), flags.field.length > 0].filter(Boolean).length
    if (Option.isSome(revoke)) {
      yield* ask((stoa) => stoa.decisions.revoke(revoke.value))
      return yield* printNote(`${revoke.value} is revoked`)
    }
    if (flags.approvals) return yield* approvals()
    if (Option.isNone(flags.id))
      return answers > 0 || flags.link ? yield* refusal("Say which one: stoa decide ID …") : yield* open(flags)
    if (answers > 1) return yield* refusal(oneAnswer)
    if (Option.isSome(input) && !flags.approve)
      return yield* refusal("Use --input only with --approve; a form takes --value or --field.")
    const id = yield* decisionOf(flags.id.value)
    if (flags.link) return yield* link(id, flags.for)
    const { json } = yield* root
    if (flags.show && json) return yield* show(yield* ask((stoa) => stoa.decisions.get(id)), "")
    if (flags.show) return yield* Effect.asVoid(whole(id, printFitted))
    if (answers === 0) {
      const decision = yield* whole(id, printNote)
      const cannot = decision.state === "open" ? unanswerable(decision, yield* me) : undefined
      if (cannot !== undefined) return yield* refusal(cannot)
      if (isTerminal() && decision.state === "open") return yield* askHere(decision)
      return yield* refusal(
        decision.state === "open" ? oneAnswer : `This decision is ${endOf(decision, yield* knownNames(decision))}.`,
      )
    }
    const decision = yield* fitting(id, flags.approve, Option.isSome(value) || flags.field.length > 0)
    const changed = Option.isSome(input) ? { input: yield* objectFlag(input.value, "input") } : {}
    const filled = Option.isSome(value)
      ? { value: (yield* jsonFlag(value.value, "value")) as never }
      : flags.field.length > 0
        ? { value: yield* fieldsGiven(decision, flags.field) }
        : {}
    yield* answered(
      yield* ask((stoa) =>
        stoa.decisions.answer(id, {
          verdict: flags.approve ? "approve" : flags.deny ? "deny" : "submit",
          ...changed,
          ...filled,
          ...givenFlags({ reach, note }),
        }),
      ),
    )
  }),
).pipe(
  Command.withDescription("List open questions, or answer one"),
  Command.withExamples([
    { command: "stoa decide", description: "What you may answer" },
    { command: "stoa decide 01a1e256 --show", description: "All of one, by the beginning of its id" },
    { command: "stoa decide dcs_… --approve --json", description: "Let the call run" },
    { command: "stoa decide dcs_… --field choice=blue", description: "Fill a form" },
    { command: `stoa decide dcs_… --approve --input '{"folder":"logs"}'`, description: "Let it run with other input" },
  ]),
)
