/**
 * The audit trail: a reader of the journal, in one transaction with its cursor, so that each event is in it exactly
 * once. Nothing here changes or removes a row, except that retention removes the oldest ones and keeps their last hash
 * as the anchor. Both ends are signed with the house's key (`seal.ts`): each batch continues from the signed head and
 * signs the new one, so that removed rows stay visible as a gap.
 */
import { AuditEntry, type AuditResult, type Event, type Page, type PageQuery, type PrincipalId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, type Redacted, Schema, type Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type Insert, makeInsert } from "../../store/database/dialect/Inserts.ts"
import { isoMoment, withinADay } from "../../store/Moment.ts"
import { decodeCursor, encodeCursor } from "../../store/Pages.ts"
import { readerLayer, rowsInto } from "../../store/journal/readers/Readers.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { acceptEntry, type TrailEntry, auditedKinds, auditOf, type ChainRow, hashOfRow } from "./auditOf.ts"
import { exportTrail } from "./export.ts"
import { endsOf, checkChainEnd, moveAnchor, moveHead, sealEntry } from "./ends.ts"
import { sealingOfAnchor } from "./seal.ts"
import { type TrailCheck, verifyTrail } from "./verify.ts"

/** S4-103. */
const keptDays = 90

interface Row extends ChainRow {
  readonly hash: string
}

const decode = Schema.decodeUnknownSync(AuditEntry)
const fromRow = (row: Row): AuditEntry => {
  // Null columns are left out.
  return decode(
    Object.fromEntries(Object.entries(row).filter(([name, value]) => value !== null || name === "principal")),
  )
}

const nothing = { rule: null, call: null, space: null, durationMs: null }
type Stored = Omit<Row, keyof typeof nothing> & {
  readonly [Name in keyof typeof nothing]: NonNullable<Row[Name]> | null
}
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
  "space",
  "durationMs",
] as const
const inserts = new WeakMap<SqlClient.SqlClient, Insert<Stored>>()
const insertInto = (sql: SqlClient.SqlClient): Insert<Stored> => {
  const made = inserts.get(sql) ?? makeInsert<Stored>(sql, "audit", columns)
  inserts.set(sql, made)
  return made
}

/** The audit's own key, derived once from the house's key: every batch is signed with it. */
const keys = new WeakMap<Secrets["Service"], Redacted.Redacted>()
const keyOf = (secrets: Secrets["Service"]): Redacted.Redacted => {
  const key = keys.get(secrets) ?? secrets.derive("audit")
  keys.set(secrets, key)
  return key
}

export class Audit extends Context.Service<
  Audit,
  {
    readonly list: (
      query: PageQuery & {
        readonly principal?: PrincipalId
        readonly tool?: string
        readonly result?: AuditResult
        readonly correlation?: string
      },
    ) => Effect.Effect<Page<AuditEntry>>
    /** Verifies the whole chain and both seals, and reports where it breaks. */
    readonly verify: Effect.Effect<TrailCheck>
    readonly entries: Effect.Effect<number>
    /**
     * The whole trail as JSON Lines, oldest first. The first and the last line describe its ends
     * (docs/operations/audit.md).
     */
    readonly export: Stream.Stream<Uint8Array>
    /** The rows that report a new seal, since an operator last accepted that. */
    readonly resealed: Effect.Effect<{ readonly first: number | null; readonly failed: number | null }>
    /** Removes expired rows, at most one day's worth. Leaves the trail alone if its seal does not match. */
    readonly retain: Effect.Effect<number>
  }
