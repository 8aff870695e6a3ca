/** What was sealed for a client and came back: each is taken once, by whichever process is first. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE used_states (id TEXT PRIMARY KEY, until TEXT NOT NULL)`
  yield* sql`CREATE INDEX used_states_until ON used_states (until)`
  yield* sql`CREATE INDEX wallet_challenges_wallet ON wallet_challenges (wallet, network)`
})
