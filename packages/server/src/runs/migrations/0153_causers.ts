/**
 * Who has woken a run, what that has cost whom, what a step under way may still cost, and the tree of agents that a run
 * shares its slots with.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint } = yield* columnTypes
  yield* sql`ALTER TABLE triggers ADD COLUMN causer TEXT`
  yield* sql`ALTER TABLE runs ADD COLUMN causer TEXT`
  yield* sql`ALTER TABLE runs ADD COLUMN tree TEXT`
  yield* sql`ALTER TABLE runs ADD COLUMN reserved_tokens ${bigint} NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE runs ADD COLUMN reserved_micros ${bigint} NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE spend ADD COLUMN woken_tokens ${bigint} NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE spend ADD COLUMN woken_micros ${bigint} NOT NULL DEFAULT 0`
  // Those of before this version: their agents have a tree of one, and nobody who woke them is known.
  yield* sql`UPDATE runs SET tree = agent WHERE ended_at IS NULL`
})