>()("server/access/audit/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const key = keyOf(yield* Secrets)

      const list: Audit["Service"]["list"] = Effect.fn("Audit.list")(function* (query) {
        const limit = query.limit ?? 50
        const before =
          query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number.parseInt(decodeCursor(query.cursor)) || 0
        const where = [sql`seq < ${before}`]
        if (query.principal !== undefined) where.push(sql`principal = ${query.principal}`)
        if (query.tool !== undefined) where.push(sql`resource = ${`tools/${query.tool}`}`)
        if (query.result !== undefined) where.push(sql`result = ${query.result}`)
        if (query.correlation !== undefined) where.push(sql`correlation_id = ${query.correlation}`)
        const rows = yield* sql<Row>`SELECT * FROM audit WHERE ${sql.and(where)} ORDER BY seq DESC LIMIT ${limit + 1}`
        const items = rows.slice(0, limit).map(fromRow)
        return { items, next: rows.length > limit ? encodeCursor(String(items.at(-1)!.seq)) : null }
      }, Effect.orDie)

      const verify = Effect.orDie(verifyTrail(sql, key)).pipe(Effect.withSpan("Audit.verify"))

      const retain = Effect.gen(function* () {
        const { anchor } = yield* endsOf(sql)
        if (sealingOfAnchor(key, anchor) !== "fits") {
          yield* Effect.logError(
            "The signature of the audit trail does not match; nothing was changed. Run stoa doctor",
          )
          return 0
        }
        const term = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { days: keptDays }))
        const oldest = (yield* sql<{ at: string }>`SELECT at FROM audit ORDER BY seq LIMIT 1`)[0]?.at
        const before = withinADay(oldest, term)
        const last = (yield* sql<Row>`SELECT * FROM audit WHERE at < ${before} ORDER BY seq DESC LIMIT 1`)[0]
        if (last === undefined) return 0
        yield* moveAnchor(sql, key, last).run
        return (yield* sql`DELETE FROM audit WHERE seq <= ${last.seq} RETURNING seq`).length
      }).pipe(sql.withTransaction, Effect.orDie, Effect.withSpan("Audit.retain"))

      const since = Effect.gen(function* () {
        const rows = yield* sql<{ seq: number; result: AuditResult }>`SELECT seq, result FROM audit
          WHERE action = ${sealEntry.action} AND resource = ${sealEntry.resource} AND seq > coalesce((SELECT max(seq)
            FROM audit WHERE action = ${acceptEntry.action} AND resource = ${acceptEntry.resource}), 0) ORDER BY seq`
        const at = (result: AuditResult) => rows.find((row) => row.result === result)?.seq ?? null
        return { first: at("success"), failed: at("failure") }
      }).pipe(Effect.orDie)

      const entries = Effect.orDie(
        Effect.map(
          sql<{ seq: number | null; anchor: number }>`SELECT max(seq) AS seq,
            (SELECT seq FROM audit_anchor) AS anchor FROM audit`,
          ([row]) => (row!.seq === null ? 0 : row!.seq - row!.anchor),
        ),
      )

      return Audit.of({ list, verify, entries, export: exportTrail(sql, verify), resealed: since, retain })
    }),
  )

  static readonly reader = readerLayer({
    name: "audit",
    atomic: true,
    kinds: auditedKinds,
    // In a busy house many events are audited at a time, because each batch is a commit.
    gather: "20 millis",
    givesRows: true,
    handle: Effect.fnUntraced(function* (events) {
      const sql = yield* SqlClient.SqlClient
      const key = keyOf(yield* Secrets)
      // Continues from the sealed end, not from the last row: rows that were cut off stay visible as a gap.
      const { from, moved, row: anew } = yield* checkChainEnd(sql, key, yield* endsOf(sql), events[0]!.cursor)
      let { hash, seq } = from
      const rows: Array<Stored> = []
      const add = (audited: TrailEntry, event: Event) => {
        const at = isoMoment(DateTime.toEpochMillis(event.at))
        const row = { ...audited, seq: ++seq, at, correlationId: event.correlationId }
        hash = hashOfRow(hash, row)
        rows.push({ ...nothing, ...row, hash })
      }
      if (anew !== undefined) add(anew, events[0]!)
      for (const event of events) {
        const audited = auditOf(event)
        if (audited !== undefined) add(audited, event)
      }
      const ends = [...moved, moveHead(sql, key, { seq, hash, cursor: events.at(-1)!.cursor })]
      const made = rowsInto(insertInto(sql), rows)
      return {
        statements: [...made.statements, ...ends.map(({ statement }) => statement)],
        run: Effect.all([made.run, ...ends.map(({ run }) => run)]),
      }
    }),
  })
}
