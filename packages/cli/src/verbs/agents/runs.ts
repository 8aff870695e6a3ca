import { RunState, type RunStep } from "@stoa/contract"
import type { Plain } from "@stoa/sdk"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../../output/columns.ts"
import { countNoun } from "../../output/countNoun.ts"
import { Failure } from "../../Failure.ts"
import { givenFlags, nameArgument, textFlag } from "../../command/flags.ts"
import { nameOf, namesForPeople } from "../../output/names.ts"
import { asTyped } from "../../Settings.ts"
import { ask, client, list, printLine, printJson, print, root, show } from "../../command/root.ts"

const run = nameArgument("run", "The run's id", 'Give a run; "stoa runs ls" lists them')
const over: ReadonlyArray<string> = ["completed", "failed", "canceled"]

interface Shown {
  readonly id: string
  readonly state: string
  readonly stop: string | null
  readonly failure?: string
  readonly step: number
}
const line = ({ failure, id, state, step, stop }: Shown): string =>
  `${id} is ${state}${stop === null ? "" : ` (${stop})`} after ${countNoun(step, "step")}${failure === undefined ? "" : `: ${failure}`}`

/** The beginning of the reason; `runs show` has the whole of it. */
const shortly = (reason: string): string => (reason.length <= 60 ? reason : `${reason.slice(0, 59)}…`)

const ls = Command.make(
  "ls",
  {
    agent: textFlag("agent", "Only those of this agent"),
    state: Flag.Literals("state", [...RunState.literals, "live"]).pipe(
      Flag.withDescription("Only runs in this state; live means all that have not ended"),
      Flag.optional,
    ),
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, the newest first"), Flag.withDefault(50)),
  },
  Effect.fn(function* ({ agent, limit, state }) {
    const { items } = yield* ask((stoa) =>
      stoa.runs.list({
        limit,
        ...givenFlags({ agent, state }),
      }),
    )
    const { json } = yield* root
    const known = yield* namesForPeople(items)
    const rows = items.map((one) => ({
      ...one,
      agent: nameOf(one.agent, known),
      stop: one.failure === undefined ? one.stop : `${one.stop}: ${shortly(one.failure)}`,
      trigger: one.trigger.summary,
    }))
    yield* list(json ? items : rows, columns.runs)
  }),
).pipe(
  Command.withDescription("List the runs of agents, the newest first"),
  Command.withExamples([{ command: "stoa runs ls --agent Pam --state failed", description: "Pam's runs that failed" }]),
)

const get = Command.make(
  "show",
  { run },
  Effect.fn(function* ({ run: id }) {
    const one = yield* ask((stoa) => stoa.runs.get(id))
    const { json } = yield* root
    if (json) return yield* printJson(one)
    yield* printLine(line(one))
    for (let next: string | null | undefined; next !== null;) {
      const at = next === undefined ? {} : { cursor: next }
      const page = yield* ask((stoa) => stoa.runs.steps(id, at))
      next = page.next
      yield* printSteps(page.items)
    }
  }),
).pipe(Command.withDescription("One run and its steps"))

const printSteps = Effect.fnUntraced(function* (steps: ReadonlyArray<Plain<typeof RunStep.Type>>) {
  for (const { calls, callsLeftOut, number, text } of steps) {
    if (text !== "") yield* printLine(`${number}. ${text}`)
    for (const { input, on, state = "not made", tool } of calls) {
      yield* printLine(`${number}. ${tool} ${JSON.stringify(input)} → ${state}`)
      if (state === "waiting" && on?.kind === "decision")
        yield* printLine(`${number}. waits for ${on.id}: ${asTyped(`stoa decide ${on.id}`)}`)
    }
    if (callsLeftOut !== undefined) yield* printLine(`${number}. and ${callsLeftOut} more calls`)
  }
})

