/** Where a record can be found by its words: by its owner, by those it is shared with, and by everybody if it is public. */
import type { MemoryRecord, PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Transaction } from "../store/journal/Journal.ts"
import type { SearchIndex } from "../store/search/SearchIndex.ts"
import type { RecordRow } from "./rows.ts"
import { seriesOf } from "./rules.ts"

/** What one principal may read for itself: its own, and what others share with it. */
export const scopeOf = (reader: PrincipalId): string => `memory:${reader}`
/** Apart from what is private, so that nothing private colours the scores a stranger sees. */
export const publicScope = "memory:public"

/** The words of the record itself, and whose it is: a search can be narrowed to each. */
const filtersOf = ({ key, kind, namespace, owner, tags }: MemoryRecord): ReadonlyArray<string> => [
  `namespace:${namespace}`,
  `kind:${kind}`,
  `key:${key}`,
  `owner:${owner}`,
  ...tags.map((tag) => `tag:${tag}`),
]

export interface Reading {
  readonly readers: ReadonlyArray<PrincipalId>
  /** The name of who wrote this version. */
  readonly author: string
}

export const indexRecord = Effect.fnUntraced(function* (
  index: SearchIndex["Service"],
  record: MemoryRecord,
  { author, readers }: Reading,
  isNew = false,
): Effect.fn.Return<void, never, Transaction> {
  const { content, id, key, namespace, origin, owner, public: open, tags } = record
  // A key the house made up says nothing.
  const named = key === id ? "" : key
  const series = named === "" ? null : seriesOf(namespace, key)
  const entry = {
    ref: id,
    text: content,
    filters: filtersOf(record),
    series: series === null ? null : `${owner}:${series}`,
    order: key.slice(key.lastIndexOf("/") + 1),
  }
  // In one's own memory one's own name says nothing: every record has it.
  const labelFor = (reader: PrincipalId | undefined): string =>
    [named, ...tags, reader === origin.principal ? "" : author].join(" ")
  const scopes = new Map<string, PrincipalId | undefined>(
    [owner, ...readers].map((reader) => [scopeOf(reader), reader] as const),
  )
  if (open) scopes.set(publicScope, undefined)
  else if (!isNew) yield* index.remove(id, publicScope)
  // By their names: two writers take their locks in one order.
  for (const [scope, reader] of [...scopes].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    yield* index.put({ ...entry, scope, label: labelFor(reader) }, isNew)
})

/** What is needed to put a record into the index, asked of the database. */
export const readingOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, row: RecordRow, isNew = false) {
  const readers = isNew
    ? []
    : yield* sql<{ principal: PrincipalId }>`SELECT principal FROM memory_shares WHERE record = ${row.id}`
  const names = yield* sql<{ name: string }>`SELECT name FROM principals WHERE id = ${row.principal}`
  return { readers: readers.map(({ principal }) => principal), author: names[0]?.name ?? "" }
}, Effect.orDie)
