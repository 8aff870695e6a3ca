/** What rooms above read of calls besides the service. */
import type { CallId, PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { inState } from "../store/database/dialect/States.ts"
import { from, open } from "./road/record/lifecycle.ts"

export interface CallRead {
  readonly id: CallId
  readonly tool: string
  readonly state: string
  readonly at: string
}

/** Part of a statement: the calls that are not settled. */
export const isOpenCall = (sql: SqlClient.SqlClient, table?: string): Statement.Fragment => inState(sql, open, table)

/** Part of a statement: those of them that may still start. A running call settles itself. */
export const mayStartCall = (sql: SqlClient.SqlClient): Statement.Fragment => inState(sql, from("start"))

/** The newest calls of a principal, newest first. */
export const readCallsOf = (
  sql: SqlClient.SqlClient,
  principal: PrincipalId,
  limit: number,
): Effect.Effect<ReadonlyArray<CallRead>> =>
  Effect.orDie(
    sql<CallRead>`SELECT id, tool, state, created_at AS at FROM calls
      WHERE principal = ${principal} ORDER BY id DESC LIMIT ${limit}`,
  )
