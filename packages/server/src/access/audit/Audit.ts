/**
 * The audit trail: a reader of the journal, in one transaction with its cursor, so that each event is in it exactly once.
 * Nothing here changes or removes a row, except that retention cuts the oldest ones and leaves their last hash as anchor.
 */
import { AuditEntry, type AuditResult, type Page, type PageQuery, type PrincipalId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Insert, makeInsert } from "../../store/database/Inserts.ts"
import { isoMoment } from "../../store/Moment.ts"
import { decodeCursor, encodeCursor } from "../../store/Pages.ts"
import { readerLayer, rowsInto } from "../../store/journal/Readers.ts"
import { auditedKinds, auditOf, type ChainRow, hashOfRow } from "./auditOf.ts"

/** S4-103. */
const keptDays = 90

interface Row extends ChainRow {
  readonly hash: string
}

const decode = Schema.decodeUnknownSync(AuditEntry)
const fromRow = (row: Row): AuditEntry => {
  const { call, rule, ...rest } = row as Row & { call: string | null; rule: string | null }
  return decode({ ...rest, ...(call === null ? {} : { call }), ...(rule === null ? {} : { rule }) })
}

type Stored = Omit<Row, "rule" | "call"> & { readonly rule: string | null; readonly call: string | null }
const columns = [
  "seq",
  "at",
  "principal",
  "action",
  "resource",
  "result",
  "rule",
  "call",
  "correlationId",
  "hash",
] as const
const inserts = new WeakMap<SqlClient.SqlClient, Insert<Stored>>()
const insertInto = (sql: SqlClient.SqlClient): Insert<Stored> => {
  const made = inserts.get(sql) ?? makeInsert<Stored>(sql, "audit", columns)
  inserts.set(sql, made)
  return made
}

export class Audit extends Context.Service<
  Audit,
  {
    readonly list: (
      query: PageQuery & { readonly principal?: PrincipalId; readonly tool?: string; readonly result?: AuditResult },
    ) => Effect.Effect<Page<AuditEntry>>
    /** Walks the whole chain; says where it breaks, if it does. */
    readonly verify: Effect.Effect<{ readonly rows: number; readonly brokenAt: number | null }>
    readonly retain: Effect.Effect<number>
  }
>()("server/access/audit/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const anchor = Effect.map(
        sql<{ seq: number; hash: string }>`SELECT seq, hash FROM audit_anchor`,
        (rows) => rows[0]!,
      )

      const list: Audit["Service"]["list"] = Effect.fn("Audit.list")(function* (query) {
        const limit = query.limit ?? 50
        const before =
          query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number.parseInt(decodeCursor(query.cursor)) || 0
        const where = [sql`seq < ${before}`]
        if (query.principal !== undefined) where.push(sql`principal = ${query.principal}`)
        if (query.tool !== undefined) where.push(sql`resource = ${`tools/${query.tool}`}`)
        if (query.result !== undefined) where.push(sql`result = ${query.result}`)
        const rows = yield* sql<Row>`SELECT * FROM audit WHERE ${sql.and(where)} ORDER BY seq DESC LIMIT ${limit + 1}`
        const items = rows.slice(0, limit).map(fromRow)
        return { items, next: rows.length > limit ? encodeCursor(String(items.at(-1)!.seq)) : null }
      }, Effect.orDie)

      const verify = Effect.gen(function* () {
        let { hash, seq } = yield* anchor
        let rows = 0
        for (;;) {
          const batch = yield* sql<Row>`SELECT * FROM audit WHERE seq > ${seq} ORDER BY seq LIMIT 1000`
          for (const row of batch) {
            if (row.seq !== seq + 1 || hashOfRow(hash, row) !== row.hash) return { rows, brokenAt: seq + 1 }
            seq = row.seq
            hash = row.hash
            rows++
          }
          if (batch.length < 1000) return { rows, brokenAt: null }
        }
      }).pipe(Effect.orDie, Effect.withSpan("Audit.verify"))

      const retain = Effect.gen(function* () {
        const before = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { days: keptDays }))
        const last = (yield* sql<Row>`SELECT * FROM audit WHERE at < ${before} ORDER BY seq DESC LIMIT 1`)[0]
        if (last === undefined) return 0
        yield* sql`UPDATE audit_anchor SET seq = ${last.seq}, hash = ${last.hash}`
        return (yield* sql`DELETE FROM audit WHERE seq <= ${last.seq} RETURNING seq`).length
      }).pipe(sql.withTransaction, Effect.orDie, Effect.withSpan("Audit.retain"))

      return Audit.of({ list, verify, retain })
    }),
  )

  static readonly reader = readerLayer({
    name: "audit",
    atomic: true,
    kinds: auditedKinds,
    // A busy house is audited many at a time: each time is a commit.
    gather: "20 millis",
    givesRows: true,
    handle: Effect.fnUntraced(function* (events) {
      const sql = yield* SqlClient.SqlClient
      const newest = yield* sql<{ seq: number; hash: string }>`SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1`
      let { hash, seq } =
        newest[0] ?? (yield* sql<{ seq: number; hash: string }>`SELECT seq, hash FROM audit_anchor`)[0]!
      const rows: Array<Stored> = []
      for (const event of events) {
        const audited = auditOf(event)
        if (audited === undefined) continue
        const at = isoMoment(DateTime.toEpochMillis(event.at))
        const row = { ...audited, seq: ++seq, at, correlationId: event.correlationId }
        hash = hashOfRow(hash, row)
        rows.push({ rule: null, call: null, ...row, hash })
      }
      return rowsInto(insertInto(sql), rows)
    }),
  })
}
