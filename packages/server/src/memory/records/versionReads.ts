/** The history of a record as its readers see it: those for whom it is only public see the versions that were. */
import type { MemoryVersion, Page, PageQuery } from "@stoa/contract"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { decodeCursor, encodeCursor, largestPage } from "../../store/Pages.ts"
import { type RecordRow, versionFrom, type VersionRow } from "./rows.ts"
import { makeVersions } from "./versions.ts"
import { bytesOf } from "./weight.ts"

/** Versions that one statement reads: one text may be as long as a page. */
const atOnce = 8

export const makeVersionReads = (sql: SqlClient.SqlClient) => {
  const { columns, tables } = makeVersions(sql)
  const seen = (known: boolean) => (known ? sql`1 = 1` : sql`v.public = ${true}`)

  /** Newest first. `known`: to its owner, or to somebody it is shared with. */
  const page = Effect.fnUntraced(function* (
    { id }: RecordRow,
    known: boolean,
    { cursor, limit = 50 }: PageQuery,
  ): Effect.fn.Return<Page<MemoryVersion>> {
    const items: Array<MemoryVersion> = []
    let last = cursor === undefined ? undefined : Number.parseInt(decodeCursor(cursor), 10)
    for (let size = 0; ;) {
      const rows = yield* Effect.orDie(
        sql<VersionRow>`SELECT ${columns} FROM ${tables} WHERE v.record = ${id} AND ${seen(known)}
          ${last === undefined ? sql`` : sql`AND v.version < ${last}`} ORDER BY v.version DESC LIMIT ${atOnce}`,
      )
      for (const one of rows) {
        size += bytesOf(one.content)
        if (items.length === limit || (size > largestPage && items.length > 0))
          return { items, next: encodeCursor(String(items.at(-1)!.version)) }
        items.push(versionFrom(one))
      }
      if (rows.length < atOnce) return { items, next: null }
      last = rows.at(-1)!.version
    }
  })

  const get = Effect.fnUntraced(function* ({ id }: RecordRow, known: boolean, version: number) {
    const rows = yield* sql<VersionRow>`SELECT ${columns} FROM ${tables}
      WHERE v.record = ${id} AND v.version = ${version} AND ${seen(known)}`
    return rows[0] === undefined ? undefined : versionFrom(rows[0])
  }, Effect.orDie)

  return { page, get }
}
