/**
 * The scopes in which a record can be found: its owner's, those of principals it is shared with, and the public one.
 */
import type { MemoryRecord, PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Transaction } from "../../store/journal/Journal.ts"
import type { SearchIndex } from "../../store/search/SearchIndex.ts"
import type { RecordRow } from "./rows.ts"
import { seriesOf } from "./rules.ts"

/** What one principal may read: its own records, and those shared with it. */
export const scopeOf = (reader: PrincipalId): string => `memory:${reader}`
/** Separate from private records, so that they do not influence the scores that strangers see. */
export const publicScope = "memory:public"

/** The filters of a record, to which a search can be limited. */
const filtersOf = ({ key, kind, namespace, owner, tags }: MemoryRecord): ReadonlyArray<string> => [
  `namespace:${namespace}`,
  `kind:${kind}`,
  `key:${key}`,
  `owner:${owner}`,
  ...tags.map((tag) => `tag:${tag}`),
]

export interface Reading {
  readonly readers: ReadonlyArray<PrincipalId>
  /** The name of this version's author. */
  readonly author: string
}

export const indexRecord = Effect.fnUntraced(function* (
  index: SearchIndex["Service"],
  record: MemoryRecord,
  { author, readers }: Reading,
  isNew = false,
): Effect.fn.Return<void, never, Transaction> {
  const { content, id, key, namespace, origin, owner, public: open, tags } = record
  // A generated key carries no meaning.
  const named = key === id ? "" : key
  const series = named === "" ? null : seriesOf(namespace, key)
  const entry = {
    ref: id,
    text: content,
    filters: filtersOf(record),
    series: series === null ? null : `${owner}:${series}`,
    order: key.slice(key.lastIndexOf("/") + 1),
  }
  // In one's own memory one's own name carries no information: every record has it.
  const labelFor = (reader: PrincipalId | undefined): string =>
    [named, ...tags, reader === origin.principal ? "" : author].join(" ")
  const scopes = new Map<string, PrincipalId | undefined>(
    [owner, ...readers].map((reader) => [scopeOf(reader), reader] as const),
  )
  if (open) scopes.set(publicScope, undefined)
  else if (!isNew) yield* index.remove(id, publicScope)
  // Sorted by name: two writers take their locks in the same order.
  for (const [scope, reader] of [...scopes].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    yield* index.put({ ...entry, scope, label: labelFor(reader) }, isNew)
})

/** Reads what is needed to index a record. */
export const readingOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, row: RecordRow, isNew = false) {
  const readers = isNew
    ? []
    : yield* sql<{ principal: PrincipalId }>`SELECT principal FROM memory_shares
        WHERE record = ${row.id} AND state = 'taken'`
  const names = yield* sql<{ name: string }>`SELECT name FROM principals WHERE id = ${row.principal}`
  return { readers: readers.map(({ principal }) => principal), author: names[0]?.name ?? "" }
}, Effect.orDie)
