/** What rooms above read of calls besides the service. */
import type { CallId, PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

export interface CallRead {
  readonly id: CallId
  readonly tool: string
  readonly state: string
  readonly at: string
}

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
