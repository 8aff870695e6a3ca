/**
 * Execute and settle, in one of three orders, depending on what a call changes: nothing, our own rows, or something
 * outside.
 */
import type { ToolAuthorizationError, TooManyRequests } from "@stoa/contract"
import { type CallRecord, type Failure, Road, type CallSettlement } from "@stoa/tools"
import { Cause, Clock, Effect, Exit, Fiber, type Schema } from "effect"
import { Pauses, pausedBy } from "../../access/limits/Pauses.ts"
import { retryUntilDiskHasRoom } from "../../store/database/disk/FullDisk.ts"
import { monotonicOf, isoMoment } from "../../store/Moment.ts"
import { Journal, Transaction } from "../../store/journal/Journal.ts"
import { InputRequired } from "../../servers/InputRequired.ts"
import type { makeListeners } from "../waiting/listeners.ts"
import type { makeAsk } from "./ask.ts"
import { type Attempt, rowOf } from "./attempt.ts"
import { makeBatched } from "./record/batched.ts"
import { noTraces, PendingResult } from "./Handler.ts"
import { isSettled } from "./record/lifecycle.ts"
import { endingOf, type CallRecorder, type CallExists } from "./record/record.ts"
import type { CallRow, NewRow } from "./record/rows.ts"

/** How many stopped calls are remembered: they matter only between their record and their start. */
const maxStopped = 1000

/** Counts a settled call in the metrics. */
export const measure = (row: CallRow): Effect.Effect<void> =>
  // wall clock: from the moment that was stored.
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Road.count(row.state === "done", Math.max(0, now - Date.parse(row.createdAt))),
  )

/**
 * S1-18: a visible call without a space runs, and its caller alone has the result. Said here, where it runs: not of a dry
 * run, nor of a call that is refused or still waits.
 */
const execution = (attempt: Attempt) => {
  const { caller, space, tool } = attempt
  const found = attempt.found!
  const executed = Road.execute(found.tool, attempt)
  return space !== null || found.visibility === "hidden"
    ? executed
    : Effect.andThen(
        Effect.logWarning(
          `${tool} is visible, but ${caller.principal.name} called it without a space: nobody sees its result`,
        ),
        executed,
      )
}

/** Pays for a call, or says why it is refused. */
type Paying = Effect.Effect<void, ToolAuthorizationError>

