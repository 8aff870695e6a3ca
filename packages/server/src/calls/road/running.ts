/** The three ways a call runs, by what it changes: nothing, our own database, or something outside. */
import { type CallId, Caller, type Provenance, type SpaceId } from "@stoa/contract"
import { type Call as Begun, Road } from "@stoa/tools"
import { Cause, Clock, Context, Effect, Exit, Fiber, type Schema } from "effect"
import { Pauses, pausedBy } from "../../access/limits/Pauses.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { isoMoment } from "../../store/Moment.ts"
import { Answered, Asked, Keeping } from "../../upstreams/Asked.ts"
import type { makeAsking } from "./asking.ts"
import type { Listed } from "../catalogue/Traits.ts"
import { Begun as Told, Seen, unseen, Waits } from "../kinds/Kind.ts"
import { type Ending, errorOf, type LoneEnd, type makeRecord, type NewRow } from "./record.ts"
import type { CallRow } from "./rows.ts"
import { makeTogether } from "./together.ts"
import type { Walked } from "./walk.ts"
import type { makeWatch } from "../waiting/watch.ts"

export type Progress = Parameters<typeof Road.execute>[2]

/** Said of a call that was cut off: it is never run again by itself. */
export const unknownOutcome = {
  tag: "ToolExecutionError",
  message: "The house stopped while this ran. Whether it had an effect is not known; look before you call it again",
}

/** How many stopped calls are remembered: they matter for the moment between their record and their beginning. */
const mostStopped = 1000

/** A settled call in the figures. */
export const measure = (row: CallRow): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Road.count(row.state === "done", Math.max(0, now - Date.parse(row.createdAt))),
  )

