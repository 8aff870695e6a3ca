/** Whose a result is that was kept as a file: its caller's, and theirs who see the call in a space. */
import type { PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Spaces } from "../spaces/Spaces.ts"

export const makeOwnFiles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const spaces = yield* Spaces

  /** That a result merely names a file opens nothing: what counts is what the house itself wrote beside it. */
  return Effect.fn("OwnFiles.owns")(function* (file: string, principal: PrincipalId) {
    const rows = yield* sql<{ space: string | null; mine: string; shown: string | null }>`SELECT space,
      principal AS mine, message AS shown FROM calls WHERE output_file = ${file}
      UNION ALL SELECT space, principal AS mine, message AS shown FROM calls
      WHERE principal = ${principal} AND meta = ${JSON.stringify({ file })} AND meta LIKE '{"file":%'`
    if (rows.some((row) => row.mine === principal)) return true
    const shown = rows.filter((row) => row.shown !== null && row.space !== null)
    if (shown.length === 0) return false
    const seen = yield* spaces.visibleTo(principal)
    return shown.some((row) => seen.has(row.space!))
  }, Effect.orDie)
})
