/** The meaning of texts, as vectors of an embedding model: beside the index of their words, and removed with it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes } = yield* columnTypes
  // One row per passage, in whichever scopes it is found. `digest`: of the text it was made from. No bytes: the model
  // refused the text.
  yield* sql`CREATE TABLE search_vectors (
    ref TEXT NOT NULL,
    part INTEGER NOT NULL,
    model TEXT NOT NULL,
    digest TEXT NOT NULL,
    v ${bytes} NOT NULL,
    PRIMARY KEY (ref, part)
  )`
  yield* sql`CREATE INDEX search_index_newest ON search_index (scope, seq)`
})
