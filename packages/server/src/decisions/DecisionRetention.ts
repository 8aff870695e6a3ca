/** Decisions that are closed and past their days go, but none that is open, whose subject is still there, or on which an approval stands. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** So many are looked at in one transaction, so that the writer is never held for long. */
const atOnce = 200

interface Walked {
  readonly id: string
  readonly call: string | null
  readonly state: string
  readonly createdAt: string
  readonly closedAt: string
}

/**
 * Removes what was closed before a moment, and says how many. `stillThere` is the word of whoever asked: which of these
 * calls it still knows. A decision stays as long as what it was about.
 */
export const makeDecisionRetention = Effect.map(SqlClient.SqlClient, (sql) => {
  const drop = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, before: string) {
    yield* sql`DELETE FROM approvals WHERE ${sql.in("decision", ids)} AND revoked_at < ${before}`
    const kept = yield* sql<{ decision: string }>`SELECT decision FROM approvals WHERE ${sql.in("decision", ids)}`
    const standing = new Set(kept.map((row) => row.decision))
    const gone = ids.filter((id) => !standing.has(id))
    if (gone.length === 0) return 0
    yield* sql`DELETE FROM decision_approvals WHERE ${sql.in("decision", gone)}`
    return (yield* sql`DELETE FROM decisions WHERE ${sql.in("id", gone)} AND state <> 'open' RETURNING id`).length
  }, sql.withTransaction)

  return Effect.fn("DecisionRetention.remove")(function* (
    before: string,
    stillThere: (calls: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>,
  ) {
    let after = ""
    let removed = 0
    while (true) {
      // An unanswered one was closed when it expired at the latest.
      const rows = yield* sql<Walked>`SELECT id, call, state, created_at, coalesce(answered_at, expires_at) AS closed_at
        FROM decisions WHERE id > ${after} ORDER BY id LIMIT ${atOnce}`
      // Ids are given in order: behind a whole step of young ones there are no old ones.
      if (rows.every((row) => row.createdAt >= before)) return removed
      const past = rows.filter((row) => row.state !== "open" && row.closedAt < before)
      const there = yield* stillThere(past.flatMap(({ call }) => (call === null ? [] : [call])))
      const ids = past.filter(({ call }) => call === null || !there.has(call)).map(({ id }) => id)
      if (ids.length > 0) removed += yield* drop(ids, before)
      after = rows.at(-1)!.id
    }
  }, Effect.orDie)
})
