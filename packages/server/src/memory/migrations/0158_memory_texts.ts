/**
 * The text of earlier versions, each once per record: a version names it by its digest, and the newest text is in the
 * record itself. Versions from before have no digest and keep their own copy, so nothing large is rewritten here.
 * `memory_records.bytes`: what the record counts for its owner; null until it is counted (`upkeep/MemoryUpkeep.ts`).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint } = yield* columnTypes
  yield* sql`CREATE TABLE memory_texts (
    record TEXT NOT NULL REFERENCES memory_records (id),
    digest TEXT NOT NULL,
    content TEXT NOT NULL,
    bytes ${bigint} NOT NULL,
    PRIMARY KEY (record, digest)
  )`
  yield* sql`ALTER TABLE memory_versions ADD COLUMN digest TEXT`
  yield* sql`ALTER TABLE memory_records ADD COLUMN bytes ${bigint}`
})
