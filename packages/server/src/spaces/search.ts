/** Finding messages by their words, among those in spaces that somebody may see. */
import { Array as Arr, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { findText } from "../store/Search.ts"
import { messageColumns, messagesFrom } from "./rows.ts"

/** So many ids in one question, and so many matches looked through for those the viewer may see. */
export const idsAtOnce = 1000
const mostLookedAt = 50_000

export interface Place {
  readonly id: string
  readonly space: string
  readonly createdAt: string
}
const newestFirst = (one: Place, other: Place): number =>
  one.createdAt === other.createdAt ? (one.id < other.id ? -1 : 1) : one.createdAt < other.createdAt ? 1 : -1

export const within = (seen: ReadonlySet<string>, space: string): ReadonlySet<string> =>
  new Set(seen.has(space) ? [space] : [])

/** The newest that match, of these spaces. */
export const newestMatches = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  words: string,
  limit: number,
  seen: ReadonlySet<string>,
) {
  const columns = messageColumns(sql)
  // What is in other spaces is taken out afterwards, and must not keep out what is in these: then more is looked at.
  for (let most = limit * 20; ; most *= 8) {
    const ids = yield* Effect.provideService(findText("messages", words, most), SqlClient.SqlClient, sql)
    if (ids.length === 0) return { items: [], next: null }
    const found: Array<Place> = []
    for (const some of Arr.chunksOf(ids, idsAtOnce))
      found.push(
        ...(yield* sql<Place>`SELECT id, space, created_at FROM messages
                WHERE ${sql.in("id", some)} AND deleted_at IS NULL`),
      )
    const newest = found
      .filter((one) => seen.has(one.space))
      .toSorted(newestFirst)
      .slice(0, limit)
    if (newest.length < limit && ids.length === most && most < mostLookedAt) continue
    if (newest.length === 0) return { items: [], next: null }
    const rows = yield* sql<Place>`SELECT ${columns} FROM messages m JOIN principals p ON p.id = m.author
            WHERE ${sql.in(
              "m.id",
              newest.map(({ id }) => id),
            )}`
    return { items: yield* messagesFrom(sql, rows.toSorted(newestFirst) as never), next: null }
  }
})
