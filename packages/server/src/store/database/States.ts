/** Rows in some states. */
import type { SqlClient, Statement } from "effect/sql"

/** States written out: where they are parameters, Postgres does not use an index that is of some states only. */
export const inState = (sql: SqlClient.SqlClient, states: ReadonlyArray<string>): Statement.Fragment =>
  sql.literal(`state IN (${states.map((state) => `'${state}'`).join(", ")})`)
