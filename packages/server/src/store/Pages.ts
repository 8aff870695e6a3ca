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

/** About what a row takes in an answer: its texts. */
export const sizeOf = (row: unknown): number =>
  typeof row !== "object" || row === null
    ? 0
    : Object.values(row).reduce((sum: number, value) => sum + (typeof value === "string" ? value.length : 8), 0)

/** The first of these rows that fit on a page: fewer than the limit if they are long, but at least one. */
export const fitting = <Row>(rows: ReadonlyArray<Row>, limit: number): ReadonlyArray<Row> => {
  let size = 0
  for (const [at, row] of rows.entries()) {
    size += sizeOf(row)
    if (at === limit || (size > largestPage && at > 0)) return rows.slice(0, at)
  }
  return rows
}

/** Query one row more than the limit: it shows whether there is a next page. */
export const pageOf = <Row, A>(
  rows: ReadonlyArray<Row>,
  limit: number,
  make: (row: Row) => A,
  key: (item: A) => string,
): Page<A> => {
  const items = fitting(rows, limit).map(make)
  const last = items.at(-1)
  return { items, next: rows.length > items.length && last !== undefined ? encodeCursor(key(last)) : null }
}
