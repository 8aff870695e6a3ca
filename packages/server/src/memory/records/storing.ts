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
import { Storage } from "../../access/limits/Storage.ts"
import type { ShareRow } from "./reaching.ts"
import { type RecordRow, recordFrom } from "./rows.ts"
import { makeVersions } from "./versions.ts"
import { presentWeight, textDigest, versionWeight } from "./weight.ts"

export const makeStoring = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const index = yield* SearchIndex
  const timers = yield* Timers
  const vectors = yield* Vectors
  const storage = yield* Storage
  const { keepText, weightOf } = makeVersions(sql)

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

  const readersOf = (id: MemoryId) => Effect.map(sharesOf(id), ({ length }) => length)

  /** Counts a record that is stored already, and was not counted then. */
  const weigh = Effect.fnUntraced(function* (row: RecordRow) {
    if (row.bytes !== null) return row.bytes
    const bytes = yield* weightOf(row, yield* readersOf(row.id))
    yield* sql`UPDATE memory_records SET bytes = ${bytes} WHERE id = ${row.id}`
    yield* storage.recount(row.owner, bytes)
    return bytes
  }, Effect.orDie)

  /** What the record counts with its next version. */
  const weightWith = Effect.fnUntraced(function* (row: RecordRow, before: RecordRow | undefined) {
    if (before === undefined) return { bytes: presentWeight(row, 0) + versionWeight(row), more: undefined }
    const [was, readers] = [yield* weigh(before), yield* readersOf(row.id)]
    const kept = before.content === row.content ? 0 : yield* keepText(before, row.content)
    const bytes = was - presentWeight(before, readers) + kept + versionWeight(row) + presentWeight(row, readers)
    return { bytes, more: bytes - was }
  }, Effect.orDie)

  /** More or fewer readers find it: returns the row with its new weight. */
  const reweigh = Effect.fnUntraced(function* (row: RecordRow, readersBefore: number) {
    const was = yield* weigh(row)
    const bytes = was - presentWeight(row, readersBefore) + presentWeight(row, yield* readersOf(row.id))
    if (bytes === was) return
    yield* storage.count(row.owner, bytes - was)
    yield* Effect.orDie(sql`UPDATE memory_records SET bytes = ${bytes} WHERE id = ${row.id}`)
  })

  /** Whether both are found by the same words, in the same scopes. */
  const isFoundAlike = (one: RecordRow, other: RecordRow): boolean =>
    one.deletedAt === other.deletedAt &&
    one.content === other.content &&
    one.tags === other.tags &&
    one.principal === other.principal &&
    recordFrom(one).public === recordFrom(other).public

  /**
   * Writes the row, its version, its tags, its index entry and its event: all or none. `before`: the row as it was. A
   * text that has not changed is neither stored nor indexed again.
   */
  const store = Effect.fnUntraced(function* (wanted: RecordRow, before: RecordRow | undefined) {
    const { bytes, more } = yield* weightWith(wanted, before)
    yield* storage.count(wanted.owner, more ?? bytes)
    return yield* write({ ...wanted, bytes }, before)
  })
  const write = Effect.fnUntraced(function* (row: RecordRow, before: RecordRow | undefined) {
    const isNew = before === undefined
    yield* isNew
      ? sql`INSERT INTO memory_records ${sql.insert(row as never)}`
      : sql`UPDATE memory_records SET ${sql.update(row as never, ["id" as never])} WHERE id = ${row.id}`
    const { authors, call, expiresAt, id, mediaType, message, pinned, principal, tags, version } = row
    yield* sql`INSERT INTO memory_versions ${sql.insert({
      record: id,
      version,
      content: "",
      digest: textDigest(row.content),
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
    if (!isNew && before.tags !== tags) yield* sql`DELETE FROM memory_tags WHERE record = ${id}`
    if (isNew || before.tags !== tags)
      for (const tag of tagsOf(row)) yield* sql`INSERT INTO memory_tags (record, tag) VALUES (${id}, ${tag})`
    if (isNew || !isFoundAlike(before, row)) {
      // An imported record that was deleted stays out of the index.
      if (row.deletedAt === null) yield* indexed(row, isNew)
      // Old vectors are removed with the old text; the new text gets its own in the background.
      if (!isNew) yield* vectors.forget(id, digestOf(textsOf(recordFrom(row))))
    }
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
    for (const table of ["memory_tags", "memory_versions", "memory_texts", "memory_shares"])
      yield* sql`DELETE FROM ${sql(table)} WHERE record = ${row.id}`
    yield* sql`DELETE FROM memory_records WHERE id = ${row.id}`
    yield* storage.recount(row.owner, -(row.bytes ?? 0))
  }, Effect.orDie)

  return { sharesOf, indexed, about, store, drop, weigh, reweigh }
})
