/** Indexes messages from before there was a search index, newest first, so that recent ones are found soon. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { fillLayer } from "../../store/search/index/Fills.ts"
import { SearchIndex } from "../../store/search/SearchIndex.ts"
import { makeSearch, type IndexedMessage } from "./search.ts"

const atOnce = 100

export const layerMessageFill = fillLayer({
  aim: "searchable",
  name: "messages",
  step: Effect.fnUntraced(function* (reached) {
    const sql = yield* SqlClient.SqlClient
    const { put } = makeSearch(sql, yield* SearchIndex)
    const rows = yield* Effect.orDie(
      sql<IndexedMessage>`SELECT m.id, m.space, m.seq, m.text, m.reply_to, p.name AS author_name FROM messages m
        JOIN principals p ON p.id = m.author WHERE m.deleted_at IS NULL
        ${reached === "" ? sql`` : sql`AND m.id < ${reached}`} ORDER BY m.id DESC LIMIT ${atOnce}`,
    )
    for (const row of rows) yield* put(row)
    return rows.length < atOnce ? null : rows.at(-1)!.id
  }),
})
