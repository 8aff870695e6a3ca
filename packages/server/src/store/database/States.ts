/** Rows in some states. */
import type { SqlClient, Statement } from "effect/sql"

/**
 * States written out: where they are parameters, Postgres does not use an index that is of some states only. SQLite uses one
 * only where its states stand as they do in the index: ask for those first, and then for fewer.
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
