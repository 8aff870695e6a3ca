/**
 * Verifies the whole trail: each row's hash, both ends and their signatures, and that the journal was not read further
 * than the trail goes.
 */
import { Effect, type Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { type ChainRow, hashOfRow } from "./auditOf.ts"
import { endsOf, hasLasting } from "./ends.ts"
import { sealingOfAnchor, sealingOfHead } from "./seal.ts"

export interface TrailCheck {
  readonly rows: number
  /** The first row that was changed or is missing. */
  readonly brokenAt: number | null
  readonly why: string | null
  /** Whether its end is sealed. The next start seals a trail from before seals existed. */
  readonly sealed: boolean
}

const atOnce = 1000

type Row = ChainRow & { readonly hash: string }

const walk = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, key: Redacted.Redacted) {
  const { anchor, head } = yield* endsOf(sql)
  let { hash, seq } = anchor
  let rows = 0
  const broken = (brokenAt: number, why: string): TrailCheck => ({ rows, brokenAt, why, sealed: false })
  if (sealingOfAnchor(key, anchor) === "broken")
    return broken(anchor.seq, "the start of the stored rows is not signed with the house's key")
  while (seq < head.seq) {
    const batch =
      yield* sql<Row>`SELECT * FROM audit WHERE seq > ${seq} AND seq <= ${head.seq} ORDER BY seq LIMIT ${atOnce}`
    for (const row of batch) {
      if (row.seq !== seq + 1) return broken(seq + 1, `rows ${seq + 1} to ${row.seq - 1} are missing`)
      if (hashOfRow(hash, row) !== row.hash) return broken(row.seq, "its hash does not fit")
      seq = row.seq
      hash = row.hash
      rows++
    }
    if (batch.length === 0) return broken(seq + 1, `rows ${seq + 1} to ${head.seq} are missing`)
  }
  if (seq !== head.seq || hash !== head.hash) return broken(seq, "it is not the row that was sealed as the newest")
  if (sealingOfHead(key, head) === "broken") return broken(seq, "the newest row is not sealed with the house's key")
  // One statement, so one consistent state: the audit continues meanwhile.
  const [now] = yield* sql<{ seq: number; cursor: number; last: number | null; readTo: number | null }>`SELECT h.seq,
    h.cursor, (SELECT max(seq) FROM audit) AS last, (SELECT cursor FROM readers WHERE name = 'audit') AS read_to
    FROM audit_head h`
  const { cursor, last, readTo, seq: newest } = now!
  if (last !== null && last > newest)
    return broken(newest + 1, "there are rows after the one that was signed as the newest")
  if (readTo !== null && (yield* hasLasting(sql, cursor, readTo)))
    return broken(newest + 1, "the trail ends earlier than it should: it was replaced by an older copy")
  const sealed = head.seq === 0 || sealingOfHead(key, head) === "fits"
  return { rows, brokenAt: null, why: null, sealed } satisfies TrailCheck
})

/** Starts again if retention removes rows meanwhile. */
export const verifyTrail = (
  sql: SqlClient.SqlClient,
  key: Redacted.Redacted,
): Effect.Effect<TrailCheck, SqlError.SqlError> =>
  Effect.gen(function* () {
    const { anchor } = yield* endsOf(sql)
    const found = yield* walk(sql, key)
    if (found.brokenAt === null || (yield* endsOf(sql)).anchor.seq === anchor.seq) return found
    return yield* verifyTrail(sql, key)
  })
