/**
 * Who may read a file: whoever a rule allows to; and, if no rule applies, the caller whose result it is, and everybody
 * who sees the call's message in a space. What a rule refuses stays refused.
 */
import { type Caller, type FileId, Forbidden } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../access/rights/Grants.ts"
import type { Viewer } from "../access/rights/Viewer.ts"
import { Messages } from "../spaces/messages/Messages.ts"
import { Files } from "../store/Files.ts"

export const makeOwnFiles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const grants = yield* Grants
  const files = yield* Files
  const messages = yield* Messages

  /**
   * A result that merely names a file gives no access: what counts is what the house itself wrote beside the result.
   */
  const owns = Effect.fn("OwnFiles.owns")(function* (file: string, viewer: Viewer) {
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

  /** The bytes of a file that the caller may read. */
  const read = Effect.fn("OwnFiles.read")(function* (file: FileId, caller: Caller["Service"]) {
    const resource = `files/${file}`
    const { rule, verdict } = yield* grants.judge(caller, "read", resource)
    const may =
      verdict === "allow" || (rule === "silence" && (yield* owns(file, yield* grants.viewerOf(caller, "spaces"))))
    if (!may) return yield* new Forbidden({ action: "read", resource, rule })
    return (yield* files.get(file)).bytes
  })

  return { read }
})
