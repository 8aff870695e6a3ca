/** Where a record can be found by its words: by its owner, by those it is shared with, and by everybody if it is public. */
import type { MemoryRecord, PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import type { Transaction } from "../store/journal/Journal.ts"
import type { SearchIndex } from "../store/search/SearchIndex.ts"
import { seriesOf } from "./rules.ts"

/** What one principal may read for itself: its own, and what others share with it. */
export const scopeOf = (reader: PrincipalId): string => `memory:${reader}`
/** Apart from what is private, so that nothing private colours the scores a stranger sees. */
export const publicScope = "memory:public"

export const indexRecord = (
  index: SearchIndex["Service"],
  record: MemoryRecord,
  readers: ReadonlyArray<PrincipalId>,
): Effect.Effect<void, never, Transaction> => {
  const { content, id, key, kind, namespace, owner, public: open, tags } = record
  const entry = {
    ref: id,
    // A key the house made up says nothing.
    label: [key === id ? "" : key, ...tags].join(" "),
    text: content,
    filters: [`namespace:${namespace}`, `kind:${kind}`, ...tags.map((tag) => `tag:${tag}`)],
  }
  const series = key === id ? null : seriesOf(namespace, key)
  const scopes = [scopeOf(owner), ...readers.map(scopeOf), ...(open ? [publicScope] : [])]
  return Effect.andThen(
    open ? Effect.void : index.remove(id, publicScope),
    Effect.forEach(
      scopes.toSorted(),
      (scope) => index.put({ ...entry, scope, series: series === null ? null : `${owner}:${series}` }),
      { discard: true },
    ),
  )
}
