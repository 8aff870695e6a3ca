/**
 * Engrams: the records of seed 002's families, as its tools search them. A reader sees its own and others' public ones,
 * nothing else: shared records belong to another face. `Memories` writes them.
 */
import { EngramType, type MemoryId, type MemoryRecord, type PrincipalId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { SearchIndex } from "../store/search/SearchIndex.ts"
import { publicScope, scopeOf } from "./records/indexing.ts"
import { Meanings } from "./meaning/Meanings.ts"
import { type RecordRow, recordFrom } from "./records/rows.ts"
import { slotOf } from "./records/rules.ts"

export interface EngramQuery {
  /** The reader, whose private records are included. */
  readonly reader: PrincipalId
  /** Only records of this owner. */
  readonly owner?: PrincipalId
  readonly type?: EngramType
  /** Any of these (S2-20). */
  readonly tags?: ReadonlyArray<string>
  /** A prefix of their keys, without wildcards. */
  readonly prefix?: string
  /** A question in plain words: then the best come first (S2-19). */
  readonly query?: string
  readonly limit: number
  readonly offset: number
}

const rowsAtOnce = 100

export class Engrams extends Context.Service<
  Engrams,
  {
    /** The record with this key, if the reader may see it. */
    readonly get: (reader: PrincipalId, owner: PrincipalId, key: string) => Effect.Effect<MemoryRecord | undefined>
    /** An engram of one of these owners, by its id; undefined if it is anybody else's. */
    readonly byId: (owners: ReadonlyArray<PrincipalId>, id: MemoryId) => Effect.Effect<MemoryRecord | undefined>
    /** The most recently changed first, or the best answer to a question. */
    readonly find: (query: EngramQuery) => Effect.Effect<ReadonlyArray<MemoryRecord>>
  }
>()("server/memory/Engrams") {
  static readonly layer = Layer.effect(
    Engrams,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const index = yield* SearchIndex
      const meanings = yield* Meanings
      const there = Effect.map(
        DateTime.now,
        (now) =>
          sql`namespace = 'engrams' AND deleted_at IS NULL
            AND (expires_at IS NULL OR pinned OR expires_at > ${DateTime.formatIso(now)})`,
      )

      const get: Engrams["Service"]["get"] = Effect.fn("Engrams.get")(function* (reader, owner, key) {
        const seen = reader === owner ? sql`1 = 1` : sql`public`
        const rows = yield* Effect.orDie(
          sql<RecordRow>`SELECT * FROM memory_records WHERE owner = ${owner} AND namespace = 'engrams'
            AND slot = ${slotOf("engrams", "", key)} AND ${sql.in("kind", EngramType.literals)} AND ${yield* there} AND ${seen}`,
        )
        return rows[0] === undefined ? undefined : recordFrom(rows[0])
      })

      const byId: Engrams["Service"]["byId"] = Effect.fn("Engrams.byId")(function* (owners, id) {
        const rows = yield* Effect.orDie(
          sql<RecordRow>`SELECT * FROM memory_records WHERE id = ${id} AND ${sql.in("owner", owners)} AND ${yield* there}`,
        )
        return rows[0] === undefined ? undefined : recordFrom(rows[0])
      })

      const filters = Effect.fnUntraced(function* ({ prefix, tags, type }: EngramQuery) {
        const where = [yield* there, type === undefined ? sql.in("kind", EngramType.literals) : sql`kind = ${type}`]
        if (tags !== undefined && tags.length > 0)
          where.push(sql`id IN (SELECT record FROM memory_tags WHERE ${sql.in("tag", tags)})`)
        if (prefix !== undefined) where.push(sql`substr(key, 1, ${prefix.length}) = ${prefix}`)
        return sql.and(where)
      })

      /** Merges two short lists, its own and others' public ones, so that each is read from its index. */
      const newest = Effect.fnUntraced(function* (query: EngramQuery) {
        const { limit, offset, owner, reader } = query
        const where = yield* filters(query)
        const most = offset + limit
        const order = sql.literal("ORDER BY updated_at DESC, id DESC")
        const own = sql`SELECT * FROM memory_records WHERE owner = ${reader} AND ${where} ${order} LIMIT ${most}`
        const others = owner === undefined ? sql`owner <> ${reader}` : sql`owner = ${owner}`
        const open = sql`SELECT * FROM memory_records WHERE public AND ${others} AND ${where} ${order} LIMIT ${most}`
        const parts = owner === undefined ? [own, open] : [owner === reader ? own : open]
        const all = parts.map((part, at) => sql`SELECT * FROM (${part}) AS ${sql(`part${at}`)}`)
        const both = all[1] === undefined ? all[0]! : sql`${all[0]!} UNION ALL ${all[1]}`
        return yield* sql<RecordRow>`SELECT * FROM (${both}) AS found ${order} LIMIT ${limit} OFFSET ${offset}`
      })

      const best = Effect.fnUntraced(function* (query: EngramQuery, question: string) {
        const { limit, offset, owner, reader, type } = query
        const seen = sql.or([sql`owner = ${reader}`, sql`public`])
        const whose = owner === undefined ? sql`1 = 1` : sql`owner = ${owner}`
        const where = sql.and([yield* filters(query), seen, whose])
        const scopes = owner === reader ? [scopeOf(reader)] : [scopeOf(reader), publicScope]
        const kinds = type === undefined ? [] : [`kind:${type}`]
        const asked = { meaning: yield* meanings.of(question), by: reader }
        const { found } = yield* index.find(scopes, question, ["namespace:engrams", ...kinds], asked)
        const rows: Array<RecordRow> = []
        // The index gives candidates; the rows decide whether they may be seen.
        for (let at = 0; at < found.length && rows.length < offset + limit; at += rowsAtOnce) {
          const ids = found.slice(at, at + rowsAtOnce).map(({ ref }) => ref)
          const some = yield* sql<RecordRow>`SELECT * FROM memory_records WHERE ${sql.in("id", ids)} AND ${where}`
          const byId = new Map(some.map((row) => [row.id as string, row]))
          rows.push(...ids.flatMap((id) => byId.get(id) ?? []))
        }
        return rows.slice(offset, offset + limit)
      })

      const find: Engrams["Service"]["find"] = Effect.fn("Engrams.find")(function* (query) {
        const question = query.query?.trim() ?? ""
        const rows = yield* Effect.orDie(question === "" ? newest(query) : best(query, question))
        return rows.map((row) => recordFrom(row))
      })

      return Engrams.of({ get, byId, find })
    }),
  )
}
