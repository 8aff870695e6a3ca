/** What somebody wrote, however much others have written: an agent's activity is read by its author. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX messages_author ON messages (author, space)`
})
