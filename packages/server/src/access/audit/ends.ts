/** The rows that store where the audit trail begins and ends, and how a batch moves them. */
import type { EventKind } from "@stoa/contract"
import { Effect, type Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { BatchRows } from "../../store/journal/readers/Readers.ts"
import type { TrailEntry } from "./auditOf.ts"
import { type Anchor, type Head, sealAnchor, sealHead, sealingOfAnchor, sealingOfHead } from "./seal.ts"

export interface ChainEnds {
  readonly head: Head & { readonly seal: string }
  readonly anchor: Anchor & { readonly seal: string }
  /** The newest existing row, sealed or not. */
  readonly last: Anchor | undefined
}

interface Found {
  readonly seq: number | null
  readonly hash: string | null
  readonly cursor: number | null
  readonly seal: string | null
  readonly anchorSeq: number | null
  readonly anchorHash: string | null
  readonly anchorSeal: string | null
  readonly lastSeq: number | null
  readonly lastHash: string | null
}

/** One statement, so one consistent state. A deleted row reads like one that was never sealed. */
export const endsOf = (sql: SqlClient.SqlClient): Effect.Effect<ChainEnds, SqlError.SqlError> =>
  Effect.map(
    sql<Found>`SELECT h.seq, h.hash, h.cursor, h.seal, a.seq AS anchor_seq, a.hash AS anchor_hash,
      a.seal AS anchor_seal, l.seq AS last_seq, l.hash AS last_hash
      FROM (SELECT 1 AS one) o LEFT JOIN audit_head h ON h.one = o.one LEFT JOIN audit_anchor a ON a.one = o.one
      LEFT JOIN audit l ON l.seq = (SELECT max(seq) FROM audit)`,
    ([row]) => {
      const { anchorHash, anchorSeal, anchorSeq, cursor, hash, lastHash, lastSeq, seal, seq } = row!
      return {
        head: { seq: seq ?? 0, hash: hash ?? "", cursor: cursor ?? 0, seal: seal ?? missing },
        anchor: { seq: anchorSeq ?? 0, hash: anchorHash ?? missing, seal: anchorSeal ?? missing },
        last: lastSeq === null ? undefined : { seq: lastSeq, hash: lastHash! },
      }
    },
  )
/** Matches no seal. */
const missing = "missing"

/** Kinds that every version audits: if such an event was read and is not in the trail, it was removed from it. */
const lasting: ReadonlyArray<EventKind> = [
  "house.started",
  "principal.added",
  "token.issued",
  "secret.set",
  "call.settled",
]

/** Such an event of the journal in (after, upTo]. */
export const lastingIn = (sql: SqlClient.SqlClient, after: number, upTo: number) =>
  sql`SELECT cursor FROM journal WHERE cursor > ${after} AND cursor <= ${upTo}
    AND kind IN ${sql.in(lasting)} LIMIT 1`

export const hasLasting = (
  sql: SqlClient.SqlClient,
  after: number,
  upTo: number,
): Effect.Effect<boolean, SqlError.SqlError> => Effect.map(lastingIn(sql, after, upTo), (rows) => rows.length > 0)

/** An update of one of the two rows: for the writer thread, and for a transaction. */
export interface EndUpdate {
  readonly statement: BatchRows["statements"][number]
  readonly run: Effect.Effect<unknown, SqlError.SqlError>
}

export const moveHead = (sql: SqlClient.SqlClient, key: Redacted.Redacted, head: Head): EndUpdate => {
  const { cursor, hash, seq } = head
  const seal = sealHead(key, head)
  return {
    statement: {
      sql: `INSERT INTO audit_head (one, seq, hash, cursor, seal)
        SELECT 1, value->>0, value->>1, value->>2, value->>3 FROM json_each(?) WHERE true
        ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, cursor = excluded.cursor,
          seal = excluded.seal RETURNING one`,
      rows: JSON.stringify([[seq, hash, cursor, seal]]),
      expects: 1,
    },
    run: sql`INSERT INTO audit_head ${sql.insert({ one: 1, seq, hash, cursor, seal })} ON CONFLICT (one) DO UPDATE
      SET seq = excluded.seq, hash = excluded.hash, cursor = excluded.cursor, seal = excluded.seal`,
  }
}

export const moveAnchor = (sql: SqlClient.SqlClient, key: Redacted.Redacted, anchor: Anchor): EndUpdate => {
  const { hash, seq } = anchor
  const seal = sealAnchor(key, anchor)
  return {
    statement: {
      sql: `INSERT INTO audit_anchor (one, seq, hash, seal)
        SELECT 1, value->>0, value->>1, value->>2 FROM json_each(?) WHERE true
        ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, seal = excluded.seal RETURNING one`,
      rows: JSON.stringify([[seq, hash, seal]]),
      expects: 1,
    },
    run: sql`INSERT INTO audit_anchor ${sql.insert({ one: 1, seq, hash, seal })} ON CONFLICT (one) DO UPDATE
      SET seq = excluded.seq, hash = excluded.hash, seal = excluded.seal`,
  }
}

/** The row that records a new seal. */
export const sealEntry = { action: "seal", resource: "audit" } as const

/** What is wrong with the end of the trail before a batch, if anything. `never`: it has not been sealed yet. */
const faultOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  key: Redacted.Redacted,
  { anchor, head, last }: ChainEnds,
  before: number,
) {
  const [ofHead, ofAnchor] = [sealingOfHead(key, head), sealingOfAnchor(key, anchor)]
  if (ofHead === "broken" || ofAnchor === "broken") return "the seal did not fit the house's key"
  if (last !== undefined && last.seq > head.seq) return "rows stood after the newest that was sealed"
  // Events that the audit has read but that are not in the trail.
  const older = head.cursor < before - 1 && (yield* hasLasting(sql, head.cursor, before - 1))
  if (older) return "it was replaced by an older one"
  return (ofHead === "none" && head.seq > 0) || ofAnchor === "none" ? ("never" as const) : undefined
})

/**
 * Where the next batch continues: at the sealed end. A trail that does not match its seal continues too, because
 * otherwise nothing would be audited any more; it gets a new seal, and a row records that.
 */
export const checkChainEnd = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  key: Redacted.Redacted,
  ends: ChainEnds,
  firstEvent: number,
) {
  const fault = yield* faultOf(sql, key, ends, firstEvent)
  if (fault === undefined) return { from: ends.head, moved: [], row: undefined }
  const row: TrailEntry = {
    principal: null,
    ...sealEntry,
    result: fault === "never" ? "success" : "failure",
    rule: fault === "never" ? "there was no seal" : fault,
  }
  const from = ends.last !== undefined && ends.last.seq > ends.head.seq ? ends.last : ends.head
  const { anchor } = ends
  const begins = anchor.hash === missing ? { seq: 0, hash: "" } : anchor
  return { from, moved: [moveAnchor(sql, key, begins)], row }
})
