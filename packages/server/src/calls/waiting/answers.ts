/**
 * How a call continues that asked something while it ran: answered by people, through its decision, or by the client
 * that made it. The first answer counts; the tool's handler is then called again, with the answers and the same key.
 */
import { type CallId, type Caller, Missing } from "@stoa/contract"
import { type Failure, type Progress, Road } from "@stoa/tools"
import { Cause, Effect, Exit } from "effect"
import { type BoundAnswer, Decisions } from "../../decisions/Decisions.ts"
import { Holder } from "../../store/leases/Holder.ts"
import { causedBy } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import type { Answers, CallingClient } from "../../servers/InputRequired.ts"
import { Servers } from "../../servers/Servers.ts"
import { causeOf, waitOf } from "../road/attempt.ts"
import { type makeExecute, measure } from "../road/execute.ts"
import { noTraces } from "../road/Handler.ts"
import type { CallEnd, CallRecorder } from "../road/record/record.ts"
import type { Prepare } from "../road/prepare.ts"
import type { CallRow } from "../road/record/rows.ts"
import type { makeWhenDialled } from "./dialled.ts"
import type { makeListeners } from "./listeners.ts"
import {
  answersFrom,
  answersTo,
  type OpenQuestions,
  openQuestionsOf,
  forms,
  makeQuestions,
  type AskedQuestions,
  unanswered,
  verdictFrom,
} from "./questions.ts"
import { makeStoredAttempt } from "./storedAttempt.ts"

/** The client that is connected while the call continues, if any. */
interface Now {
  readonly progress?: Progress
  readonly client?: CallingClient
}

