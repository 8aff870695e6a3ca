/**
 * One fiber a house: takes over what a dead house left, claims what is next, starts it, and waits for its bell. A claimed run
 * is worked on in a fiber of its own, until it parks or ends.
 */
import type { PrincipalId, RunId } from "@stoa/contract"
import { Cause, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Scope, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../access/identity/Agents.ts"
import { Pauses } from "../../access/limits/Pauses.ts"
import { Settings } from "../../Settings.ts"
import { Holder } from "../../store/Holder.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { makeEventCache } from "../../store/journal/EventCache.ts"
import { makeClaim } from "./claim.ts"
import { makeDrive } from "./drive.ts"
import { makeRecord, type NewRun, type Slot, type TakeSlot } from "../record.ts"
import type { RunRow, TriggerRow } from "../rows.ts"
import { Slots } from "./slots.ts"

/** Taken over so often within one step, a run may be what kills the house (G-24). */
const mostAttempts = 5
/** How long a closing house waits for steps to come to their end. */
const drain = Duration.seconds(10)
/** Milliseconds: how soon what was due and could not be claimed is tried again, at first and at last. */
const shortestMiss = 5
const longestMiss = 1000
/** How long after a fault of ours a run is taken up again. */
const faultPause = Duration.seconds(1)

/** Under the trace of what woke it; the request that did so is its parent, collected or not. */
const spanOf = <A, E, R>({ agent, correlationId, id }: RunRow, drive: Effect.Effect<A, E, R>) =>
  Effect.withSpan(drive, "run", {
    attributes: { "stoa.run": id, "stoa.agent": agent },
    captureStackTrace: false,
    ...(/^(?!0{16})[0-9a-f]{32}$/.test(correlationId)
      ? { parent: Tracer.externalSpan({ traceId: correlationId, spanId: correlationId.slice(0, 16) }) }
      : { root: true }),
  })

interface Started {
  readonly row: RunRow
  readonly triggers: ReadonlyArray<TriggerRow> | undefined
}

type WantsSlot = Pick<RunRow, "id" | "agent" | "mailbox" | "width">

/** How a claimed run is worked on. The bench works on them without a thought. */
export const Working = Context.Reference<typeof makeDrive>("server/runs/Working", { defaultValue: () => makeDrive })

export class Dispatch extends Context.Service<
  Dispatch,
  {
    /** Begins to work: once everything it works with is there. */
    readonly open: Effect.Effect<void, never, Scope.Scope>
    /** A run that somebody asks for is on disk: claimed at once, where this house has room and nobody waits, or else queued. */
    readonly start: (wanted: NewRun, trigger: TriggerRow) => Effect.Effect<void>
    /** For whoever rings a run that waits: it goes on at once, under the same conditions. */
    readonly takeSlot: TakeSlot
    /** Whatever puts a run into the queue, for a run that is asked for meanwhile: that one waits behind it. */
    readonly queueing: <A, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** How many runs are worked on here. */
    readonly working: () => number
    /** Runs that are this house's by their rows, and that nobody works on: they go back into the queue. How many there were. */
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
      const record = yield* makeRecord
      const agents = yield* Agents
      const pauses = yield* Pauses
      /** What is paused, as this house last heard. */
      const paused = yield* makeEventCache(["pause.set", "pause.lifted", "principal.changed"], () => pauses.now)
      const { ahead, claim, handBack, isAlone, mine, recover } = yield* makeClaim(record, slots)
      let leaving = false
      const drive = yield* (yield* Working)(record, () => leaving)
      const working = new Slots(slots)
      /** Claimed when they were asked for, and not begun yet. */
      let started: Array<Started> = []
      /** Given up when their transaction failed, which may have been committed all the same. */
      const doubted: Array<RunId> = []
      /** How many such claims are being written, and who waits for the last of them; how many that have to wait are. */
      let slotsPending = 0
      let slotsSettled: Deferred.Deferred<void> | undefined
      let queueing = 0
      const bell = journal.bellOf(["run.queued", "run.resumed", "run.ended", "pause.lifted", "principal.changed"])
      /** Rings for what can be claimed: nobody looks first whether there is anything. */
      const queue = journal.bellOf(["run.queued", "run.resumed"], ({ body, kind }) =>
        // One that waits again, and has not left its slot yet, is in the queue all the same.
        kind === "run.resumed"
          ? !started.some(({ row }) => row.id === body.run)
          : kind !== "run.queued" || !working.has(body.run),
      )

      /** A fault of ours ends no run at once: it is taken up again, and fails if that does not help. */
      const work = (row: RunRow, faults = 0, triggers?: ReadonlyArray<TriggerRow>): Effect.Effect<void> =>
        Effect.exit(spanOf(row, drive(row, triggers))).pipe(
          Effect.flatMap((exit) => {
            if (Exit.isSuccess(exit)) return exit.value === "handBack" ? Effect.asVoid(handBack(row)) : Effect.void
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
        if (faults < mostAttempts) return yield* work(now, faults)
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
          if (row.attempts <= mostAttempts) yield* begin(row, scope)
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
      /** Nothing was queued when it was looked last: until something is, whoever ends makes room for nobody. */
      let isEmpty = false
      let isOpen = false
      /** For what comes into the queue, or may have come, without an event. */
      const lookAgain = () => {
        isEmpty = false
        bell.ring()
      }
      /** Something is in the queue, whether its event was heard or not. */
      const lookForQueued = () => {
        queue.ring()
        bell.ring()
      }
      const takeStarted = () => {
        const some = started
        started = []
        return some
      }

      /** Its agent is held, or stopped with others, as far as this house has heard. */
      const isStopped = Effect.fnUntraced(function* (id: PrincipalId) {
        const agent = yield* Effect.option(agents.getCached(id))
        if (Option.isNone(agent) || agent.value.gate !== "open") return true
        const stopped = yield* paused.get("")
        return stopped.has("everything") || stopped.has(`agents/${id}`)
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
      /** Its row is there, or will not be. */
      const endPendingSlot = () => {
        slotsPending--
        bell.ring()
        if (slotsPending > 0 || slotsSettled === undefined) return
        Deferred.doneUnsafe(slotsSettled, Effect.void)
        slotsSettled = undefined
      }

      const takeSlot: TakeSlot = Effect.fnUntraced(function* (row) {
        // One that follows another is claimed: only there it is known whether that one is over.
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

      /** Whoever asks for a run while another is put into the queue waits behind that one, whether its event was heard or not. */
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

      /** Written or not: where the answer was lost, the row says it. */
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
          // Nobody who hangs up leaves a claimed run behind that nobody works on.
        }).pipe(Effect.uninterruptible)

      /**
       * What was paused or held while its claim was written waits for its turn. Each is in the list until it has begun: should
       * the database fail meanwhile it is tried again, and a house that closes hands it back.
       */
      const beginStarted = Effect.fnUntraced(function* (scope: Scope.Scope) {
        for (let one = started[0]; one !== undefined; one = started[0]) {
          const { row, triggers } = one
          const isHeld = yield* isStopped(row.agent)
          if (isHeld) yield* handBack(row)
          // Ended by others meanwhile, it is not there any more.
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

      /** Whether their claims were committed is not known: what was is nobody's work, and goes back into the queue. */
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

      /** Sleeps no longer than to the next that is due. */
      const pass = Effect.fnUntraced(function* (scope: Scope.Scope) {
        const heard = bell.rung
        yield* beginStarted(scope)
        yield* handBackDoubted()
        const isQueued = queue.rung !== queued
        // Until it is looked whether anything is left: a claim that fails leaves it queued.
        if (isQueued) isEmpty = false
        if (isEmpty) return yield* bell.waitPast(heard)
        // From here on nobody takes a slot; those whose rows are on the way are counted once they are there.
        if (slotsPending > 0) return yield* Deferred.await((slotsSettled ??= Deferred.makeUnsafe<void>()))
        queued = queue.rung
        if (isQueued && working.size < slots) for (const row of yield* claim(working.size)) yield* begin(row, scope)
        // A look costs less than a claim, and mostly there is nothing more to claim.
        const { isDue, nextMs } = yield* ahead()
        isEmpty = !isDue && nextMs === undefined
        const rows = isDue && working.size < slots ? yield* claim(working.size) : []
        for (const row of rows) yield* begin(row, scope)
        // One a mailbox and pass: there may be more.
        if (rows.length > 0 && working.size < slots) return
        // Due, and not had: held or paused, or somebody locks its row at this moment and will not ring for it.
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

      /** A run that was ended by others is no longer worked on: its model's answer is not waited for. */
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

      /** Steps under way come to their end, or are left where they are; either way their runs go on elsewhere or later. */
      const leave = (claiming: Fiber.Fiber<unknown>) =>
        Effect.gen(function* () {
          leaving = true
          yield* Fiber.interrupt(claiming)
          // Nobody takes a slot any more; those whose rows are on the way come to be handed back.
          if (slotsPending > 0)
            yield* Effect.timeoutOption(Deferred.await((slotsSettled ??= Deferred.makeUnsafe<void>())), drain)
          for (const { row } of takeStarted()) yield* handBack(row)
          const all = working.fibers
          yield* Effect.timeoutOption(Fiber.awaitAll(all), drain)
          yield* Fiber.interruptAll(all)
        })

      const open = Effect.gen(function* () {
        // Closed after `leave`, which waits for those who work in it.
        const scope = yield* Scope.fork(yield* Effect.scope)
        isOpen = true
        yield* stopEnded
        yield* takeOver(scope)
        // What other houses that have died left behind; whoever has come or gone changes what there is room for.
        yield* holder.eachBeat(Effect.ensuring(takeOver(scope), Effect.sync(lookAgain)))
        const claiming = yield* Effect.forkIn(loop(scope), scope)
        yield* Effect.addFinalizer(() => leave(claiming))
      })

      // What was claimed a moment ago may not have its fiber yet: only what is seen twice is one.
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
