/**
 * How a call goes on that was asked something in the middle: by people, through its decision, or by the client that made it.
 * Whoever is first answers; the tool's handler is then called again, with the answers and with the same key.
 */
import { type CallError, type CallId, type CorrelationId, Missing, type Principal, type SpaceId } from "@stoa/contract"
import type { Call as Begun } from "@stoa/tools"
import { Cause, Deferred, Effect, Exit } from "effect"
import { Tokens } from "../../access/identity/Tokens.ts"
import { type Bound, Decisions } from "../../decisions/Decisions.ts"
import { causedBy } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { Answered, type Answers, CallingClient } from "../../upstreams/Asked.ts"
import { Upstreams } from "../../upstreams/Upstreams.ts"
import { everything } from "../catalogue/Catalogue.ts"
import {
  answering,
  answersFrom,
  forms,
  makeQuestions,
  type OpenQuestions,
  unanswered,
  verdictFrom,
} from "./questions.ts"
import { type Ending, errorOf, type makeRecord } from "../road/record.ts"
import type { CallRow } from "../road/rows.ts"
import type { makeRunning, Progress } from "../road/running.ts"
import { makeWalk, reachedNothing } from "../road/walk.ts"
import type { makeWatch } from "./watch.ts"

/** How long a call waits for its server before it goes on without. */
const patience = "1 minute"

/** As the call was made. */
export const storedCall = (row: CallRow): Begun => ({
  id: row.id,
  toolName: row.tool,
  arguments: JSON.parse(row.input) as Begun["arguments"],
  agentId: row.principal,
  sessionId: row.space ?? "",
  correlationId: row.correlationId,
  idempotencyKey: row.idempotencyKey ?? row.id,
  startedAt: Date.parse(row.createdAt),
})

/** What it does from here on is its maker's doing, under the correlation it began with. */
export const causeOf = (row: CallRow) => ({
  correlationId: row.correlationId as CorrelationId,
  actor: row.principal,
  provenance: "tool" as const,
})

