/** Searches messages in plain words, in the spaces that a principal may see. */
import { FoundMessage, type MessageId, type Page, type SpaceId } from "@stoa/contract"
import { Array as Arr, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Transaction } from "../../store/journal/Journal.ts"
import { digestOf, cursorAt, placeOfCursor } from "../../store/search/Cursor.ts"
import { matchesOf } from "../../store/search/Match.ts"
import type { SearchAnswer, SearchIndex } from "../../store/search/SearchIndex.ts"
import { messageColumns, messagesFrom, maxPageText } from "../rows.ts"

/** How many ids one query may have. */
const idsAtOnce = 1000
/** Other requests run after this many. */
const foundAtOnce = 5
/** How far up a thread its first message is searched. */
const deepest = 100

export const scopeOf = (space: string): string => `space:${space}`

export interface IndexedMessage {
  readonly id: MessageId
  readonly space: SpaceId
  readonly seq: number
  readonly text: string
  readonly replyTo: string | null
  readonly authorName: string
}

export const makeSearch = (sql: SqlClient.SqlClient, index: SearchIndex["Service"]) => {
  const columns = messageColumns(sql)

  /** A thread is a series of its own: answers belong together, whatever was said in between. */
  const seriesOf = Effect.fnUntraced(function* ({ replyTo, space }: IndexedMessage) {
    if (replyTo === null) return space
    const rows = yield* sql<{ id: string }>`WITH RECURSIVE up (id, reply_to, depth) AS (
        SELECT id, reply_to, 0 FROM messages WHERE id = ${replyTo}
        UNION ALL SELECT m.id, m.reply_to, up.depth + 1 FROM messages m JOIN up ON m.id = up.reply_to
        WHERE up.depth < ${deepest}) SELECT id FROM up ORDER BY depth DESC LIMIT 1`
    return rows[0]?.id ?? space
  })

  const put = Effect.fnUntraced(function* (
    said: IndexedMessage,
    isNew = false,
  ): Effect.fn.Return<void, never, Transaction> {
    const { authorName, id, seq, space, text } = said
    const series = yield* Effect.orDie(seriesOf(said))
    yield* index.put({ scope: scopeOf(space), ref: id, series, order: String(seq), label: authorName, text }, isNew)
  })

  /** Those of these messages that exist and are in these spaces, with why they were found. */
  const among = Effect.fnUntraced(function* (
    answered: SearchAnswer,
    ids: ReadonlyArray<string>,
    seen: ReadonlySet<string>,
  ) {
    const found = new Map<string, FoundMessage>()
    if (ids.length === 0) return found
    const rows = yield* sql<{ id: string; space: string }>`SELECT ${columns} FROM messages m
      JOIN principals p ON p.id = m.author WHERE ${sql.in("m.id", ids)} AND m.deleted_at IS NULL`
    const messages = yield* messagesFrom(sql, rows.filter(({ space }) => seen.has(space)) as never)
    const matches = yield* matchesOf(answered, messages)
    for (const message of messages) {
      const match = matches.get(message.id)
      if (match !== undefined) found.set(message.id, new FoundMessage({ ...message, match }))
    }
    return found
  }, Effect.orDie)

  /** Best matches first. */
  const search = Effect.fnUntraced(function* (query: {
    readonly words: string
    readonly by: string
    readonly seen: ReadonlySet<string>
    readonly limit: number
    readonly cursor: string | undefined
  }) {
    const { by, cursor, limit, seen, words } = query
    const digest = digestOf(words, ...[...seen].toSorted())
    let at = yield* placeOfCursor(cursor, digest)
    const answered = yield* index.find([...seen].map(scopeOf), words, [], { by })
    const hits = answered.found
    const items: Array<FoundMessage> = []
    let said = 0
    while (at < hits.length && items.length < limit && said < maxPageText) {
      const some = hits.slice(at, at + Math.min(limit - items.length, foundAtOnce)).map(({ ref }) => ref)
      at += some.length
      const found = yield* among(answered, some, seen)
      const those = some.flatMap((id) => found.get(id) ?? [])
      items.push(...those)
      said += those.reduce((sum, { text }) => sum + text.length, 0)
      yield* Effect.yieldNow
    }
    return { items, next: at < hits.length ? cursorAt(digest, at) : null } satisfies Page<FoundMessage>
  })

  /** Whether one of these is in these spaces, and not deleted. */
  const anyIn = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, seen: ReadonlySet<string>) {
    for (const some of Arr.chunksOf(ids, idsAtOnce)) {
      const rows = yield* sql<{ space: string }>`SELECT DISTINCT space FROM messages
        WHERE ${sql.in("id", some)} AND deleted_at IS NULL`
      if (rows.some(({ space }) => seen.has(space))) return true
    }
    return false
  }, Effect.orDie)

  return { put, among, anyIn, search }
}
