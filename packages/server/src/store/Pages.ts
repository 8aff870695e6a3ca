/**
 * Keyset paging: a cursor is the last key of the previous page, so that a changing list neither repeats nor skips
 * items.
 */
import type { Page, PageQuery } from "@stoa/contract"

const usual = 50
/** About how many bytes of texts a page has: it ends there even if it has few items. */
export const largestPage = 2 * 1024 * 1024

export const encodeCursor = (key: string): string => Buffer.from(key, "utf8").toString("base64url")
/** A text that is no cursor of ours can decode to anything; Postgres takes no NUL. */
export const decodeCursor = (cursor: string): string =>
  Buffer.from(cursor, "base64url").toString("utf8").replaceAll("\0", "")

export const pageFrom = (query: PageQuery): { readonly after: string; readonly limit: number } => ({
  after: query.cursor === undefined ? "" : decodeCursor(query.cursor),
  limit: query.limit ?? usual,
})

/** Query one row more than the limit: it shows whether there is a next page. */
export const pageOf = <Row, A>(
  rows: ReadonlyArray<Row>,
  limit: number,
  make: (row: Row) => A,
  key: (item: A) => string,
): Page<A> => {
  const items = rows.slice(0, limit).map(make)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? encodeCursor(key(last)) : null }
}
