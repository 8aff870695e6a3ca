/**
 * Removes expired closed decisions, except those whose subject still exists or on which a standing approval is based.
 */
import type { CallId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { withinADay } from "../store/Moment.ts"

/** How many are read in one transaction, so that the writer is never held for long. */
const atOnce = 200

type StillThere = (calls: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>

interface Walked {
  readonly id: string
  readonly call: string | null
  readonly state: string
  readonly createdAt: string
  readonly closedAt: string
}

/**
 * Removes decisions closed before a moment, one day at most, and returns how many. `stillThere` is provided by the room
 * that asked: which of these calls still exist. A decision is kept as long as its subject.
 */
export const makeDecisionRetention = Effect.map(SqlClient.SqlClient, (sql) => {
  /** Of the expired ones, those without a standing approval. */
  const unapproved = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, term: string) {
    const kept = yield* sql<{ decision: string }>`SELECT decision FROM approvals
      WHERE ${sql.in("decision", ids)} AND (revoked_at IS NULL OR revoked_at >= ${term})`
    const standing = new Set(kept.map((row) => row.decision))
    return ids.filter((id) => !standing.has(id))
  })

  const drop = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, term: string) {
    yield* sql`DELETE FROM approvals WHERE ${sql.in("decision", ids)} AND revoked_at < ${term}`
    const gone = yield* unapproved(ids, term)
    if (gone.length === 0) return 0
    yield* sql`DELETE FROM decision_approvals WHERE ${sql.in("decision", gone)}`
    yield* sql`DELETE FROM decision_voters WHERE ${sql.in("decision", gone)}`
    return (yield* sql`DELETE FROM decisions WHERE ${sql.in("id", gone)} AND state <> 'open' RETURNING id`).length
  }, sql.withTransaction)

  const walk = Effect.fnUntraced(function* <E>(
    before: string,
    stillThere: StillThere,
    visit: (past: ReadonlyArray<Walked>) => Effect.Effect<void, E>,
  ) {
    let after = ""
    while (true) {
      // An unanswered decision was closed when it expired at the latest.
      const rows = yield* sql<Walked>`SELECT id, call, state, created_at, coalesce(answered_at, expires_at) AS closed_at
        FROM decisions WHERE id > ${after} ORDER BY id LIMIT ${atOnce}`
      // Ids are in order of time: after a whole step of young ones there are no old ones.
      if (rows.every((row) => row.createdAt >= before)) return
      const closed = rows.filter((row) => row.state !== "open" && row.closedAt < before)
      const there = yield* stillThere(closed.flatMap(({ call }) => (call === null ? [] : [call])))
      const past = closed.filter(({ call }) => call === null || !there.has(call))
      if (past.length > 0) yield* visit(past)
      after = rows.at(-1)!.id
    }
  })

  return Effect.fn("DecisionRetention.remove")(function* (term: string, stillThere: StillThere) {
    let oldest: string | undefined
    yield* walk(
      term,
      stillThere,
      Effect.fnUntraced(function* (past) {
        const ids = past.map(({ id }) => id)
        const going = new Set(yield* unapproved(ids, term))
        for (const { closedAt, id } of past)
          if (going.has(id) && (oldest === undefined || closedAt < oldest)) oldest = closedAt
      }),
    )
    if (oldest === undefined) return 0
    const before = withinADay(oldest, term)
    let removed = 0
    const ids = (past: ReadonlyArray<Walked>) => past.map(({ id }) => id)
    yield* walk(before, stillThere, (past) =>
      Effect.map(drop(ids(past), term), (count) => {
        removed += count
      }),
    )
    return removed
  }, Effect.orDie)
})

/** Questions about these calls repeat their inputs: that they were asked, and the answers, are kept. */
export const eraseInputs = (sql: SqlClient.SqlClient, calls: ReadonlyArray<CallId>, instead: string) =>
  sql`UPDATE decisions SET input = ${instead}, value = NULL, note = NULL
    WHERE ${sql.in("call", calls)} AND answered_at IS NOT NULL`
