/** Writes and removes records: the row, its version, its tags, its index entry, its timer and its event. */
import type { MemoryId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { currentCause } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { SearchIndex } from "../../store/search/SearchIndex.ts"
import { Vectors } from "../../store/search/vectors/Vectors.ts"
import { endKey, setEnd } from "../upkeep/expiry.ts"
import { indexRecord, readingOf } from "./indexing.ts"
import { digestOf, textsOf } from "../meaning/texts.ts"
import type { ShareRow } from "./reaching.ts"
import { type RecordRow, recordFrom } from "./rows.ts"

export const makeStoring = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const index = yield* SearchIndex
  const timers = yield* Timers
  const vectors = yield* Vectors

  const sharesOf = (id: MemoryId) =>
    Effect.orDie(
      sql<ShareRow>`SELECT principal, access, state, created_at FROM memory_shares WHERE record = ${id} ORDER BY principal`,
    )

  const indexed = (row: RecordRow, isNew = false): Effect.Effect<void, never, Transaction> =>
    Effect.flatMap(readingOf(sql, row, isNew), (reading) => indexRecord(index, recordFrom(row), reading, isNew))

  const about = Effect.fnUntraced(function* (row: RecordRow) {
    const readers = (yield* sharesOf(row.id)).filter(({ state }) => state === "taken").map(({ principal }) => principal)
    return {
      record: row.id,
      principal: row.owner,
      namespace: row.namespace,
      readers,
      public: recordFrom(row).public,
    }
  })

  const tagsOf = (row: RecordRow) => JSON.parse(row.tags) as ReadonlyArray<string>

  /** Writes the row, its version, its tags, its index entry and its event: all or none. */
  const store = Effect.fnUntraced(function* (row: RecordRow, isNew: boolean) {
    yield* isNew
      ? sql`INSERT INTO memory_records ${sql.insert(row as never)}`
      : sql`UPDATE memory_records SET ${sql.update(row as never, ["id" as never])} WHERE id = ${row.id}`
    const { authors, call, content, expiresAt, id, mediaType, message, pinned, principal, tags, version } = row
    yield* sql`INSERT INTO memory_versions ${sql.insert({
      record: id,
      version,
      content,
      mediaType,
      tags,
      public: row.public,
      pinned,
      expiresAt,
      principal,
      authors,
      call,
      message,
      at: row.updatedAt,
    })}`
    if (!isNew) yield* sql`DELETE FROM memory_tags WHERE record = ${id}`
    for (const tag of tagsOf(row)) yield* sql`INSERT INTO memory_tags (record, tag) VALUES (${id}, ${tag})`
    // An imported record that was deleted stays out of the index.
    if (row.deletedAt === null) yield* indexed(row, isNew)
    // Old vectors are removed with the old text; the new text gets its own in the background.
    if (!isNew) yield* vectors.forget(id, digestOf(textsOf(recordFrom(row))))
    yield* setEnd(timers, row)
    const { run } = yield* currentCause
    const written = { ...(yield* about(row)), version, ...(run !== undefined && { run }) }
    yield* journal.append({ kind: "memory.written", body: written })
    return recordFrom(row)
  }, Effect.orDie)

  /** Deletes a record with its history and its shares. */
  const drop = Effect.fnUntraced(function* (row: RecordRow) {
    yield* index.remove(row.id)
    yield* timers.cancelKeys([endKey(row.id)])
    for (const table of ["memory_tags", "memory_versions", "memory_shares"])
      yield* sql`DELETE FROM ${sql(table)} WHERE record = ${row.id}`
    yield* sql`DELETE FROM memory_records WHERE id = ${row.id}`
  }, Effect.orDie)

  return { sharesOf, indexed, about, store, drop }
})
