/** Deletes a message. The row stays, so that numbers have no gap and replies keep their thread; its content is removed. */
import type { Message } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Journal } from "../../store/journal/Journal.ts"
import type { SearchIndex } from "../../store/search/SearchIndex.ts"

export const makeErase = (
  sql: SqlClient.SqlClient,
  index: SearchIndex["Service"],
  journal: Pick<Journal["Service"], "append">,
) =>
  Effect.fnUntraced(function* ({ id, seq, space }: Pick<Message, "id" | "seq" | "space">) {
    const now = DateTime.formatIso(yield* DateTime.now)
    const rows = yield* sql`UPDATE messages SET text = '', call = NULL, mentions = '[]', pinned = ${false},
      deleted_at = ${now} WHERE id = ${id} AND deleted_at IS NULL RETURNING id`
    if (rows.length === 0) return
    yield* sql`DELETE FROM reactions WHERE message = ${id}`
    yield* sql`DELETE FROM message_edits WHERE message = ${id}`
    yield* index.remove(id)
    yield* journal.append({ kind: "message.deleted", space, body: { message: id, seq } })
  }, Effect.orDie)
