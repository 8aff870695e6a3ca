/**
 * Claims the next runs. A slot is a run in `running`; a mailbox may have as many at once as its width. Slots are shared
 * evenly by those who wait for them: whoever has woken runs, then owners, then trees of agents, then mailboxes; then
 * resumed runs come before new ones, since somebody waits for them, then the oldest. One run per mailbox and pass.
 */
import type { RunId } from "@stoa/contract"
import { Clock, DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { usePermits } from "../../access/identity/Agents.ts"
import { isPausedAgent } from "../../access/limits/Pauses.ts"
import { lockName } from "../../store/database/dialect/Locks.ts"
import { Holder, isGone, SharedDatabase } from "../../store/leases/Holder.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { Notices } from "../../store/journal/signals/Notices.ts"
import { from, to } from "../record/lifecycle.ts"
import type { RunRecorder } from "../record/record.ts"
import type { RunRow } from "../record/rows.ts"
import { inState } from "../../store/database/dialect/States.ts"

/**
 * If several houses share the database, a house holds this lock while it counts free slots and takes them: two at once
 * would take the same slot twice.
 */
const slotsLock = "runs"

export const makeClaim = Effect.fnUntraced(function* (record: RunRecorder, slots: number) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const notices = yield* Notices
  const holder = yield* Holder
  const me = holder.id
  const isShared = yield* SharedDatabase

  /** Whom a run is counted with: whoever woke it, the owner of its tree of agents, and the tree. */
  const tree = (run: string) => sql`COALESCE(${sql.literal(run)}.tree, ${sql.literal(run)}.agent)`
  const causer = (run: string) => sql`COALESCE(${sql.literal(run)}.causer, ${tree(run)})`
  const owner = (run: string) => sql`COALESCE((SELECT owner FROM principals t WHERE t.id = ${tree(run)}), ${tree(run)})`
  const parties = (run: string) => sql`${causer(run)} AS causer, ${owner(run)} AS owner, ${tree(run)} AS tree`

  /** The first run of each mailbox that has room. */
  const heads = (now: number) => sql`SELECT * FROM (SELECT r.id, r.resumed, r.ready_at, r.width, ${parties("r")},
      (SELECT count(*) FROM runs x WHERE x.mailbox = r.mailbox AND x.state = 'running') AS busy,
      row_number() OVER (PARTITION BY r.mailbox ORDER BY r.resumed DESC, r.ready_at, r.id) AS place
    FROM runs r WHERE r.state = 'queued' AND r.ready_at <= ${now}
      AND NOT ${isPausedAgent(sql, "r.agent")}
      AND NOT EXISTS (SELECT 1 FROM agents g WHERE g.principal = r.agent AND g.gate = 'held')
      AND (r.after_run IS NULL OR NOT EXISTS (SELECT 1 FROM runs b WHERE b.id = r.after_run AND b.state IN ('queued', 'running')))
    ) AS placed WHERE place = 1 AND busy < width`

  /**
   * A turn is the number of slots that a party would hold with this run and those before it. Whoever holds the fewest
   * is next: first among those who wake agents, then among the owners of what they wake, then among trees. Nobody has
   * more turns than there are slots.
   */
  const turns = (now: number) => sql`WITH heads AS (SELECT id, resumed, ready_at, causer, owner, tree, busy, 0 AS works
      FROM (${heads(now)}) AS waiting
      UNION ALL SELECT r.id, 0, 0, ${parties("r")}, 0, 1 FROM runs r WHERE r.state = 'running'),
    by_tree AS (SELECT *, row_number() OVER (PARTITION BY causer, owner, tree
      ORDER BY works DESC, busy, resumed DESC, ready_at, id) AS tree_turn FROM heads),
    by_owner AS (SELECT *, row_number() OVER (PARTITION BY causer, owner
      ORDER BY works DESC, tree_turn, busy, resumed DESC, ready_at, id) AS owner_turn
      FROM by_tree WHERE tree_turn <= ${slots})
    SELECT *, row_number() OVER (PARTITION BY causer
      ORDER BY works DESC, owner_turn, tree_turn, busy, resumed DESC, ready_at, id) AS causer_turn
      FROM by_owner WHERE owner_turn <= ${slots}`

  // Skips locked rows, never waiting while it holds others: they are claimed in the next pass.
  const unlocked = sql.onDialectOrElse({
    pg: () => sql`ORDER BY runs.id FOR UPDATE SKIP LOCKED`,
    orElse: () => sql``,
  })

  /**
   * How many more runs this house may take: each house has its share of all slots, so that one does not take them all.
   */
  const room = Effect.fnUntraced(function* (working: number) {
    const share = Math.ceil(slots / holder.houses()) - working
    if (!isShared || share <= 0) return share
    // A separate statement before counting: a single statement would count what was there before it had the lock.
    yield* lockName(sql, slotsLock, "slots")
    const rows = yield* sql<{ busy: number; known: boolean }>`SELECT count(*) AS busy,
      EXISTS (SELECT 1 FROM holders WHERE id = ${me}) AS known FROM runs WHERE state = 'running'`
    // A house that others consider dead takes nothing: it would be taken over at once.
    return rows[0]!.known ? Math.min(share, slots - rows[0]!.busy) : 0
  }, Effect.orDie)

  const chosen = (now: number, most: number) => sql`SELECT id FROM (${turns(now)}) AS next WHERE works = 0
    ORDER BY causer_turn, owner_turn, tree_turn, busy, resumed DESC, ready_at, id LIMIT ${most}`
  const gate = sql`(SELECT gate FROM agents g WHERE g.principal = runs.agent) AS gate`
  type Candidate = RunRow & { readonly gate: string | null }

  const canTakeAtOnce = sql.onDialectOrElse({ pg: () => !isShared, orElse: () => false })
  const states = from("claim")
    .map((state) => `'${state}'`)
    .join(", ")
  /** Like the steps in `together.ts`: skips locked rows, and looks up the ids in the index. */
  const take = `UPDATE runs SET state = '${to("claim")}', owner = value->>2, fence = fence + 1,
    started_at = COALESCE(started_at, value->>3) FROM jsonb_array_elements($1::jsonb) AS taken(value)
    WHERE runs.id = value->>0 AND fence = (value->>1)::bigint AND state IN (${states})
    AND runs.id = ANY(ARRAY(SELECT id FROM runs WHERE id = ANY(ARRAY(
      SELECT value->>0 FROM jsonb_array_elements($1::jsonb) AS asked(value))) FOR UPDATE SKIP LOCKED)) RETURNING id`
  /**
   * If nobody else claims: reads the runs, then takes them with their events in one statement, each under the fence
   * that was read. Undefined: one of them changed meanwhile, or a permit is used up; then a transaction is needed.
   */
  const takeAlone = Effect.fnUntraced(function* (working: number, now: number, at: string) {
    if (!canTakeAtOnce) return undefined
    if (working >= slots) return []
    const rows = yield* Effect.orDie(
      sql<Candidate>`SELECT runs.*, ${gate} FROM runs WHERE id IN (${chosen(now, slots - working)})`,
    )
    if (rows.length === 0) return rows
    if (rows.some(({ gate: of }) => of === "permitted")) return undefined
    const values = JSON.stringify(rows.map(({ fence, id }) => [id, fence, me, at]))
    const taken = rows.map((row) => record.claimed(row, me, at))
    const update = { sql: take, rows: values, expects: rows.length }
    const events = taken.filter(({ fence }) => fence === 1).map((row) => record.started(row, at))
    if (events.length > 0) return (yield* journal.moveTogether(update, [], events)) ? taken : undefined
    const had = new Set(
      (yield* Effect.orDie(sql.unsafe<{ readonly id: string }>(update.sql, [values]))).map(({ id }) => id),
    )
    return taken.filter(({ id }) => had.has(id))
  })

  /** Claims the next runs, if there is room; from now on they belong to this house. */
  const claim = Effect.fnUntraced(function* (working: number) {
    // wall clock: moments that are stored.
    const moment = Effect.map(Clock.currentTimeMillis, (now) => ({
      now,
      iso: DateTime.formatIso(DateTime.makeUnsafe(now)),
    }))
    const before = yield* moment
    const taken = yield* takeAlone(working, before.now, before.iso)
    if (taken !== undefined) return taken
    return yield* journal.transact(
      Effect.gen(function* () {
        const most = yield* room(working)
        if (most <= 0) return []
        // Once it may write: a run that ended while it waited for that ended before this one begins.
        const { iso, now } = yield* moment
        const rows = yield* Effect.orDie(sql<Candidate>`UPDATE runs SET state = ${to("claim")}, owner = ${me},
          fence = fence + 1, started_at = COALESCE(started_at, ${iso}) WHERE id IN (
            SELECT id FROM runs WHERE ${inState(sql, from("claim"))} AND id IN (${chosen(now, most)}) ${unlocked})
          RETURNING *, ${gate}`)
        // A permit lets one run through (G-14).
        if (rows.some(({ gate: of }) => of === "permitted"))
          yield* usePermits(
            sql,
            rows.map(({ agent }) => agent),
          )
        yield* journal.appendAll(rows.filter(({ fence }) => fence === 1).map((row) => record.started(row, iso)))
        return rows
      }),
    )
  })

  /**
   * Takes over the runs of dead houses under a new fence. One by one, because others may ring several at this moment.
   */
  const recover = Effect.gen(function* () {
    // Sorted here: sorted by id, SQLite would read every run.
    const left = (yield* sql<{ id: string; fence: number }>`SELECT id, fence FROM runs
      WHERE ${inState(sql, from("recover"))} AND ${isGone(sql, "owner")}`).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const rows: Array<RunRow> = []
    for (const { fence, id } of left)
      rows.push(
        // If several houses see it, one gets it.
        ...(yield* sql<RunRow>`UPDATE runs SET owner = ${me}, fence = fence + 1, attempts = attempts + 1,
            reserved_tokens = 0, reserved_micros = 0 WHERE id = ${id} AND fence = ${fence} AND ${inState(sql, from("recover"))} RETURNING *`),
      )
    return rows
  }).pipe(Effect.orDie)

  /** Whether any run is due, and when the next one will be. */
  const ahead = Effect.fnUntraced(function* () {
    // wall clock: moments that are stored.
    const now = yield* Clock.currentTimeMillis
    const rows = yield* Effect.orDie(
      sql<{ due: number | null; at: number | null }>`SELECT
        min(ready_at) AS due, min(CASE WHEN ready_at > ${now} THEN ready_at END) AS at FROM runs WHERE state = 'queued'`,
    )
    const { at, due } = rows[0] ?? { at: null, due: null }
    return { isDue: due !== null && due <= now, nextMs: at === null ? undefined : Math.max(1, at - now) }
  })

  /** Another house continues it; houses are notified at once. */
  const handBack = Effect.fnUntraced(function* (row: RunRow, afterMs = 0) {
    // wall clock: a moment that is stored.
    const now = yield* Clock.currentTimeMillis
    yield* sql`UPDATE runs SET state = ${to("handBack")}, owner = NULL, resumed = 1, ready_at = ${now + afterMs},
      reserved_tokens = 0, reserved_micros = 0
      WHERE id = ${row.id} AND fence = ${row.fence} AND ${inState(sql, from("handBack"))}`
    yield* notices.send("journal")
  }, Effect.orDie)

  /**
   * The runs of this house that hold a slot which is another's share: somebody is due who would hold fewer slots with
   * it than this run's party holds now.
   */
  const crowding = Effect.gen(function* () {
    // wall clock: compared with moments that are stored.
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sql<{ id: RunId }>`WITH turns AS (${turns(now)}),
      held AS (SELECT id, causer, owner, tree, count(*) OVER (PARTITION BY causer) AS of_causer,
        count(*) OVER (PARTITION BY causer, owner) AS of_owner,
        count(*) OVER (PARTITION BY causer, owner, tree) AS of_tree FROM turns WHERE works = 1),
      due AS (SELECT * FROM turns WHERE works = 0 ORDER BY causer_turn, owner_turn, tree_turn LIMIT ${slots})
      SELECT DISTINCT held.id FROM held JOIN due ON CASE
        WHEN due.causer <> held.causer THEN due.causer_turn < of_causer
        WHEN due.owner <> held.owner THEN due.owner_turn < of_owner
        WHEN due.tree <> held.tree THEN due.tree_turn < of_tree ELSE 1 = 0 END`
    return new Set(rows.map(({ id }) => id))
  }).pipe(Effect.orDie)

  /** The runs of this house, by their rows. */
  const mine = Effect.orDie(sql<RunRow>`SELECT * FROM runs WHERE state = 'running' AND owner = ${me}`)

  /** No other house claims. */
  const isAlone = sql.onDialectOrElse({ pg: () => !isShared, orElse: () => true })

  return { ahead, claim, crowding, isAlone, mine, recover, handBack }
})
