/** How much each principal stores, changed in the transaction that stores it; and the agents of an owner, who share. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint } = yield* columnTypes
  yield* sql`CREATE TABLE storage (principal TEXT PRIMARY KEY REFERENCES principals (id), bytes ${bigint} NOT NULL)`
  yield* sql`CREATE INDEX principals_owner ON principals (owner) WHERE owner IS NOT NULL`
})
