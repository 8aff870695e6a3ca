/**
 * Plans: what an agent will do later. A plan is a record of its owner (its instruction and its schedule, versioned like
 * any other) and a timer. When it is due, one `timer.fired` with the purpose `plan` names the plan and the time; the
 * room that wakes agents reads it. This file only computes when a plan is due next.
 */
import {
  type Event,
  type EventBody,
  type MemoryId,
  type MemoryRecord,
  Missing,
  type PrincipalId,
  WrongState,
  type Forbidden,
  type StaleVersion,
  type TooLarge,
} from "@stoa/contract"
import { hash } from "node:crypto"
import { Context, DateTime, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { makeFailedEvents } from "../../store/journal/readers/FailedEvents.ts"
import { currentCause } from "../../store/journal/Correlation.ts"
import type { Transaction } from "../../store/journal/Journal.ts"
import { readerLayer } from "../../store/journal/readers/Readers.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { type ExcerptBounds, makeExcerpts } from "../records/excerpts.ts"
import type { MemoryActor } from "../records/recordReads.ts"
import { writerOf } from "../Authors.ts"
import { Memories } from "../Memories.ts"
import { definitionIn, type PlanDefinition } from "./definition.ts"
import { dueAfter, dueAgain, isLate, type Schedule } from "./planTimes.ts"

export type { PlanDefinition } from "./definition.ts"

export type PlanStatus = "active" | "completed"

export interface Plan extends PlanDefinition {
  readonly id: MemoryId
  readonly owner: PrincipalId
  /** Who wrote its words: its owner, or somebody it was shared with. */
  readonly writer: PrincipalId
  readonly status: PlanStatus
  readonly nextRunAt: string | null
  readonly lastRunAt: string | null
}

interface PlanRow {
  readonly record: MemoryId
  readonly owner: PrincipalId
  readonly version: number
  readonly status: PlanStatus
  readonly nextRunAt: string | null
  readonly lastRunAt: string | null
  /** The run in which it was created or last changed. */
  readonly run: string | null
}

type Refused = Missing | StaleVersion | WrongState | TooLarge | Forbidden

/** The purposes of two timers: one says that a plan is due, the other first checks whether it is too late for it. */
const planPurpose = "plan"
const looks = "plan-look"
const namespace = "gateway"
const kind = "plan"
const maxPlans = 200

const keyOf = (id: MemoryId): string => `plan ${id}`
const jitterOf = (id: MemoryId, due: string, seconds: number): number =>
  seconds === 0 ? 0 : Number.parseInt(hash("sha256", `${id} ${due}`, "hex").slice(0, 8), 16) % (seconds + 1)

const planFrom = (row: PlanRow, record: MemoryRecord): ReadonlyArray<Plan> => {
  const definition = definitionIn(record)
  const { lastRunAt, nextRunAt, owner, record: id, status } = row
  const writer = writerOf(record)
  return definition === undefined ? [] : [{ ...definition, id, owner, writer, status, nextRunAt, lastRunAt }]
}

const refuse = (detail: string) => new WrongState({ detail })

export class Plans extends Context.Service<
  Plans,
  {
    /**
     * Creates a plan, or changes the one with this id: missing fields stay, but a schedule replaces the whole schedule.
     */
    readonly set: (
      by: MemoryActor,
      id: MemoryId | undefined,
      plan: Partial<PlanDefinition>,
    ) => Effect.Effect<Plan, Refused, Transaction>
    /** Whether there was one. */
    readonly remove: (by: MemoryActor, id: MemoryId) => Effect.Effect<boolean, Refused, Transaction>
    /** The owner's plans: the next due first, then completed ones, the last first. */
    readonly list: (by: MemoryActor, status?: PlanStatus) => Effect.Effect<ReadonlyArray<Plan>>
    /** The next of an owner's active plans, and how many more there are; those that are too long are not read. */
    readonly next: (
      owner: PrincipalId,
      bounds: ExcerptBounds,
    ) => Effect.Effect<{ readonly items: ReadonlyArray<Plan & Pick<PlanRow, "run">>; readonly left: number }>
  }
>()("server/memory/Plans") {
  static readonly layer = Layer.effect(
    Plans,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const memories = yield* Memories
      const excerpts = makeExcerpts(sql)
      const { countOf, keep } = yield* makeKeeping

      const rowsOf = (by: MemoryActor, ids?: ReadonlyArray<MemoryId>) =>
        Effect.orDie(
          sql<PlanRow>`SELECT * FROM memory_plans WHERE owner = ${by.id}
            ${ids === undefined ? sql`` : sql`AND ${sql.in("record", ids)}`}`,
        )

      const planOf = Effect.fnUntraced(function* (by: MemoryActor, row: PlanRow) {
        const record = yield* Effect.option(memories.get(by, row.record))
        return record._tag === "None" ? [] : planFrom(row, record.value)
      })

      const set: Plans["Service"]["set"] = Effect.fn("Plans.set")(function* (by, id, plan) {
        const rows = id === undefined ? [] : yield* rowsOf(by, [id])
        const before = rows[0] === undefined ? [] : yield* planOf(by, rows[0])
        if (id !== undefined && before[0] === undefined) return yield* new Missing({ noun: "plan", ref: id })
        if (id === undefined && (yield* countOf(by.id)) >= maxPlans)
          return yield* refuse(`You have ${maxPlans} plans, the maximum. Delete some that are done.`)
        const definition = merged(before[0], plan)
        if (definition.name === undefined || definition.instruction === undefined)
          return yield* refuse("A plan needs a name and an instruction.")
        const now = yield* DateTime.now
        const moved = before[0] === undefined || hasSchedule(plan)
        const due = dueAfter(definition, now)
        if (moved && Result.isFailure(due)) return yield* refuse(due.failure)
        const content = JSON.stringify(definition)
        const { record } =
          id === undefined
            ? yield* memories.put(by, by.id, { namespace, kind, content, mediaType: "application/json" })
            : { record: yield* memories.change(by, id, { content }) }
        const state = moved
          ? { status: "active" as const, next: Result.getOrThrow(due) }
          : { status: rows[0]!.status, next: momentOf(rows[0]!.nextRunAt) }
        const { run = null } = yield* currentCause
        const row = yield* keep(record, { ...state, lastRunAt: rows[0]?.lastRunAt ?? null, run })
        return (yield* planOf(by, row))[0]!
      })

      const remove: Plans["Service"]["remove"] = Effect.fn("Plans.remove")(function* (by, id) {
        if ((yield* rowsOf(by, [id])).length === 0) return false
        // Removing the record emits an event; the reader below then removes the timer.
        yield* memories.remove(by, id, false)
        return true
      })

      const list: Plans["Service"]["list"] = Effect.fn("Plans.list")(function* (by, status) {
        const rows = (yield* rowsOf(by)).filter((row) => status === undefined || row.status === status)
        const plans = (yield* Effect.forEach(rows, (row) => planOf(by, row))).flat()
        return plans.toSorted(inOrder)
      })

      const next: Plans["Service"]["next"] = Effect.fn("Plans.next")(function* (owner, bounds) {
        const from = sql`memory_plans p JOIN memory_records r ON r.id = p.record
          WHERE p.owner = ${owner} AND p.status = 'active'`
        const read = yield* excerpts.read(from, sql`p.next_run_at, p.record`, { ...bounds, whole: true })
        const found = new Map((yield* rowsOf({ id: owner })).map((row) => [row.record, row]))
        const items = read.items.flatMap(({ record }) => {
          const row = found.get(record.id)
          return row === undefined ? [] : planFrom(row, record).map((plan) => ({ ...plan, run: row.run }))
        })
        return { items, left: read.left + read.items.length - items.length }
      })

      return Plans.of({ set, remove, list, next })
    }),
  )
}