export const makeAnswers = Effect.fnUntraced(function* (
  record: CallRecorder,
  prepare: Prepare["prepare"],
  execute: Effect.Success<ReturnType<typeof makeExecute>>,
  listeners: ReturnType<typeof makeListeners>,
  { whenDialled }: Effect.Success<typeof makeWhenDialled>,
) {
  const journal = yield* Journal
  const decisions = yield* Decisions
  const storedAttempt = yield* makeStoredAttempt
  const servers = yield* Servers
  const questions = yield* makeQuestions
  const { id: me } = yield* Holder

  /** The client that asked stays the one the server may rely on, even if people have answered for it. */
  const clientOf = (asked: AskedQuestions, now: CallingClient | undefined): CallingClient | undefined =>
    now === undefined && asked.client !== null
      ? { capabilities: asked.client, answers: {}, log: () => {}, letGo: () => {} }
      : now

  /** Whether somebody has answered the forms: their decision is closed. */
  const isDecided = ({ decision }: AskedQuestions) =>
    decision === null
      ? Effect.succeed(false)
      : Effect.map(decisions.bound(decision), (bound) => bound?.state !== "open")

  /** `owner`: the one that the row named when it was read; if the call has another by now, nothing happens. */
  const settle = Effect.fnUntraced(function* (id: string, ending: CallEnd, owner?: string | null) {
    const row = yield* journal.transact(record.settle(id, ending, noTraces(), owner))
    if (row === undefined) return undefined
    yield* measure(row)
    yield* listeners.tell(row)
    yield* over(id)
    return row
  })

  /**
   * Runs the handler again when everything is answered: found, judged and validated again, by the present state. Another
   * process may have continued it since the row was read; it is left alone then.
   */
  const continueCall = Effect.fnUntraced(function* (row: CallRow, now: Now) {
    const asked = yield* questions.of(row.id)
    if (asked === undefined || Object.keys(unanswered(asked)).length > 0) return
    const isRunning = row.state === "running"
    const stop = (error: Failure) => settle(row.id, { step: isRunning ? "fail" : "refuse", error }, row.owner)
    const { answers, state } = asked
    const client = clientOf(asked, now.client)
    const resumed = yield* Effect.result(storedAttempt(row, { ...now, client, answered: { answers, state } }))
    if (resumed._tag === "Failure") return yield* stop(resumed.failure)
    const attempt = resumed.success
    const prepared = yield* Effect.exit(prepare(attempt, { counted: false }))
    if (Exit.isFailure(prepared)) return yield* stop(Road.failureOf(Cause.squash(prepared.cause)))
    if (prepared.value.found.tool.fingerprint !== row.fingerprint)
      return yield* stop({
        tag: "ToolAuthorizationError",
        message: `"${row.tool}" has changed since it was called, and did not continue`,
      })
    const started = yield* journal.transact(
      isRunning ? record.takeOver(row.id, me, row.owner) : record.start(row.id, me),
    )
    if (started !== undefined) yield* execute.launch(attempt)
    return undefined
  })

  /** The decision was closed, with any verdict: what is not answered by now counts as cancelled. */
  const decided = Effect.fnUntraced(function* (row: CallRow, bound: BoundAnswer, now?: Now) {
    const asked = yield* journal.transact(
      Effect.gen(function* () {
        const open = yield* questions.held(row.id)
        // The call asks something else by now, which belongs to another decision.
        if (open === undefined || open.decision !== bound.id) return undefined
        yield* questions.answer(row.id, { ...answersFrom(open.questions, bound), ...open.answers })
        return open
      }),
    )
    // Another process holds the server's stream: it sees the answer in the row, and continues the call.
    if (asked === undefined || (asked.holder !== null && asked.holder !== me)) return
    if (now?.progress === undefined) yield* whenDialled(row, continueCall(row, now ?? {}))
    else yield* continueCall(row, now)
  })

  /**
   * The client's answers to its call's questions. Forms are answered only together; otherwise people may still answer
   * the rest.
   */
  const take = Effect.fnUntraced(function* (row: CallRow, by: Caller["Service"], said: Answers, now: Now) {
    if (row.state !== "waiting") return
    const given = Effect.gen(function* () {
      const asked = yield* questions.held(row.id)
      if (asked === undefined) return
      const closed = yield* isDecided(asked)
      const answers = { ...asked.answers, ...answersTo(unanswered(asked, closed), said) }
      const all = forms(asked.questions).every(([key]) => answers[key] !== undefined)
      if (asked.decision !== null && !closed && all)
        yield* decisions.answer(asked.decision, by, verdictFrom(asked.questions, answers), "client")
      yield* questions.answer(row.id, answers)
    })
    // If another answer came first at the same moment, it counts; the retry gives the remaining answers.
    yield* Effect.ignore(Effect.retry(journal.transact(given), { times: 1 }))
    const decision = (yield* questions.of(row.id))?.decision ?? null
    const bound = decision === null ? undefined : yield* decisions.bound(decision)
    if (bound !== undefined && bound.state !== "open") return yield* decided(row, bound, now)
    yield* continueCall(row, now)
  })

  const hear = Effect.fn("Calls.hear")(function* (
    id: string,
    by: Caller["Service"],
    answers: Answers,
    { wait: asked, ...now }: { readonly wait: number; readonly progress?: Progress; readonly client?: CallingClient },
  ) {
    const row = yield* record.byId(id)
    if (row === undefined || row.principal !== by.principal.id) return yield* new Missing({ noun: "call", ref: id })
    const wait = waitOf(by, asked)
    const { heardBy, leave } = listeners.listen(id)
    return yield* causedBy(causeOf(row), take(row, by, answers, now)).pipe(
      Effect.andThen(listeners.now(id)),
      Effect.flatMap((it) => (it.state === "running" && wait > 0 ? heardBy(by, wait) : Effect.succeed(it))),
      Effect.ensuring(leave),
    )
  })

  /** The call is over: releases what it held and deletes its questions. */
  const over = Effect.fnUntraced(function* (id: string) {
    const asked = yield* questions.of(id)
    yield* questions.forget(id)
    const row = asked === undefined ? undefined : yield* record.byId(id)
    yield* servers.hangUp(id, row && { tool: row.tool, state: asked!.state })
  })

  return {
    decided,
    hear,
    /** What a waiting call asks, and what of it is open. */
    asks: Effect.fnUntraced(function* (id: string) {
      const asked = yield* questions.of(id)
      return asked === undefined ? undefined : (openQuestionsOf(asked, yield* isDecided(asked)) satisfies OpenQuestions)
    }),
    /** Whether only its client can answer, and has not. */
    wantsClient: (id: CallId) =>
      Effect.map(questions.of(id), (asked) => {
        if (asked === undefined) return false
        const left = unanswered(asked)
        return Object.keys(left).length > forms(left).length
      }),
    orphans: questions.orphans,
    /** Answered, but not continued, because the house stopped in between or another process took the answer. */
    continueAnswered: Effect.gen(function* () {
      for (const { call, decision } of yield* questions.answered(me)) {
        const [row, bound] = [yield* record.byId(call), yield* decisions.bound(decision)]
        if (row !== undefined && bound !== undefined) yield* causedBy(causeOf(row), decided(row, bound))
      }
    }),
    /** Continues a call that ran when its process died, if its server has made a task of it. False: it has not. */
    takeOver: Effect.fnUntraced(function* (row: CallRow) {
      const asked = yield* questions.of(row.id)
      if (asked?.isTask !== true) return false
      yield* causedBy(causeOf(row), whenDialled(row, continueCall(row, {})))
      return true
    }),
    settle,
    over,
  }
})
