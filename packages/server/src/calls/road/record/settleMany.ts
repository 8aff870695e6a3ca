/**
 * Settles many calls of this process with one guarded UPDATE from one JSON text: all of them or none, or, in a
 * transaction, those that are still unsettled.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Journal } from "../../../store/journal/Journal.ts"
import { from } from "./lifecycle.ts"
import type { CallRow } from "./rows.ts"

const columns = ["id", "state", "output", "meta", "error", "settledAt"] as const

/** The states from which a handler may both finish and fail; of these, only a running call has an owner. */
const states = from("finish")
  .filter((state) => from("fail").includes(state))
  .map((state) => `'${state}'`)

const update = (
  rows: string,
  state: string,
  and = "",
): string => `UPDATE calls SET state = value->>1, output = value->>2, meta = value->>3,
  error = value->>4, settled_at = value->>5, owner = NULL FROM ${rows}
  WHERE calls.id = value->>0 AND ${state} IN (${states.join(", ")}) AND owner = value->>6${and} RETURNING id`
// The plus keeps SQLite from using the index on the state, which would read every waiting call.
const onSqlite = update("json_each(?)", "+calls.state")
// The ids are also passed as one array, which uses the index: joined with a list of unknown length, the whole table
// would be read.
const onPostgres = update(
  "jsonb_array_elements($1::jsonb) AS ends(value)",
  "calls.state",
  " AND calls.id = ANY(ARRAY(SELECT value->>0 FROM jsonb_array_elements($1::jsonb) AS asked(value)))",
)

export const makeSettleMany = (sql: SqlClient.SqlClient, owner: string) => {
  const statement = sql.onDialectOrElse({ pg: () => onPostgres, orElse: () => onSqlite })
  const textOf = (rows: ReadonlyArray<CallRow>): string =>
    JSON.stringify(rows.map((row) => [...columns.map((column) => row[column]), owner]))
  return {
    /** All of them or none. */
    settleAll: (rows: ReadonlyArray<CallRow>): Parameters<Journal["Service"]["moveTogether"]>[0] => ({
      sql: statement,
      rows: textOf(rows),
      expects: rows.length,
    }),
    /** Returns the ids of those that were still running; the others were settled elsewhere. */
    settleSome: (rows: ReadonlyArray<CallRow>): Effect.Effect<ReadonlySet<string>, SqlError.SqlError> =>
      Effect.map(
        sql.unsafe<{ readonly id: string }>(statement, [textOf(rows)]),
        (found) => new Set(found.map(({ id }) => id)),
      ),
  }
}
