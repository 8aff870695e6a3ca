/**
 * A browser's session is a separate token that was made from another and ends with it. `hand`: who a credential
 * originally came from, and since when. A token made from a token, or through a wallet that somebody else gave, still
 * counts as theirs.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tokens ADD COLUMN parent TEXT`
  yield* sql`ALTER TABLE tokens ADD COLUMN hand TEXT`
  yield* sql`ALTER TABLE tokens ADD COLUMN hand_since TEXT`
  yield* sql`UPDATE tokens SET hand = issued_by, hand_since = created_at`
  yield* sql`ALTER TABLE principals ADD COLUMN wallet_by TEXT`
  yield* sql`ALTER TABLE principals ADD COLUMN wallet_since TEXT`
  yield* sql`CREATE INDEX tokens_parent ON tokens (parent) WHERE parent IS NOT NULL`
})
