/**
 * Who may read a result that was stored as a file: its caller, and everybody who sees the call's message in a space.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Viewer } from "../access/rights/Viewer.ts"
import { Messages } from "../spaces/messages/Messages.ts"

export const makeOwnFiles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const messages = yield* Messages

  /**
   * A result that merely names a file gives no access: what counts is what the house itself wrote beside the result.
   */
  return Effect.fn("OwnFiles.owns")(function* (file: string, viewer: Viewer) {
    const { id } = viewer.principal
    const rows = yield* Effect.orDie(
      sql<{ mine: string; shown: string | null }>`SELECT principal AS mine, message AS shown FROM calls
        WHERE output_file = ${file} UNION ALL SELECT principal AS mine, message AS shown FROM calls
        WHERE principal = ${id} AND meta = ${JSON.stringify({ file })} AND meta LIKE '{"file":%'`,
    )
    if (rows.some((row) => row.mine === id)) return true
    return yield* messages.seesAny(
      rows.flatMap((row) => row.shown ?? []),
      viewer,
    )
  })
})
