/** Rows in some states. */
import type { SqlClient, Statement } from "effect/sql"

/**
 * The states are literals: with parameters, Postgres does not use a partial index on some states. SQLite uses one only
 * if the query lists the states exactly as the index does: filter by those first, and then by fewer.
 */
export const inState = (
  sql: SqlClient.SqlClient,
  states: ReadonlyArray<string>,
  table?: string,
): Statement.Fragment => {
  const column = table === undefined ? "state" : `${table}.state`
  const [first, ...others] = states.map((state) => `'${state}'`)
  return sql.literal(others.length === 0 ? `${column} = ${first}` : `${column} IN (${[first, ...others].join(", ")})`)
}
