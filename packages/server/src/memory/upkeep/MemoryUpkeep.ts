/** Background work of memory: deletes expired records, and indexes older ones. */
import type { MemoryId } from "@stoa/contract"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../../store/journal/Journal.ts"
import { readerLayer } from "../../store/journal/readers/Readers.ts"
import { retentionLayer } from "../../store/journal/retention/Retention.ts"
import { fillLayer } from "../../store/search/index/Fills.ts"
import { SearchIndex } from "../../store/search/SearchIndex.ts"
import { purpose } from "./expiry.ts"
import { indexRecord, readingOf } from "../records/indexing.ts"
import { Memories } from "../Memories.ts"
import { Portability } from "../portability/Portability.ts"
import { type RecordRow, recordFrom } from "../records/rows.ts"

const atOnce = 50

/** Indexes records from before the present format of the index. */
const fill = fillLayer({
  name: "memories",
  aim: "searchable",
  step: Effect.fnUntraced(function* (reached) {
    const sql = yield* SqlClient.SqlClient
    const index = yield* SearchIndex
    const rows = yield* Effect.orDie(
      sql<RecordRow>`SELECT * FROM memory_records WHERE id > ${reached} AND deleted_at IS NULL ORDER BY id LIMIT ${atOnce}`,
    )
    for (const row of rows) yield* indexRecord(index, recordFrom(row), yield* readingOf(sql, row))
    return rows.length < atOnce ? null : rows.at(-1)!.id
  }),
})

/** Counts records from before what is stored was counted. */
const counts = fillLayer({
  name: "memories' sizes",
  aim: "counted",
  step: (reached) => Effect.flatMap(Memories, ({ countSome }) => countSome(reached)),
})

const ends = readerLayer({
  name: "memory-ends",
  atomic: false,
  kinds: ["timer.fired"],
  handle: Effect.fnUntraced(function* ([event]) {
    if (event?.kind !== "timer.fired" || event.body.purpose !== purpose) return
    const memories = yield* Memories
    const { record } = event.body.payload as { readonly record: MemoryId }
    yield* (yield* Journal).transact(memories.expire(record))
  }),
})

/** Resumes an interrupted erasure in the background. */
const erasures = Layer.effectDiscard(Effect.flatMap(Portability, ({ resume }) => Effect.forkScoped(resume)))

/** How long a deleted record can be restored. */
const binDays = 30

/** Removes expired versions, except the newest of each record, and records that were deleted long ago. */
const clean = (days: number) =>
  Effect.gen(function* () {
    const memories = yield* Memories
    const now = yield* DateTime.now
    const term = (count: number) => DateTime.formatIso(DateTime.subtract(now, { days: count }))
    const { records, versions } = yield* memories.retain({ versions: term(days), deleted: term(binDays) })
    yield* Effect.logInfo(`Retention removed ${versions} versions of memories and ${records} deleted ones`)
  })

/** `days`: how long earlier versions are kept. */
export const layerMemoryUpkeep = (days: number) =>
  Layer.mergeAll(ends, fill, counts, erasures, retentionLayer({ name: "memory-retention", work: clean(days) }))