const momentOf = (text: string | null) => (text === null ? null : DateTime.makeUnsafe(text))
const hasSchedule = ({ cron, runAfter, scheduledAt }: Schedule): boolean =>
  cron !== undefined || runAfter !== undefined || scheduledAt !== undefined

const merged = (before: Plan | undefined, plan: Partial<PlanDefinition>): Partial<PlanDefinition> => {
  if (before === undefined) return plan
  const {
    id: _id,
    lastRunAt: _last,
    nextRunAt: _next,
    owner: _owner,
    status: _status,
    writer: _writer,
    ...was
  } = before
  if (!hasSchedule(plan)) return { ...was, ...plan }
  const { cron: _cron, runAfter: _after, scheduledAt: _at, ...rest } = was
  return { ...rest, ...plan }
}

const inOrder = (one: Plan, other: Plan): number => {
  if (one.nextRunAt !== null && other.nextRunAt !== null) return one.nextRunAt < other.nextRunAt ? -1 : 1
  if (one.nextRunAt !== null || other.nextRunAt !== null) return one.nextRunAt === null ? 1 : -1
  return (one.lastRunAt ?? "") > (other.lastRunAt ?? "") ? -1 : 1
}

/** Stores the row of a plan together with its timer. */
const makeKeeping = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const timers = yield* Timers

  const keep = Effect.fnUntraced(function* (
    record: MemoryRecord,
    state: { readonly next: DateTime.Utc | null } & Pick<PlanRow, "status" | "lastRunAt" | "run">,
  ) {
    const { jitter = 0, missed = "once" } = definitionIn(record) ?? { name: "", instruction: "" }
    const nextRunAt = state.next === null ? null : DateTime.formatIso(state.next)
    const row: PlanRow = {
      record: record.id,
      owner: record.owner,
      version: record.version,
      status: state.status,
      nextRunAt,
      lastRunAt: state.lastRunAt,
      run: state.run,
    }
    yield* sql`INSERT INTO memory_plans ${sql.insert(row as never)} ON CONFLICT (record) DO UPDATE SET
      version = excluded.version, status = excluded.status, next_run_at = excluded.next_run_at,
      last_run_at = excluded.last_run_at, run = excluded.run`
    if (state.next === null || nextRunAt === null) yield* timers.cancelKeys([keyOf(record.id)])
    else
      yield* timers.set({
        purpose: missed === "skip" ? looks : planPurpose,
        key: keyOf(record.id),
        dueAt: DateTime.add(state.next, { seconds: jitterOf(record.id, nextRunAt, jitter) }),
        payload: {
          plan: record.id,
          principal: record.owner,
          dueAt: nextRunAt,
          ...(state.run !== null && { run: state.run }),
        },
      })
    return row
  }, Effect.orDie)

  const forget = Effect.fnUntraced(function* (id: MemoryId) {
    yield* sql`DELETE FROM memory_plans WHERE record = ${id}`
    yield* timers.cancelKeys([keyOf(id)])
  }, Effect.orDie)

  const rowOf = (id: MemoryId) =>
    Effect.map(Effect.orDie(sql<PlanRow>`SELECT * FROM memory_plans WHERE record = ${id}`), (rows) => rows[0])

  const countOf = (owner: PrincipalId) =>
    Effect.map(
      Effect.orDie(sql<{ n: number }>`SELECT count(*) AS n FROM memory_plans WHERE owner = ${owner}`),
      (rows) => rows[0]!.n,
    )

  return { keep, forget, rowOf, countOf }
})

