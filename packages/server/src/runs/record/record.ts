/**
 * What is recorded of a run: its row and its events in one transaction. Every change of a claimed run names the fence
 * of its claim: a process that has lost the claim changes nothing.
 */
import type { AgentLimits, CallId, CorrelationId, MessageId, PrincipalId, RunId, SpaceId } from "@stoa/contract"
import type { TriggerKind } from "@stoa/contract"
import { Clock, DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../access/identity/Agents.ts"
import { isOpenCall } from "../../calls/CallReads.ts"
import { causedBy, currentCause } from "../../store/journal/Correlation.ts"
import { makeBatch } from "../../store/journal/Batch.ts"
import { type CausedEvent, Journal, type Transaction } from "../../store/journal/Journal.ts"
import { endOf, from, open, to } from "./lifecycle.ts"
import type { RunEnd, RunConfig, RunRow, Usage, StepRow, PromptRow, TriggerRow } from "./rows.ts"
import { accountsOf, hasSpent, makeAccounts, type Payers } from "../spend/accounts.ts"
import { makeTogether } from "./together.ts"
import { inState } from "../../store/database/dialect/States.ts"

const lanes = 64

/** The most triggers of a run that are read, and the most characters of their texts. */
const maxTriggers = { rows: 200, letters: 256 * 1024 } as const
const tooMuch = "(Too much came at once: read this in its space.)"

/** The lane of an agent's runs: always the same one. */
const laneOf = (agent: string): number => {
  let hash = 0
  for (let at = 0; at < agent.length; at++) hash = (Math.imul(hash, 31) + agent.charCodeAt(at)) | 0
  return Math.abs(hash) % lanes
}

export interface NewRun {
  readonly id: RunId
  readonly agent: PrincipalId
  readonly profile: string
  readonly limits: AgentLimits
  readonly kind: TriggerKind
  readonly summary: string
  readonly message?: MessageId | null
  readonly space?: SpaceId | null
  readonly depth: number
  readonly readyAt?: number
  readonly afterRun?: RunId | null
  /** For a sub-agent: the call that waits for it, the outermost run, and its depth. */
  readonly parentCall?: CallId
  readonly root?: RunId
  readonly nesting?: number
  readonly retryOf?: RunId
  readonly step?: number
  readonly config?: RunConfig
  readonly thinker?: "model" | "program"
  /** The principal that asked for it: the run counts against its budget, too. */
  readonly payer?: PrincipalId | null
  /** The first cause, which pays for the whole chain. */
  readonly causer: PrincipalId | null
  /** For a sub-agent: the tree of the run that called it. */
  readonly tree?: PrincipalId | null
}

/** How a run that goes on comes to its slot with the transaction that rings it. Undefined: it waits for its turn. */
export type TakeSlot = (row: RunRow) => Effect.Effect<Slot | undefined, never, Transaction>
export interface Slot {
  readonly owner: string
  /** Starts it after the commit; undefined: it does not continue after all. */
  readonly use: (row: RunRow | undefined) => Effect.Effect<void, never, Transaction>
}

export const makeRunRecorder = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const agents = yield* Agents
  const iso = Effect.map(DateTime.now, DateTime.formatIso)

  const byId = (id: string) =>
    Effect.map(Effect.orDie(sql<RunRow>`SELECT * FROM runs WHERE id = ${id}`), (rows) => rows[0])

  // Written out: Postgres does not know the type of a parameter that is compared with another.
  const most = { rows: sql.literal(String(maxTriggers.rows)), letters: sql.literal(String(maxTriggers.letters)) }
  /** What woke a run: the newest, whatever has joined it. Requests for several runs at the same moment share one statement. */
  const triggersOf = yield* makeBatch((ids: ReadonlyArray<RunId>) =>
    Effect.map(
      Effect.orDie(sql<TriggerRow>`SELECT agent, source, run, kind, message, space, author, depth, at, causer, mail,
        delivered_at, CASE WHEN place = 1 THEN substr(text, 1, ${most.letters}) WHEN told <= ${most.letters} THEN text
          ELSE ${tooMuch} END AS text
        FROM (SELECT t.*, row_number() OVER newest AS place, sum(octet_length(text)) OVER newest AS told FROM triggers t
          WHERE ${sql.in("run", ids)} WINDOW newest AS (PARTITION BY run ORDER BY at DESC, source DESC)) AS woke
        WHERE place <= ${most.rows} ORDER BY at, source`),
      (rows) => {
        const byRun = Map.groupBy(rows, ({ run }) => run)
        return (id: RunId): ReadonlyArray<TriggerRow> => byRun.get(id) ?? []
      },
    ),
  )

  const inSpace = (row: Pick<RunRow, "triggerSpace">) => (row.triggerSpace === null ? {} : { space: row.triggerSpace })
  const about = (row: Pick<RunRow, "id" | "agent">) => ({ run: row.id, principal: row.agent })
  /** What a run does is attributed to its agent, under the correlation id of what woke it. */
  const because = <A, E, R>(row: Pick<RunRow, "id" | "correlationId" | "agent">, effect: Effect.Effect<A, E, R>) =>
    causedBy(
      { correlationId: row.correlationId as CorrelationId, actor: row.agent, provenance: "agent", run: row.id },
      effect,
    )

  /** The topmost agent above one. */
  const treeOf = Effect.fnUntraced(function* (agent: PrincipalId) {
    const seen = new Set<PrincipalId>([agent])
    for (let top = agent; ;) {
      const above = Option.getOrUndefined(yield* Effect.option(agents.getCached(top)))?.parent ?? null
      if (above === null || seen.has(above)) return top
      seen.add(above)
      top = above
    }
  })

  /** A queued run. */
  const newRow = Effect.fnUntraced(function* (wanted: NewRun) {
    const { id } = wanted
    // wall clock: a moment that is stored.
    const now = yield* Clock.currentTimeMillis
    const row: RunRow = {
      id,
      agent: wanted.agent,
      // A sub-agent has its own mailbox, so it does not wait until its parent's agent is free.
      mailbox: wanted.parentCall === undefined ? wanted.agent : id,
      lane: laneOf(wanted.agent),
      width: wanted.limits.width ?? 1,
      thinker: wanted.thinker ?? "model",
      profile: wanted.profile,
      state: "queued",
      stop: null,
      failure: null,
      triggerKind: wanted.kind,
      triggerSummary: wanted.summary.slice(0, 200),
      triggerMessage: wanted.message ?? null,
      triggerSpace: wanted.space ?? null,
      chainDepth: wanted.depth,
      root: wanted.root ?? id,
      parentCall: wanted.parentCall ?? null,
      retryOf: wanted.retryOf ?? null,
      nesting: wanted.nesting ?? 0,
      afterRun: wanted.afterRun ?? null,
      step: wanted.step ?? 0,
      rung: 0,
      fence: 0,
      owner: null,
      resumed: 0,
      readyAt: wanted.readyAt ?? now,
      attempts: 0,
      limits: JSON.stringify(wanted.limits),
      tokensIn: 0,
      tokensOut: 0,
      costMicros: 0,
      busyMs: 0,
      waits: 0,
      correlationId: (yield* currentCause).correlationId,
      createdAt: yield* iso,
      startedAt: null,
      endedAt: null,
      config: wanted.config === undefined ? null : JSON.stringify(wanted.config),
      payer: wanted.payer === wanted.agent ? null : (wanted.payer ?? null),
      causer: wanted.causer,
      tree: wanted.tree ?? (yield* treeOf(wanted.agent)),
      reservedTokens: 0,
      reservedMicros: 0,
    }
    return row
  })
  const queued = (row: RunRow) => ({ kind: "run.queued", body: { ...about(row), trigger: row.triggerKind } }) as const

  const enqueue = Effect.fnUntraced(function* (wanted: NewRun) {
    const row = yield* newRow(wanted)
    yield* Effect.orDie(sql`INSERT INTO runs ${sql.insert({ ...row })}`)
    yield* journal.append(queued(row))
    return row
  })

  /**
   * The same for a trigger that comes once and is answered when it is on disk: written in a batch. If this house has
   * room for the run, its claim is written with it.
   */
  const start = Effect.fnUntraced(function* (wanted: NewRun, trigger: TriggerRow, owner: string | null) {
    const fresh = yield* newRow(wanted)
    const row = owner === null ? fresh : claimed(fresh, owner, fresh.createdAt)
    const { actor, correlationId, provenance } = yield* currentCause
    const event = { ...queued(row), at: row.createdAt, actor, correlationId, provenance }
    yield* together.start({ row, trigger, events: owner === null ? [event] : [event, started(row, row.createdAt)] })
    return row
  })

  /** A row as the claiming house writes it. */
  const claimed = (row: RunRow, owner: string, at: string): RunRow => ({
    ...row,
    state: to("claim"),
    owner,
    fence: row.fence + 1,
    startedAt: row.startedAt ?? at,
  })
  const started = (row: RunRow, at: string): CausedEvent => ({
    kind: "run.started",
    ...inSpace(row),
    body: about(row),
    at,
    actor: row.agent,
    provenance: "agent",
    correlationId: row.correlationId,
  })

  /** Whether it is new: a source wakes an agent once. */
  const trigger = (row: TriggerRow) =>
    Effect.map(
      Effect.orDie(sql`INSERT INTO triggers ${sql.insert({ ...row })} ON CONFLICT DO NOTHING RETURNING source`),
      (rows) => rows.length > 0,
    )

  const accounts = makeAccounts(sql)
  /** What was spent today: by an agent, at whose request, and by whom it was woken. */
  const spendToday = Effect.fnUntraced(function* (row: Payers, spent: Omit<Usage, "busyMs">) {
    const rows = accountsOf((yield* iso).slice(0, 10), [{ row, spent }])
    if (rows.length === 0) return
    yield* sql.afterCommit(hasSpent(sql))
    for (const one of rows) yield* accounts.run([one])
  }, Effect.orDie)

  const together = yield* makeTogether

  const tell = (rows: ReadonlyArray<PromptRow>) =>
    rows.length === 0
      ? Effect.void
      : Effect.orDie(
          sql`INSERT INTO run_messages ${sql.insert(rows.map((row) => ({ ...row })) as never)} ON CONFLICT DO NOTHING`,
        )

  /** Ends a run that this house works on; false if it no longer does. */
  const writeEnd = Effect.fnUntraced(function* (row: RunRow, { failure, stop }: RunEnd, busyMs: number) {
    const change = endOf[stop]
    const said = failure === null ? null : failure.slice(0, 2000)
    const ended = yield* Effect.orDie(sql`UPDATE runs SET state = ${to(change)}, stop = ${stop}, failure = ${said},
      ended_at = ${yield* iso}, owner = NULL, busy_ms = busy_ms + ${busyMs}
      WHERE id = ${row.id} AND fence = ${row.fence} AND ${inState(sql, from("advance"))} RETURNING id`)
    if (ended.length === 0) return false
    yield* journal.append({
      kind: "run.ended",
      ...inSpace(row),
      body: { ...about(row), state: to(change), stop, failure: said },
    })
    return true
  })

  /** Writes a step, and the end of the run if the step asked for no calls. False: the run is no longer ours. */
  const step = (
    row: RunRow,
    taken: StepRow,
    promptRows: ReadonlyArray<PromptRow>,
    calls: number,
    spent: Usage,
    end: RunEnd | undefined,
    /** Run in the same transaction. */
    also: ReadonlyArray<Effect.Effect<void, never, Transaction>>,
  ) =>
    also.length === 0
      ? together.step({ row, step: taken, promptRows, calls, spent, end })
      : because(
          row,
          journal.transact(
            Effect.gen(function* () {
              const moved = yield* Effect.orDie(sql`UPDATE runs SET step = ${taken.number}, attempts = 0,
            tokens_in = tokens_in + ${spent.tokensIn}, tokens_out = tokens_out + ${spent.tokensOut},
            cost_micros = cost_micros + ${spent.costMicros}, busy_ms = busy_ms + ${spent.busyMs},
            reserved_tokens = 0, reserved_micros = 0
            WHERE id = ${row.id} AND fence = ${row.fence} AND ${inState(sql, from("advance"))} RETURNING id`)
              if (moved.length === 0) return false
              yield* tell(promptRows)
              yield* Effect.orDie(sql`INSERT INTO steps ${sql.insert({ ...taken })}`)
              yield* spendToday(row, spent)
              yield* journal.append({ kind: "run.stepped", body: { ...about(row), step: taken.number, calls } })
              for (const one of also) yield* one
              return end === undefined ? true : yield* writeEnd(row, end, 0)
            }),
          ),
        )

  const end = (row: RunRow, ended: RunEnd, promptRows: ReadonlyArray<PromptRow>, busyMs: number) =>
    because(
      row,
      journal.transact(
        Effect.gen(function* () {
          const written = yield* writeEnd(row, ended, busyMs)
          if (written) yield* tell(promptRows)
          return written
        }),
      ),
    )

  /** Parks the run, unless it was rung since it was read; false then, or if it is no longer ours. */
  const park = (row: RunRow, on: "parkTool" | "parkReply", seen: number, busyMs: number) =>
    because(
      row,
      journal.transact(
        Effect.gen(function* () {
          const parked = yield* Effect.orDie(sql`UPDATE runs SET state = ${to(on)}, owner = NULL, attempts = 0,
            busy_ms = busy_ms + ${busyMs} WHERE id = ${row.id} AND fence = ${row.fence} AND rung = ${seen}
            AND ${inState(sql, from(on))} RETURNING id`)
          if (parked.length === 0) return false
          yield* journal.append({ kind: "run.waiting", ...inSpace(row), body: { ...about(row), state: to(on) } })
          return true
        }),
      ),
    )

  /** A call of a parked run waits for a reply now: the run too, if it waits for nothing else. */
  const awaitReply = Effect.fnUntraced(function* (id: string) {
    const rows = yield* Effect.orDie(sql<RunRow>`UPDATE runs SET state = ${to("awaitReply")} WHERE id = ${id}
      AND ${inState(sql, from("awaitReply"))} AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run = runs.id
        AND ${isOpenCall(sql, "c")} AND (c.on_kind IS NULL OR c.on_kind <> 'reply'))
      RETURNING *`)
    for (const row of rows)
      yield* because(
        row,
        journal.append({ kind: "run.waiting", ...inSpace(row), body: { ...about(row), state: to("awaitReply") } }),
      )
  })

  /**
   * What some runs waited for has come: those of which nothing is open any more wait for their turn; a single one that finds a
   * slot has it.
   */
  const ring = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, takeSlot?: TakeSlot) {
    if (ids.length === 0) return
    // The bell first: a run that parks at this moment finds another number, or has parked before this continues.
    const rung = yield* Effect.orDie(
      sql<RunRow>`UPDATE runs SET rung = rung + 1 WHERE ${sql.in("id", ids)} AND ${inState(sql, open)} RETURNING *`,
    )
    const waiting = rung.filter(({ state }) => from("ring").includes(state))
    if (waiting.length === 0) return
    const slot = waiting.length === 1 && takeSlot !== undefined ? yield* takeSlot(waiting[0]!) : undefined
    const by = slot === undefined ? "ring" : "takeSlot"
    // wall clock: a moment that is stored.
    const now = yield* Clock.currentTimeMillis
    const resumed = yield* Effect.orDie(
      sql<RunRow>`UPDATE runs SET state = ${to(by)}, resumed = 1, ready_at = ${now},
        owner = ${slot?.owner ?? null}, fence = fence + ${slot === undefined ? 0 : 1}
        WHERE ${sql.in(
          "id",
          waiting.map(({ id }) => id),
        )} AND ${inState(sql, from(by))} AND NOT EXISTS (SELECT 1 FROM calls c
          WHERE c.run = runs.id AND ${isOpenCall(sql, "c")})
          AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.run = runs.id AND w.call = '' AND w.state = 'open')
          RETURNING *`,
    )
    for (const row of resumed)
      yield* because(row, journal.append({ kind: "run.resumed", ...inSpace(row), body: about(row) }))
    if (slot !== undefined) yield* slot.use(resumed[0])
  })

  /**
   * Ends a run from outside, in any state: its fence rises, so that the process that works on it writes nothing more.
   */
  const stop = Effect.fnUntraced(function* (id: string, { failure, stop: why }: RunEnd) {
    const change = endOf[why]
    const rows = yield* Effect.orDie(sql<RunRow>`UPDATE runs SET state = ${to(change)}, stop = ${why},
      failure = ${failure}, ended_at = ${yield* iso}, owner = NULL, fence = fence + 1
      WHERE id = ${id} AND ${inState(sql, from(change))} RETURNING *`)
    const row = rows[0]
    if (row === undefined) return undefined
    yield* journal.append({
      kind: "run.ended",
      ...inSpace(row),
      body: { ...about(row), state: to(change), stop: why, failure },
    })
    return row
  })

  return {
    spendToday,
    byId,
    triggersOf,
    enqueue,
    start,
    claimed,
    started,
    trigger,
    step,
    end,
    park,
    awaitReply,
    ring,
    stop,
    because,
    about,
  }
})

export type RunRecorder = Effect.Success<typeof makeRunRecorder>
