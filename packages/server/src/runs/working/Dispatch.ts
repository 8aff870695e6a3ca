/**
 * One fiber per house: takes over the runs of a dead house, claims the next ones, starts them, and waits for its bell.
 * A claimed run has its own fiber, until it parks or ends.
 */
import type { PrincipalId, RunId } from "@stoa/contract"
import { Cause, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../access/identity/Agents.ts"
import { pausedBy, Pauses } from "../../access/limits/Pauses.ts"
import { Settings } from "../../Settings.ts"
import { Holder } from "../../store/leases/Holder.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { makeEventCache } from "../../store/journal/events/EventCache.ts"
import { makeClaim } from "./claim.ts"
import { makeDrive } from "./drive.ts"
import { makeRunRecorder, type NewRun, type Slot, type TakeSlot } from "../record/record.ts"
import type { RunRow, TriggerRow } from "../record/rows.ts"
import { spanOf } from "./runSpan.ts"
import { Slots } from "./slots.ts"

/** A run that was taken over this often within one step may be what kills the house (G-24). */
const maxAttempts = 5
/** How long a closing house waits for steps to end. */
const drain = Duration.seconds(10)
/** Milliseconds until due runs that could not be claimed are tried again: the first and the longest pause. */
const shortestMiss = 5
const longestMiss = 1000
/** The pause before a run looks again whether its budget has something left, which others are spending now. */
const budgetPause = Duration.seconds(1)
/** The pause before a run is resumed after a bug of ours. */
const faultPause = Duration.seconds(1)

interface Started {
  readonly row: RunRow
  readonly triggers: ReadonlyArray<TriggerRow> | undefined
}

type WantsSlot = Pick<RunRow, "id" | "agent" | "mailbox" | "width">

/** How a claimed run is worked on. The benchmark replaces it to skip the model. */
export const RunDriver = Context.Reference<typeof makeDrive>("server/runs/RunDriver", { defaultValue: () => makeDrive })

export class Dispatch extends Context.Service<
  Dispatch,
  {
    /** Starts working, once everything it needs is there. */
    readonly open: Effect.Effect<void, never, Scope.Scope>
    /** Writes a requested run: claimed at once if this house has room and nothing is queued, otherwise queued. */
    readonly start: (wanted: NewRun, trigger: TriggerRow) => Effect.Effect<void>
    /** For code that rings a waiting run: it continues at once, under the same conditions. */
    readonly takeSlot: TakeSlot
    /** Wraps every write that queues a run: a run requested meanwhile waits behind it. */
    readonly queueing: <A, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** How many runs this house works on. */
    readonly working: () => number
    /** Queues runs again that are this house's by their rows but have no fiber; returns their number. */
    readonly orphans: Effect.Effect<number>
  }
>()("server/runs/Dispatch") {
  static readonly layer = Layer.effect(
    Dispatch,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const holder = yield* Holder
      const { slots } = yield* Settings
      const record = yield* makeRunRecorder
      const agents = yield* Agents
      const pauses = yield* Pauses
      /** The pauses, as this house last read them. */
      const paused = yield* makeEventCache(["pause.set", "pause.lifted", "principal.changed"], () => pauses.now)
      const { ahead, claim, crowding, handBack, isAlone, mine, recover } = yield* makeClaim(record, slots)
      let leaving = false
      /** Those that held another's share of the slots at the last look. */
      let crowds: ReadonlySet<RunId> = new Set()
      const drive = yield* (yield* RunDriver)(
        record,
        () => leaving,
        (run) => crowds.has(run),
      )
      const working = new Slots(slots)
      /** Claimed when they were requested, and not started yet. */
      let started: Array<Started> = []
      /** Given up because their transaction failed, although it may have committed. */
      const doubted: Array<RunId> = []
      /** The number of such claims being written, and a signal for the last of them; the number of queueing writes. */
      let slotsPending = 0
      let slotsSettled: Deferred.Deferred<void> | undefined
      let queueing = 0
      const bell = journal.bellOf(["run.queued", "run.resumed", "run.ended", "pause.lifted", "principal.changed"])
      /** Rings when there is something to claim, without reading whether there is. */
      const queue = journal.bellOf(["run.queued", "run.resumed"], ({ body, kind }) =>
        // One that waits again, and has not left its slot yet, is in the queue all the same.
        kind === "run.resumed"
          ? !started.some(({ row }) => row.id === body.run)
          : kind !== "run.queued" || !working.has(body.run),
      )

      const back = Effect.fnUntraced(function* (row: RunRow, how: string) {
        if (how !== "handBack" && how !== "yield" && how !== "wait") return
        yield* handBack(row, how === "wait" ? Duration.toMillis(budgetPause) : 0)
        // The next look says who else has to yield.
        if (how === "yield") crowds = new Set()
        if (how !== "handBack") lookForQueued()
      })

      /** A bug of ours does not end a run at once: it is resumed, and fails if that does not help. */
      const work = (row: RunRow, faults = 0, triggers?: ReadonlyArray<TriggerRow>): Effect.Effect<void> =>
        Effect.exit(spanOf(row, drive(row, triggers))).pipe(
          Effect.flatMap((exit) => {
            if (Exit.isSuccess(exit)) return back(row, exit.value)
            if (Cause.hasInterruptsOnly(exit.cause)) return Effect.void
            return Effect.logError(`Run ${row.id} failed in the house and is tried again`, exit.cause).pipe(
              Effect.andThen(Effect.sleep(faultPause)),
              Effect.andThen(Effect.suspend(() => anew(row, faults + 1))),
            )
          }),
        )
      const anew = Effect.fnUntraced(function* (row: RunRow, faults: number) {
        const now = yield* record.byId(row.id)
        if (now === undefined || now.fence !== row.fence || now.state !== "running") return
        if (faults < maxAttempts) return yield* work(now, faults)
        yield* record.end(
          now,
          { stop: "error", failure: "Something in the house failed, each time it was tried. The log says what." },
          [],
          0,
        )
      })

      const begin = Effect.fnUntraced(function* (
        row: RunRow,
        scope: Scope.Scope,
        triggers?: ReadonlyArray<TriggerRow>,
      ) {
        working.take(row.id, row.mailbox)
        const body = work(row, 0, triggers).pipe(
          Effect.catchCause((cause) => Effect.logError(`Run ${row.id} could not be worked on`, cause)),
          Effect.ensuring(
            Effect.sync(() => {
              working.leave(row.id)
              bell.ring()
            }),
          ),
        )
        working.setFiber(row.id, yield* Effect.forkIn(body, scope))
      })

      const takeOver = Effect.fnUntraced(function* (scope: Scope.Scope) {
        if (leaving) return
        for (const row of yield* recover) {
          if (row.attempts <= maxAttempts) yield* begin(row, scope)
          else
            yield* record.end(
              row,
              {
                stop: "crashed",
                failure: `The house ended ${row.attempts} times while this run was in one step, and it may be why. Look into it, then retry it by hand.`,
              },
              [],
              0,
            )
        }
      })

      let missed = shortestMiss
      let queued = queue.rung
      /** The queue was empty at the last look: until something is queued, a freed slot helps nobody. */
      let isEmpty = false
      let isOpen = false
      /** For runs that were, or may have been, queued without an event. */
      const lookAgain = () => {
        isEmpty = false
        bell.ring()
      }
      /** A run is in the queue, whether its event was heard or not. */
      const lookForQueued = () => {
        queue.ring()
        bell.ring()
      }
      /** Its agent is held or paused, as far as this house knows. */
      const isStopped = Effect.fnUntraced(function* (id: PrincipalId) {
        const agent = yield* Effect.option(agents.getCached(id))
        if (Option.isNone(agent) || agent.value.gate !== "open") return true
        return pausedBy(yield* paused.get(""), { principal: agent.value, server: undefined }) !== undefined
      })

      /** True: it has its slot. The rules of a claim (`claim.ts`), by what this house knows; nobody else claims. */
      const holdSlot = Effect.fnUntraced(function* ({ agent, id, mailbox, width }: WantsSlot) {
        if (!isAlone || !isOpen || (yield* isStopped(agent))) return false
        // Nothing comes between this look and the slot.
        const isQuiet = isEmpty && queue.rung === queued && queueing === 0
        const isFree = !leaving && isQuiet && !working.has(id) && working.hasRoom(mailbox, width)
        if (!isFree) return false
        working.take(id, mailbox)
        slotsPending++
        return true
      })
      /** Its row is written, or will not be. */
      const endPendingSlot = () => {
        slotsPending--
        bell.ring()
        if (slotsPending > 0 || slotsSettled === undefined) return
        Deferred.doneUnsafe(slotsSettled, Effect.void)
        slotsSettled = undefined
      }

      const takeSlot: TakeSlot = Effect.fnUntraced(function* (row) {
        // A run that follows another must be claimed: only a claim checks whether the other is over.
        if (row.afterRun !== null || !(yield* holdSlot(row))) return undefined
        let isOver = false
        const end = (begun?: RunRow) => {
          if (isOver) return
          isOver = true
          if (begun === undefined) working.leave(row.id)
          else started.push({ row: begun, triggers: undefined })
          endPendingSlot()
        }
        yield* journal.onRollback(() => {
          if (!isOver) doubted.push(row.id)
          end()
        })
        return {
          owner: holder.id,
          use: (resumed) =>
            resumed === undefined
              ? Effect.sync(() => end())
              : Effect.orDie(sql.afterCommit(Effect.sync(() => end(resumed)))),
        } satisfies Slot
      }, Effect.uninterruptible)

      /** A run requested while another is being queued waits behind that one, whether its event was heard or not. */
      const queueingOf: Dispatch["Service"]["queueing"] = (write) =>
        Effect.suspend(() => {
          const heard = queue.rung
          queueing++
          return Effect.ensuring(
            write,
            Effect.sync(() => {
              if (queue.rung === heard) lookForQueued()
              queueing--
            }),
          )
        })

      /** If the answer of the write was lost, the row says whether it was written. */
      const startSeated = Effect.fnUntraced(function* (wanted: NewRun, trigger: TriggerRow) {
        const exit = yield* Effect.exit(record.start(wanted, trigger, holder.id))
        const found = Exit.isSuccess(exit) ? exit : yield* Effect.exit(record.byId(wanted.id))
        const row = Exit.isSuccess(found) ? found.value : undefined
        if (row !== undefined && !leaving) return void started.push({ row, triggers: [trigger] })
        working.leave(wanted.id)
        yield* row === undefined ? exit : handBack(row)
      })

      const start: Dispatch["Service"]["start"] = (wanted, trigger) =>
        Effect.gen(function* () {
          const { agent, id, limits } = wanted
          if (!(yield* holdSlot({ id, agent, mailbox: agent, width: limits.width ?? 1 })))
            return yield* Effect.asVoid(queueingOf(record.start(wanted, trigger, null)))
          yield* Effect.ensuring(startSeated(wanted, trigger), Effect.sync(endPendingSlot))
          // Uninterruptible: a client that hangs up must not leave a claimed run without a fiber.
        }).pipe(Effect.uninterruptible)

      /**
       * A run whose agent was paused or held while its claim was written goes back to the queue. Each stays in the list
       * until it has started: if the database fails meanwhile it is tried again, and a closing house hands it back.
       */
      const beginStarted = Effect.fnUntraced(function* (scope: Scope.Scope) {
        for (let one = started[0]; one !== undefined; one = started[0]) {
          const { row, triggers } = one
          const isHeld = yield* isStopped(row.agent)
          if (isHeld) yield* handBack(row)
          // Others have ended it meanwhile.
          if (!started.includes(one)) continue
          started = started.filter((other) => other !== one)
          if (!isHeld) {
            yield* begin(row, scope, triggers)
            continue
          }
          working.leave(row.id)
          lookForQueued()
        }
      })

      /** Whether their claims were committed is unknown: committed ones have no fiber, and go back into the queue. */
      const handBackDoubted = Effect.fnUntraced(function* () {
        for (let id = doubted[0]; id !== undefined; id = doubted[0]) {
          const row = yield* record.byId(id)
          if (row?.state === "running" && row.owner === holder.id && !working.has(id)) {
            yield* handBack(row)
            lookForQueued()
          }
          doubted.shift()
        }
      })

      /** Sleeps at most until the next run is due. */
      const pass = Effect.fnUntraced(function* (scope: Scope.Scope) {
        const heard = bell.rung
        yield* beginStarted(scope)
        yield* handBackDoubted()
        const isQueued = queue.rung !== queued
        // Unknown until it is read again: a failed claim leaves the run queued.
        if (isQueued) isEmpty = false
        if (isEmpty) return yield* bell.waitPast(heard)
        // From here on nobody takes a slot; those whose rows are on the way are counted once they are there.
        if (slotsPending > 0) return yield* Deferred.await((slotsSettled ??= Deferred.makeUnsafe<void>()))
        queued = queue.rung
        if (isQueued && working.size < slots) for (const row of yield* claim(working.size)) yield* begin(row, scope)
        // Reading costs less than claiming, and usually there is nothing more to claim.
        const { isDue, nextMs } = yield* ahead()
        isEmpty = !isDue && nextMs === undefined
        const rows = isDue && working.size < slots ? yield* claim(working.size) : []
        for (const row of rows) yield* begin(row, scope)
        crowds = isDue && rows.length === 0 ? yield* crowding : new Set()
        // One run per mailbox and pass: there may be more.
        if (rows.length > 0 && working.size < slots) return
        // Due, but not claimed: held or paused, or its row is locked by a process that will not ring for it.
        const isMissed = isDue && working.size < slots
        missed = isMissed ? Math.min(missed * 2, longestMiss) : shortestMiss
        const wait = Math.min(nextMs ?? Infinity, isMissed ? missed : Infinity)
        yield* Number.isFinite(wait) ? Effect.timeoutOption(bell.waitPast(heard), wait) : bell.waitPast(heard)
      })

      const loop = (scope: Scope.Scope) =>
        Effect.suspend(() => pass(scope)).pipe(
          Effect.tapCause((cause) => Effect.logError("Runs could not be claimed; that is tried again", cause)),
          Effect.catchCause(() => Effect.sleep("1 second")),
          Effect.forever,
        )

      /** Stops working on a run that others have ended: its model's answer is not awaited. */
      const stopEnded = journal.follow({
        name: "watching for canceled runs",
        kinds: ["run.ended"],
        wanted: () => true,
        hear: (events) =>
          Effect.sync(() => {
            for (const event of events) {
              if (event.kind !== "run.ended" || event.body.state !== "canceled") continue
              const { run } = event.body
              working.fiberOf(run)?.interruptUnsafe()
              if (!started.some(({ row }) => row.id === run)) continue
              started = started.filter(({ row }) => row.id !== run)
              working.leave(run)
            }
          }),
      })

      /** Steps under way finish or are abandoned; either way their runs continue elsewhere or later. */
      const leave = (claiming: Fiber.Fiber<unknown>) =>
        Effect.gen(function* () {
          leaving = true
          yield* Fiber.interrupt(claiming)
          // Nobody takes a slot any more; those whose rows are on the way come to be handed back.
          if (slotsPending > 0)
            yield* Effect.timeoutOption(Deferred.await((slotsSettled ??= Deferred.makeUnsafe<void>())), drain)
          for (const { row } of started.splice(0)) yield* handBack(row)
          const all = working.fibers
          yield* Effect.timeoutOption(Fiber.awaitAll(all), drain)
          yield* Fiber.interruptAll(all)
        })

      const open = Effect.gen(function* () {
        // Closed after `leave`, which waits for the fibers in it.
        const scope = yield* Scope.fork(yield* Effect.scope)
        isOpen = true
        yield* stopEnded
        yield* takeOver(scope)
        // Takes over from houses that have died; a house that comes or goes also changes this house's share of the
        // slots.
        yield* holder.eachBeat(Effect.ensuring(takeOver(scope), Effect.sync(lookAgain)))
        const claiming = yield* Effect.forkIn(loop(scope), scope)
        yield* Effect.addFinalizer(() => leave(claiming))
      })

      // A run claimed a moment ago may not have its fiber yet: only one seen twice is an orphan.
      let seen: ReadonlyMap<string, number> = new Map()
      const orphans = Effect.gen(function* () {
        const rows = (yield* mine).filter(({ id }) => !working.has(id))
        const twice = rows.filter(({ fence, id }) => seen.get(id) === fence)
        seen = new Map(rows.map(({ fence, id }) => [id, fence]))
        for (const row of twice) yield* handBack(row)
        if (twice.length > 0) lookAgain()
        return twice.length
      })

      return Dispatch.of({
        orphans,
        open,
        start,
        takeSlot,
        queueing: queueingOf,
        working: () => working.size,
      })
    }),
  )
}