export const makeRunning = Effect.fnUntraced(function* (
  record: Effect.Success<typeof makeRecord>,
  asking: Effect.Success<typeof makeAsking>,
  watch: ReturnType<typeof makeWatch>,
) {
  const journal = yield* Journal
  const pauses = yield* Pauses
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const together = yield* makeTogether(record.many)
  const me = newId("own")
  const ended = yield* makeTogether((ends: ReadonlyArray<LoneEnd>) => record.endMany(ends, me))
  // Fibers of this process: to interrupt what runs. That it runs is in its row.
  const running = new Map<string, Fiber.Fiber<unknown>>()
  // Stopped after they were written down as running and before they had a fiber: these do not begin.
  const stopped = new Set<string>()

  /** What a handler may know: who calls, and where to leave what it reveals and what comes with its output. */
  const execute = (listed: Listed, call: Begun, caller: Caller["Service"], seen: Seen, progress: Progress) =>
    Effect.updateContext(Road.execute(listed.tool, call, progress), (around: Context.Context<never>) => {
      // Each addition may copy the whole: whoever made the call is there already, as a rule.
      const by = Context.getOrUndefined(around, Caller) === caller ? around : Context.add(around, Caller, caller)
      return Context.add(by, Seen, seen)
    })

  /**
   * Whoever pauses ends the calls that are written down: one that was let through before and written after is ended here.
   * True: it is over.
   */
  const paused = Effect.fnUntraced(function* (
    { id, tool }: NewRow,
    { server }: Listed,
    { principal }: Caller["Service"],
  ) {
    const subject = pausedBy(yield* pauses.now, { principal, tool, server })
    if (subject === undefined) return false
    const message = `Stopped: ${subject} was paused`
    yield* journal.transact(
      Effect.gen(function* () {
        const row = yield* record.settle(id, { step: "cancel", error: { tag: "Canceled", message } }, unseen())
        if (row !== undefined && row.onId !== null) yield* asking.withdraw(row.onId, message)
      }),
    )
    return true
  })

  const endingOf = (exit: Exit.Exit<unknown, unknown>): Ending => {
    if (Exit.isSuccess(exit)) return { step: "finish", output: exit.value }
    // Whoever cancels a call settles it first: what is interrupted otherwise was cut off by the end of the house.
    if (Cause.hasInterruptsOnly(exit.cause)) return { step: "fail", error: unknownOutcome }
    return { step: "fail", error: errorOf(Cause.squash(exit.cause)) }
  }

  const endOf = (call: Begun, ending: Ending, seen: Seen, provenance: Provenance) => {
    const now = clock.currentTimeMillisUnsafe()
    return { settledAt: isoMoment(now), durationMs: Math.max(0, now - call.startedAt), ending, seen, provenance }
  }

  /** Nothing outside changes: it runs first, and one commit records and settles it. */
  const runThenRecord = Effect.fnUntraced(function* (
    row: NewRow,
    { call, listed }: Walked,
    caller: Caller["Service"],
    progress: Progress,
    provenance: Provenance,
  ) {
    const seen = unseen()
    const exit = yield* Effect.exit(execute(listed, call, caller, seen, progress))
    if (Exit.isSuccess(exit) && exit.value instanceof Waits) {
      const waits = exit.value
      yield* journal.transact(
        Effect.gen(function* () {
          const on = yield* asking.awaits(waits, listed, call, caller, row.space as SpaceId | null)
          yield* record.open(row, { state: "waiting", on })
        }),
      )
      yield* paused(row, listed, caller)
      return yield* watch.now(row.id)
    }
    const end = endOf(call, endingOf(exit), seen, provenance)
    const lone = record.lone(row, end)
    if (lone !== undefined) {
      yield* together(lone)
      yield* Road.count(lone.row.state === "done", end.durationMs)
      return lone.row
    }
    const written = yield* journal.transact(record.whole(row, endingOf(exit), seen))
    yield* measure(written)
    return written
  })

  /** All it does is in our database: record, effect and outcome are one transaction, so that it happens once or not at all. */
  const runInside = Effect.fnUntraced(function* (
    row: NewRow,
    { call, listed }: Walked,
    caller: Caller["Service"],
    progress: Progress,
  ) {
    const written = yield* journal.transact(
      Effect.gen(function* () {
        const seen = unseen()
        // What a failed handler has written is undone; that it failed is written down.
        const exit = yield* Effect.exit(journal.transact(execute(listed, call, caller, seen, progress)))
        return yield* record.whole(row, endingOf(exit), seen)
      }),
    )
    yield* measure(written)
    return written
  })

  /** Runs in the background of whoever asked, who may go away; settles however it ends. */
  const launch = Effect.fnUntraced(function* (
    id: CallId,
    { call, listed }: Pick<Walked, "call" | "listed">,
    caller: Caller["Service"],
    space: SpaceId | null,
    progress?: Progress,
    begun?: { readonly row: NewRow; readonly provenance: Provenance },
  ) {
    const seen = unseen()
    // Its server goes on with it whatever becomes of us, and how it is found again is in a row.
    let kept = false
    const keeping = (state: Schema.Json) =>
      Effect.uninterruptible(
        Effect.map(journal.transact(asking.keep(id, state)), () => {
          kept = true
        }),
      )
    /** What was written with others' when it began is so when it ends, and needs not be read again. */
    const settle = Effect.fnUntraced(function* (ending: Ending) {
      const lone = begun && record.loneEnd(begun.row, endOf(call, ending, seen, begun.provenance))
      if (lone !== undefined) return (yield* ended(lone)) ? lone.row : undefined
      return yield* journal.transact(record.settle(id, ending, seen))
    })
    const finish = Effect.fnUntraced(function* (exit: Exit.Exit<unknown, unknown>) {
      const value = Exit.isSuccess(exit) ? exit.value : undefined
      if (value instanceof Waits || value instanceof Asked) {
        const on =
          value instanceof Asked
            ? asking.putQuestions(value, listed, call, caller, space, me)
            : asking.awaits(value, listed, call, caller, space)
        return yield* journal
          .transact(
            Effect.gen(function* () {
              const parked = yield* record.park(id, yield* on)
              // Stopped meanwhile: then nobody is asked.
              return parked ?? (yield* Effect.fail("stopped" as const))
            }),
          )
          .pipe(Effect.catch(() => Effect.succeed(undefined)))
      }
      // Whoever stopped it has settled it; and if it was the end of the house, the next one goes on with it.
      if (kept && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return undefined
      const row = yield* settle(endingOf(exit))
      if (row !== undefined) yield* measure(row)
      if (kept || (yield* Answered) !== undefined) yield* asking.forget(id)
      return row
    })
    const body = Effect.uninterruptibleMask((restore) =>
      Effect.exit(restore(execute(listed, call, caller, seen, progress))).pipe(
        Effect.provideService(Keeping, keeping),
        Effect.flatMap(finish),
        Effect.flatMap(watch.tell),
        Effect.ensuring(Effect.sync(() => running.delete(id))),
        Effect.catchCause((cause) => Effect.logError(`Call ${id} could not be settled`, cause)),
      ),
    )
    if (stopped.delete(id)) return
    const fiber = yield* Effect.forkIn(body, scope)
    running.set(id, fiber)
  })

  /** Something outside may change: it is recorded before it runs. */
  const recordThenRun = Effect.fnUntraced(function* (
    row: NewRow,
    walked: Walked,
    caller: Caller["Service"],
    wait: number,
    progress: Progress,
    provenance: Provenance,
  ) {
    // Whoever hangs up meanwhile changes nothing: what is written down as running runs.
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const lone = record.loneBegin(row, isoMoment(clock.currentTimeMillisUnsafe()), me, provenance)
        if (lone !== undefined) yield* together(lone)
        else yield* journal.transact(record.open(row, { state: "running", owner: me }))
        if (yield* paused(row, walked.listed, caller)) return yield* watch.now(row.id)
        const { heard, leave } = watch.listen(row.id)
        ;(yield* Told)(row.id)
        const begun = lone && { row, provenance }
        yield* launch(row.id, walked, caller, row.space as SpaceId | null, progress, begun)
        return yield* restore(Effect.timeoutOrElse(heard, { duration: wait, orElse: () => watch.now(row.id) })).pipe(
          Effect.ensuring(leave),
        )
      }),
    )
  })

  /** Asks somebody first: the row waits for the answer, and nothing has run. */
  const askFirst = Effect.fnUntraced(function* (row: NewRow, walked: Walked, caller: Caller["Service"]) {
    yield* journal.transact(
      Effect.flatMap(asking.ask(row, walked, caller), (on) => record.open(row, { state: "waiting", on })),
    )
    yield* paused(row, walked.listed, caller)
    return yield* watch.now(row.id)
  })

  /** Interrupts the handler of a call that ran here when it was stopped. Its row is settled by whoever stops it. */
  const interrupt = (id: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const fiber = running.get(id)
      if (fiber !== undefined) return Effect.asVoid(Effect.forkIn(Fiber.interrupt(fiber), scope))
      stopped.add(id)
      if (stopped.size > mostStopped) stopped.delete(stopped.values().next().value!)
      return Effect.void
    })

  return { me, askFirst, runThenRecord, runInside, recordThenRun, launch, interrupt }
})
