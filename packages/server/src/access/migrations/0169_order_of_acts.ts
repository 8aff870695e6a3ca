/**
 * After which event of the journal somebody became an admin or a member, was given a token or a wallet, and a question
 * was asked. Which of two acts came first was told by wall clocks before, and of these every house has its own.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const end = sql`(SELECT COALESCE(max(cursor), 0) FROM (SELECT max(cursor) AS cursor FROM journal
    UNION ALL SELECT cursor FROM journal_floor) AS ends)`
  // What is there already came before every later question. Of questions that are open it is not known any more: what is
  // younger than the oldest of them counts as younger than all.
  const oldest = sql`(SELECT min(asked_at) FROM decisions WHERE state NOT IN ('answered', 'expired', 'canceled'))`
  const placed = (table: string, column: string, time: string) =>
    sql`UPDATE ${sql(table)} SET ${sql(column)} = CASE WHEN ${sql(time)} > ${oldest} THEN ${end} ELSE -1 END
      WHERE ${sql(time)} IS NOT NULL`
  for (const [table, column, time] of [
    ["members", "joined_after", "joined_at"],
    ["principals", "admin_after", "admin_since"],
    ["principals", "wallet_after", "wallet_since"],
    ["tokens", "hand_after", "hand_since"],
    ["decisions", "asked_after", "asked_at"],
  ] as const) {
    yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN ${sql(column)} BIGINT`
    yield* table === "decisions" ? sql`UPDATE decisions SET asked_after = ${end}` : placed(table, column, time)
  }
})