interface Fired {
  readonly plan: MemoryId
  readonly principal: PrincipalId
  readonly dueAt: string
}

/** Handles a plan's timers and changes of its record, in one transaction with the reader's cursor. */
const makeFollowing = Effect.gen(function* () {
  const memories = yield* Memories
  const timers = yield* Timers
  const { countOf, forget, keep, rowOf } = yield* makeKeeping

  /**
   * After a plan was due: completes it or sets its next time. One that was moved meanwhile already has its next time.
   */
  const advance = Effect.fnUntraced(function* ({ dueAt, plan, principal }: Fired, at: DateTime.Utc, ran: boolean) {
    const row = yield* rowOf(plan)
    const record = yield* Effect.option(memories.get({ id: principal }, plan))
    const definition = record._tag === "Some" ? definitionIn(record.value) : undefined
    if (row === undefined || definition === undefined || record._tag === "None" || row.nextRunAt !== dueAt) return
    const next = dueAgain(definition, definition.missed ?? "once", DateTime.makeUnsafe(dueAt), at) ?? null
    yield* keep(record.value, {
      status: next === null ? "completed" : "active",
      next,
      lastRunAt: ran ? DateTime.formatIso(at) : row.lastRunAt,
      run: row.run,
    })
  })

  /** When its timer was set for: the due time plus the jitter. */
  const wantedAt = Effect.fnUntraced(function* ({ dueAt, plan, principal }: Fired) {
    const record = yield* Effect.option(memories.get({ id: principal }, plan))
    const { jitter = 0 } = (record._tag === "Some" ? definitionIn(record.value) : undefined) ?? {}
    return DateTime.add(DateTime.makeUnsafe(dueAt), { seconds: jitterOf(plan, dueAt, jitter) })
  })

  /** A plan that skips missed times fires only if it is not too late. */
  const look = Effect.fnUntraced(function* (fired: Fired, at: DateTime.Utc) {
    if (isLate(yield* wantedAt(fired), at)) return yield* advance(fired, at, false)
    yield* timers.set({ purpose: planPurpose, key: keyOf(fired.plan), dueAt: at, payload: { ...fired } })
  })

  /** A record that was not written through `Plans`: edited, reverted, restored or imported. */
  const follow = Effect.fnUntraced(function* ({ principal, record: id, run }: EventBody<"memory.written">) {
    const record = yield* Effect.option(memories.get({ id: principal }, id))
    const row = yield* rowOf(id)
    if (record._tag === "None") return row === undefined ? undefined : yield* forget(id)
    if (record.value.kind !== kind || record.value.version === row?.version) return
    // The limit on plans also applies to this way: beyond it the record exists, but is never due.
    if (row === undefined && (yield* countOf(principal)) >= maxPlans) return
    const definition = definitionIn(record.value)
    const due = definition === undefined ? undefined : dueAfter(definition, yield* DateTime.now)
    const next = due === undefined || Result.isFailure(due) ? null : due.success
    yield* keep(record.value, {
      status: next === null ? "completed" : "active",
      next,
      lastRunAt: row?.lastRunAt ?? null,
      run: run ?? row?.run ?? null,
    })
  })

  return { advance, look, follow, forget }
})