export const makeAnswering = Effect.fnUntraced(function* (
  record: Effect.Success<typeof makeRecord>,
  running: Effect.Success<ReturnType<typeof makeRunning>>,
  watch: ReturnType<typeof makeWatch>,
  settle: (id: string, ending: Ending) => Effect.Effect<CallRow | undefined>,
) {
  const journal = yield* Journal
  const decisions = yield* Decisions
  const tokens = yield* Tokens
  const upstreams = yield* Upstreams
  const questions = yield* makeQuestions
  const walk = yield* makeWalk
  const scope = yield* Effect.scope

  /** The client that asked is still the one the server may rely on, also when people have answered in its place. */
  const asClient = (asked: OpenQuestions) =>
    Effect.map(CallingClient, (now) =>
      now === undefined && asked.client !== null
        ? { capabilities: asked.client, answers: {}, log: () => {}, letGo: () => {} }
        : now,
    )

  /** Runs the handler again once everything is answered: found, judged and validated again, as things stand now. */
  const carryOn = Effect.fnUntraced(function* (row: CallRow, progress: Progress) {
    const asked = yield* questions.of(row.id)
    if (asked === undefined || Object.keys(unanswered(asked)).length > 0) return
    const stop = (error: CallError & Record<string, unknown>) =>
      settle(row.id, { step: row.state === "running" ? "fail" : "refuse", error })
    const refuse = (message: string) => stop({ tag: "ToolAuthorizationError", message })
    const caller = yield* Effect.option(tokens.again(row.principal, row.context))
    if (caller._tag === "None") return yield* refuse("Whoever made this call has left the house")
    const options = { face: everything, hasSpace: row.space !== null, counted: false }
    const walked = yield* Effect.exit(walk(caller.value, storedCall(row), options, reachedNothing(row.tool)))
    if (Exit.isFailure(walked)) return yield* stop(errorOf(Cause.squash(walked.cause)))
    if (walked.value.listed.tool.fingerprint !== row.fingerprint)
      return yield* refuse(`"${row.tool}" has changed since it was called, and did not go on`)
    const started = yield* journal.transact(record.start(row.id, running.me, undefined))
    if (started === undefined) return undefined
    const { answers, state } = asked
    yield* running
      .launch(row.id, walked.value, caller.value, row.space as SpaceId | null, progress)
      .pipe(
        Effect.provideService(Answered, { answers, state }),
        Effect.provideService(CallingClient, yield* asClient(asked)),
      )
    return undefined
  })

  /** A server that is not there yet may be on its way, as all of them are when the house has just begun. */
  const server = (tool: string) =>
    Effect.gen(function* () {
      // A toolset's tool is always there; a server's bears the name of its server.
      const there = () => !tool.includes("/") || upstreams.tools().some((one) => one.tool.definition.name === tool)
      const changed = Deferred.makeUnsafe<void>()
      yield* upstreams.onChange(() => void (there() && Deferred.doneUnsafe(changed, Effect.void)))
      if (!there()) yield* Effect.timeoutOption(Deferred.await(changed), patience)
    }).pipe(Effect.scoped)

  /** The decision was closed, whichever way: what is not answered by then has been cancelled. */
  const decided = Effect.fnUntraced(function* (row: CallRow, bound: Bound, progress?: Progress) {
    const heard = yield* journal.transact(
      Effect.gen(function* () {
        const asked = yield* questions.held(row.id)
        // Asked something else by now: that is another decision's.
        if (asked === undefined || asked.decision !== bound.id) return false
        yield* questions.answer(row.id, { ...answersFrom(asked.questions, bound), ...asked.answers })
        return true
      }),
    )
    if (!heard) return
    // Nobody else waits for it: whoever reads the journal goes on reading.
    if (progress === undefined) yield* Effect.forkIn(Effect.andThen(server(row.tool), carryOn(row, progress)), scope)
    else yield* carryOn(row, progress)
  })

  /** What a client says to what its call was asked. Of the forms, all of them: people may still answer the rest. */
  const take = Effect.fnUntraced(function* (row: CallRow, by: Principal, said: Answers, progress: Progress) {
    if (row.state !== "waiting") return
    const given = Effect.gen(function* () {
      const asked = yield* questions.held(row.id)
      if (asked === undefined) return
      const { decision } = asked
      const open = decision !== null && (yield* decisions.bound(decision))?.state === "open"
      // To a form whose decision is closed somebody else was first.
      const mine = Object.entries(answering(asked, said)).filter(
        ([key]) => open || decision === null || asked.questions[key]?.method !== "elicitation/create",
      )
      const answers = { ...asked.answers, ...Object.fromEntries(mine) }
      const all = forms(asked.questions).every(([key]) => answers[key] !== undefined)
      if (open && all) yield* decisions.answer(decision, by, verdictFrom(asked.questions, answers), "client")
      yield* questions.answer(row.id, answers)
    })
    // Somebody else was first, in this very moment: theirs counts, and the rest is ours to say.
    yield* Effect.ignore(Effect.retry(journal.transact(given), { times: 1 }))
    const decision = (yield* questions.of(row.id))?.decision ?? null
    const bound = decision === null ? undefined : yield* decisions.bound(decision)
    if (bound !== undefined && bound.state !== "open") return yield* decided(row, bound, progress)
    yield* carryOn(row, progress)
  })

  const hear = Effect.fn("Calls.hear")(function* (
    id: string,
    by: Principal,
    answers: Answers,
    { progress, wait }: { readonly wait: number; readonly progress?: Progress },
  ) {
    const row = yield* record.byId(id)
    if (row === undefined || row.principal !== by.id) return yield* new Missing({ noun: "call", ref: id })
    const { heard, leave } = watch.listen(id)
    return yield* causedBy(causeOf(row), take(row, by, answers, progress)).pipe(
      Effect.andThen(watch.now(id)),
      Effect.flatMap((now) =>
        now.state === "running" && wait > 0
          ? Effect.timeoutOrElse(heard, { duration: wait, orElse: () => watch.now(id) })
          : Effect.succeed(now),
      ),
      Effect.ensuring(leave),
    )
  })

  return {
    decided,
    hear,
    /** What a waiting call is still asked. */
    asks: questions.of,
    /** Whether only its client can answer, and has not. */
    wantsClient: (id: CallId) =>
      Effect.map(questions.of(id), (asked) => {
        if (asked === undefined) return false
        const left = unanswered(asked)
        return Object.keys(left).length > forms(left).length
      }),
    orphans: questions.orphans,
    /** Answered, but not gone on with: the house stopped in between. */
    unheeded: Effect.gen(function* () {
      for (const { call, decision } of yield* questions.answered) {
        const [row, bound] = [yield* record.byId(call), yield* decisions.bound(decision)]
        if (row !== undefined && bound !== undefined) yield* causedBy(causeOf(row), decided(row, bound))
      }
    }),
    /** Goes on with a call that ran when its process died, if its server has made a task of it. False: it has not. */
    pickUp: Effect.fnUntraced(function* (row: CallRow) {
      const asked = yield* questions.of(row.id)
      if (asked?.isTask !== true) return false
      yield* Effect.forkIn(Effect.andThen(server(row.tool), causedBy(causeOf(row), carryOn(row, undefined))), scope)
      return true
    }),
    /** Nothing of it is held, or kept, any longer. */
    over: Effect.fnUntraced(function* (id: string) {
      const asked = yield* questions.of(id)
      yield* questions.forget(id)
      const row = asked === undefined ? undefined : yield* record.byId(id)
      yield* upstreams.hangUp(id, row && { tool: row.tool, state: asked!.state })
    }),
  }
})