const watch = Command.make(
  "watch",
  { run },
  Effect.fn(function* ({ run: id }) {
    const stoa = yield* client
    const { json } = yield* root
    /** Whether the model's output has an unfinished line. */
    let saying = false
    const endLine = Effect.suspend(() => {
      const ended = saying ? printLine("") : Effect.void
      saying = false
      return ended
    })
    let ended = ""
    /** `isLast`: nothing more will come. A run that is over before that may still have output. */
    const say = Effect.fnUntraced(function* (isLast: boolean) {
      const one = yield* ask((asked) => asked.runs.get(id))
      if (!isLast && over.includes(one.state)) return false
      yield* endLine
      yield* json ? printJson(one) : printLine(line(one))
      ended = one.state
      return over.includes(one.state)
    })
    const hear = Effect.fnUntraced(function* (name: string, { body }: Readonly<Record<string, unknown>>) {
      const { run: whose, text } = (body ?? {}) as { readonly run?: unknown; readonly text?: unknown }
      if (json || whose !== id) return
      // Its output so far was withdrawn.
      if (name === "run.restarted") yield* endLine
      if (name !== "run.text" || typeof text !== "string") return
      saying = true
      yield* print(text)
    })
    const stop = new AbortController()
    const stands = Promise.withResolvers<void>()
    const feed = stoa.feed({ signal: stop.signal, onStand: () => stands.resolve() })
    // The feed is open before the first read, so that nothing in between is missed.
    const first = feed.next()
    const next = (promise: typeof first) => Effect.promise(() => promise)
    const follow = Effect.gen(function* () {
      yield* Effect.promise(() => Promise.race([stands.promise, first]))
      if (yield* say(true)) return
      for (let item = yield* next(first); item.done !== true; item = yield* next(feed.next())) {
        if (item.value.type === "delta") yield* hear(item.value.name, item.value.delta)
        // Something was missed: reads the present state.
        if (item.value.type === "reload" && (yield* say(true))) return
        if (item.value.type !== "event") continue
        const { body, kind } = item.value.event as { readonly kind: string; readonly body: { readonly run?: unknown } }
        if (!kind.startsWith("run.") || body.run !== id) continue
        if (yield* say(kind === "run.ended")) return
      }
    })
    // An open stream would keep the command from ending.
    yield* Effect.ensuring(
      follow,
      Effect.sync(() => stop.abort()),
    )
    if (ended === "failed") return yield* new Failure({ message: `${id} has failed.`, exitCode: 1 })
  }),
).pipe(Command.withDescription("Follow a run until it ends, with what its model says; exit 1 if it fails"))

const cancel = Command.make(
  "cancel",
  { run },
  Effect.fn(function* ({ run: id }) {
    const one = yield* ask((stoa) => stoa.runs.cancel(id))
    yield* show(one, line(one))
  }),
).pipe(Command.withDescription("Cancel a run and withdraw what it waits for"))

const retry = Command.make(
  "retry",
  {
    run,
    step: Flag.Int("step").pipe(
      Flag.withDescription("Start at this step; earlier calls are not repeated"),
      Flag.optional,
    ),
  },
  Effect.fn(function* ({ run: id, step }) {
    const one = yield* ask((stoa) => stoa.runs.retry(id, givenFlags({ step })))
    yield* show(one, line(one))
  }),
).pipe(Command.withDescription("Repeat a run that has ended"))

const waits = Command.make(
  "waits",
  {
    release: textFlag("release", "End this wait with the replies so far"),
  },
  Effect.fn(function* ({ release }) {
    if (Option.isSome(release)) {
      const one = yield* ask((stoa) => stoa.waits.release(release.value))
      return yield* show(one, `${one.id} is ${one.state}`)
    }
    const { items } = yield* ask((stoa) => stoa.waits.list())
    const { json } = yield* root
    const known = yield* namesForPeople(items)
    const rows = items.map((one) => ({
      ...one,
      agent: nameOf(one.agent, known),
      for: one.for.map(({ id, state }) => `${nameOf(id, known)} (${state})`).join(", "),
    }))
    yield* list(json ? items : rows, columns.waits)
  }),
).pipe(Command.withDescription("Who waits for whose answer, and since when"))

const spend = Command.make(
  "spend",
  { days: Flag.Int("days").pipe(Flag.withDescription("How many days back"), Flag.withDefault(31)) },
  Effect.fn(function* ({ days }) {
    const report = yield* ask((stoa) => stoa.runs.spend({ days }))
    const { json } = yield* root
    if (json) return yield* printJson(report)
    const { cost, limit, name } = report.month
    yield* printLine(`${name}: ${cost.toFixed(2)} USD${limit === null ? "" : ` of ${limit} USD`}`)
    const known = yield* namesForPeople(report.items)
    yield* list(
      report.items.map((one) => ({
        ...one,
        principal: nameOf(one.principal, known),
        in: one.tokens.in,
        out: one.tokens.out,
        woken: one.woken.cost,
        wokenTokens: one.woken.tokens,
      })),
      { shown: ["day", "principal", "in", "out", "cost", "caused", "woken", "wokenTokens"] },
    )
  }),
).pipe(
  Command.withDescription(
    "What agents have spent, and what it cost that somebody woke them, by day; and what the house may spend this month",
  ),
  Command.withExamples([{ command: "stoa runs spend --days 7", description: "The last week" }]),
)

const letters = Command.make(
  "letters",
  {
    retry: textFlag("retry", "Handle this one again"),
    dismiss: textFlag("dismiss", "Remove this one from the list"),
  },
  Effect.fn(function* ({ dismiss, retry: again }) {
    const done = Option.isSome(again)
      ? yield* ask((stoa) => stoa.deadLetters.retry(again.value))
      : Option.isSome(dismiss)
        ? yield* ask((stoa) => stoa.deadLetters.dismiss(dismiss.value))
        : undefined
    if (done !== undefined) return yield* show(done, `${done.id} is ${done.state}`)
    const { items } = yield* ask((stoa) => stoa.deadLetters.list())
    yield* list(items, columns.letters)
  }),
).pipe(Command.withDescription("Events that could not be handled: list them, or try one again"))

export const runs = Command.make("runs").pipe(
  Command.withDescription("What agents are working on"),
  Command.withSubcommands([ls, get, watch, cancel, retry, waits, spend, letters]),
)