export class PlanReader extends Context.Service<
  PlanReader,
  {
    readonly hear: (events: ReadonlyArray<Event>) => Effect.Effect<void, never, Transaction>
    /** For an event that could not be handled, and is retried. */
    readonly one: (event: Event) => Effect.Effect<void, never, Transaction>
  }
>()("server/memory/PlanReader") {}

const layerPlanReader = Layer.effect(
  PlanReader,
  Effect.gen(function* () {
    const { advance, follow, forget, look } = yield* makeFollowing
    const handled = yield* makeFailedEvents("plans")

    const one = (event: Event): Effect.Effect<unknown, never, Transaction> => {
      switch (event.kind) {
        case "timer.fired": {
          const fired = event.body.payload as unknown as Fired
          if (event.body.purpose === planPurpose) return advance(fired, event.at, true)
          return event.body.purpose === looks ? look(fired, event.at) : Effect.void
        }
        case "memory.deleted":
          return event.body.namespace === namespace ? forget(event.body.record) : Effect.void
        case "memory.written":
          return event.body.namespace === namespace ? follow(event.body) : Effect.void
        default:
          return Effect.void
      }
    }
    return PlanReader.of({
      one: (event) => Effect.suspend(() => Effect.asVoid(one(event))),
      hear: (events) =>
        Effect.forEach(
          events,
          (event) =>
            handled(
              event,
              Effect.suspend(() => one(event)),
            ),
          { discard: true },
        ),
    })
  }),
)

export const layerPlans = readerLayer({
  name: "plans",
  atomic: true,
  kinds: ["timer.fired", "memory.written", "memory.deleted"],
  handle: (events) => Effect.flatMap(PlanReader, ({ hear }) => hear(events)),
}).pipe(Layer.provideMerge(layerPlanReader))