/** `me`: this process, as the owner of the calls it runs. */
export const makeExecute = Effect.fnUntraced(function* (
  record: CallRecorder,
  ask: Effect.Success<ReturnType<typeof makeAsk>>,
  listeners: ReturnType<typeof makeListeners>,
  me: string,
) {
  const journal = yield* Journal
  const pauses = yield* Pauses
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const batched = yield* makeBatched(record, me)
  // Fibers of this process, to interrupt running calls. The state itself is in the row.
  const running = new Map<string, Fiber.Fiber<unknown>>()
  // Calls that were stopped after they were recorded as running and before they had a fiber: they do not start.
  const stopped = new Set<string>()

  /**
   * A pause ends only the recorded calls: a call that passed the check before the pause and was recorded after it is
   * ended here. True: it is over.
   */
  const endPaused = Effect.fnUntraced(function* ({ caller, found, id, tool }: Attempt) {
    const subject = pausedBy(yield* pauses.now, { principal: caller.principal, tool, server: found!.server })
    if (subject === undefined) return false
    const error: Failure = { tag: "Canceled", message: `Stopped: ${subject} was paused` }
    yield* journal.transact(
      Effect.gen(function* () {
        const row = yield* record.settle(id, { step: "cancel", error }, noTraces())
        if (row !== undefined && row.onId !== null) yield* ask.withdraw(row.onId, error.message)
      }),
    )
    return true
  })

  const tookMs = ({ began, startedAt }: Attempt): number => {
    // wall clock: one that waited through a restart is counted from the moment that was stored.
    const took = began === undefined ? clock.currentTimeMillisUnsafe() - startedAt : monotonicOf(clock) - began
    return Math.max(0, Math.round(took))
  }
  const settledOf = (attempt: Attempt, exit: Exit.Exit<unknown, unknown>) => Road.settlementOf(exit, tookMs(attempt))

  const endedOf = (attempt: Attempt, settled: CallSettlement) => ({
    // wall clock: a moment that is stored.
    settledAt: isoMoment(clock.currentTimeMillisUnsafe()),
    durationMs: tookMs(attempt),
    ending: endingOf(settled),
    traces: attempt,
    provenance: attempt.provenance,
  })

  /** A call that is recorded when it has ended: in a batch, or in a transaction of its own. */
  const whole: Pick<CallRecord<Attempt, CallRow, CallExists>, "settle"> = {
    settle: (attempt, settled) => {
      const row = rowOf(attempt, JSON.stringify(attempt.input))
      return (
        batched.whole(row, endedOf(attempt, settled)) ?? journal.transact(record.whole(row, endingOf(settled), attempt))
      )
    },
  }

  /** Nothing outside changes: it runs first, and one commit records and settles it. */
  const executeThenRecord = Effect.fnUntraced(function* (attempt: Attempt) {
    const exit = yield* Effect.exit(execution(attempt))
    if (Exit.isSuccess(exit) && exit.value instanceof PendingResult) return yield* parkNew(attempt, exit.value)
    const settled = settledOf(attempt, exit)
    return yield* Road.settle(whole, attempt, settled, tookMs(attempt))
  })
  const parkNew = Effect.fnUntraced(function* (attempt: Attempt, waits: PendingResult) {
    const row = rowOf(attempt, JSON.stringify(attempt.input))
    const opened = yield* journal.transact(
      Effect.flatMap(ask.awaits(waits, attempt), (on) => record.openWaiting(row, on)),
    )
    return (yield* endPaused(attempt)) ? yield* listeners.now(attempt.id) : opened
  })

  /** With the transaction that records it. A failed handler's writes are rolled back; the failure is recorded. */
  const executionInside = (attempt: Attempt) =>
    Effect.exit(
      journal.transact(
        Effect.flatMap(Transaction, (transaction) => {
          attempt.transaction = transaction
          return execution(attempt)
        }),
      ),
    )

  /**
   * It changes only our database: record, effect and outcome are one transaction, so that it happens once or not at
   * all. It may begin to wait, for a run or a person, in the same transaction.
   */
  const executeInside = Effect.fnUntraced(function* (attempt: Attempt, paying: Paying = Effect.void) {
    const row = rowOf(attempt, JSON.stringify(attempt.input))
    const written = yield* journal.transact(
      Effect.gen(function* () {
        yield* paying
        const exit = yield* executionInside(attempt)
        if (Exit.isSuccess(exit) && exit.value instanceof PendingResult) {
          yield* record.openWaiting(row, yield* ask.awaits(exit.value, attempt))
          return undefined
        }
        return yield* record.whole(row, endingOf(settledOf(attempt, exit)), attempt)
      }),
    )
    if (written === undefined) return yield* listeners.now(attempt.id)
    yield* measure(written)
    return written
  })

  /** The same for a call that has waited: its start, which may find that it ended meanwhile, is part of it. */
  const continueInside = Effect.fnUntraced(function* <E>(
    attempt: Attempt,
    starting: Effect.Effect<CallRow | undefined, E, Transaction>,
  ) {
    const row = yield* journal.transact(
      Effect.gen(function* () {
        if ((yield* starting) === undefined) return undefined
        const exit = yield* executionInside(attempt)
        return Exit.isSuccess(exit) && exit.value instanceof PendingResult
          ? yield* record.park(attempt.id, yield* ask.awaits(exit.value, attempt), me)
          : yield* record.settle(attempt.id, endingOf(settledOf(attempt, exit)), attempt, me)
      }),
    )
    if (row !== undefined && isSettled(row.state)) yield* measure(row)
    yield* listeners.tell(row)
  })

  /**
   * The end of a call that was recorded when it began. `begun`: its row if it was written in a batch, so that it need
   * not be read again.
   */
  const endOf = (attempt: Attempt, begun: NewRow | undefined) => ({
    settle: (_: Attempt, settled: CallSettlement): Effect.Effect<CallRow | undefined> =>
      (begun && batched.end(begun, endedOf(attempt, settled))) ??
      journal.transact(record.settle(attempt.id, endingOf(settled), attempt, me)),
  })

  /** Records that a call waits, and what for; undefined if it was stopped meanwhile. */
  const park = (attempt: Attempt, value: PendingResult | InputRequired) => {
    const on = value instanceof InputRequired ? ask.putQuestions(value, attempt, me) : ask.awaits(value, attempt)
    return journal
      .transact(
        Effect.gen(function* () {
          const parked = yield* record.park(attempt.id, yield* on, me)
          // Stopped meanwhile: rolls back the question.
          return parked ?? (yield* Effect.fail("stopped" as const))
        }),
      )
      .pipe(Effect.catch((error) => (error === "stopped" ? Effect.succeed(undefined) : unasked(attempt, value, error))))
  }

  /** Its caller has too many open questions already: the call ends here, and its server's work with it. */
  const unasked = Effect.fnUntraced(function* (
    attempt: Attempt,
    value: PendingResult | InputRequired,
    error: TooManyRequests,
  ) {
    const { id, tool } = attempt
    const row = yield* journal.transact(record.settle(id, { step: "fail", error: Road.failureOf(error) }, attempt, me))
    yield* ask.hangUp(id, value instanceof InputRequired ? { tool, state: value.state } : undefined)
    return row
  })

  const finish = Effect.fnUntraced(function* (
    attempt: Attempt,
    begun: NewRow | undefined,
    exit: Exit.Exit<unknown, unknown>,
  ) {
    const value = Exit.isSuccess(exit) ? exit.value : undefined
    if (value instanceof PendingResult || value instanceof InputRequired) return yield* park(attempt, value)
    // Stopped by a request, it is settled already; interrupted by the end of the house, the next process continues it.
    if (attempt.kept && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return undefined
    const row = yield* Road.settle(endOf(attempt, begun), attempt, settledOf(attempt, exit), tookMs(attempt))
    if (attempt.kept || attempt.answered !== undefined) yield* ask.forget(attempt.id)
    return row
  })

  /** Runs in the background, because the request that asked may go away; always settles. */
  const launch = Effect.fnUntraced(function* (attempt: Attempt, begun?: NewRow) {
    const { id } = attempt
    attempt.keep = (state: Schema.Json) =>
      Effect.uninterruptible(
        Effect.map(journal.transact(ask.keep(attempt, state)), () => {
          attempt.kept = true
        }),
      )
    const body = Effect.uninterruptibleMask((restore) =>
      Effect.exit(restore(Effect.suspend(() => execution(attempt)))).pipe(
        // Its outside effect has happened: its end is retried until there is disk space to record it.
        Effect.flatMap((exit) => retryUntilDiskHasRoom(finish(attempt, begun, exit))),
        Effect.flatMap(listeners.tell),
        Effect.ensuring(Effect.sync(() => running.delete(id))),
        Effect.catchCause((cause) => Effect.logError(`Call ${id} could not be settled`, cause)),
      ),
    )
    if (stopped.delete(id)) return
    const fiber = yield* Effect.forkIn(body, scope)
    running.set(id, fiber)
  })

  /** A call that is recorded when it begins: in a batch, which returns its row, or in a transaction with its payment. */
  const opening = (row: NewRow, paying: Paying | undefined) => ({
    open: Effect.fnUntraced(function* ({ provenance }: Attempt) {
      // wall clock: a moment that is stored.
      const at = isoMoment(clock.currentTimeMillisUnsafe())
      if (paying === undefined && (yield* batched.begin(row, at, provenance))) return row
      yield* journal.transact(Effect.andThen(record.openRunning(row, me), paying ?? Effect.void))
      return undefined
    }),
  })

  /** Something outside may change, or it costs something: it is recorded before it runs. */
  const recordThenExecute = (attempt: Attempt, wait: number, paying?: Paying) =>
    // Uninterruptible: a call recorded as running must run even if the client hangs up.
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const row = rowOf(attempt, JSON.stringify(attempt.input))
        const begun = yield* Road.record(opening(row, paying), attempt)
        if (yield* endPaused(attempt)) return yield* listeners.now(row.id)
        const { heardBy, leave } = listeners.listen(row.id)
        yield* launch(attempt, begun)
        return yield* Effect.ensuring(restore(heardBy(attempt.caller, wait)), leave)
      }),
    )

  /**
   * Interrupts the handler of a call that ran here when it was stopped. Its row is settled by the code that stops it.
   */
  const interrupt = (id: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const fiber = running.get(id)
      if (fiber !== undefined) return Effect.asVoid(Effect.forkIn(Fiber.interrupt(fiber), scope))
      stopped.add(id)
      if (stopped.size > maxStopped) stopped.delete(stopped.values().next().value!)
      return Effect.void
    })

  return {
    endPaused,
    executeThenRecord,
    executeInside,
    continueInside,
    recordThenExecute,
    launch,
    interrupt,
    /** The calls that run here now. */
    running: () => [...running.keys()],
  }
})
