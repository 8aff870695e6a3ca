/** One principal per wallet, and the challenges that must be signed to prove that one has a wallet. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE principals ADD COLUMN wallet_key TEXT`
  // If several principals had the same wallet, the first one keeps it.
  yield* sql`UPDATE principals SET wallet_key = CASE WHEN lower(wallet) LIKE '0x%' THEN lower(wallet) ELSE wallet END
    WHERE wallet IS NOT NULL AND retired_at IS NULL AND id = (
      SELECT p.id FROM principals p WHERE p.retired_at IS NULL AND lower(p.wallet) = lower(principals.wallet)
      ORDER BY p.created_at, p.id LIMIT 1)`
  yield* sql`CREATE UNIQUE INDEX principals_wallet ON principals (wallet_key) WHERE wallet_key IS NOT NULL`
  yield* sql`CREATE TABLE wallet_challenges (
    id TEXT PRIMARY KEY,
    wallet TEXT NOT NULL,
    network TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at TEXT
  )`
  yield* sql`CREATE INDEX wallet_challenges_network ON wallet_challenges (network, created_at)`
  yield* sql`CREATE INDEX wallet_challenges_expiry ON wallet_challenges (expires_at)`
})
