/**
 * The trail for people outside: one JSON object per line. The first line is the beginning of the chain; then comes one
 * line per entry, oldest first, each with the hash that covers the previous one; the last line has the house's own
 * verification. docs/operations/audit.md describes the format, and how to verify it without the house.
 */
import { DateTime, Effect, Option, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import type { ChainRow } from "./auditOf.ts"
import { endsOf } from "./ends.ts"
import type { TrailCheck } from "./verify.ts"

const exportFormat = "stoa-audit"
const atOnce = 1000

type Row = ChainRow & { readonly hash: string }

const text = new TextEncoder()
const line = (value: unknown): string => `${JSON.stringify(value)}\n`

/** In the order of the hash, with everything that the hash covers. */
const entry = (row: Row): string => {
  const { action, at, call, correlationId, durationMs, hash, principal, resource, result, rule, seq, space } = row
  return line({ seq, at, principal, action, resource, result, rule, call, correlationId, space, durationMs, hash })
}

export const exportTrail = (sql: SqlClient.SqlClient, verify: Effect.Effect<TrailCheck>): Stream.Stream<Uint8Array> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { anchor, head } = yield* endsOf(sql)
      const exportedAt = DateTime.formatIso(yield* DateTime.now)
      const first = line({
        format: exportFormat,
        version: 1,
        exportedAt,
        begins: { seq: anchor.seq, hash: anchor.hash },
      })
      let rows = 0
      const page = (after: number) =>
        Effect.map(
          Effect.orDie(
            sql<Row>`SELECT * FROM audit WHERE seq > ${after} AND seq <= ${head.seq} ORDER BY seq LIMIT ${atOnce}`,
          ),
          (found) => {
            rows += found.length
            return found
          },
        )
      const entries = Stream.paginate(anchor.seq, (after: number) =>
        Effect.map(
          page(after),
          (found) =>
            [found.map(entry), found.length < atOnce ? Option.none<number>() : Option.some(found.at(-1)!.seq)] as const,
        ),
      )
      const last = Effect.map(verify, (found) =>
        line({
          end: true,
          rows,
          ends: { seq: head.seq, hash: head.hash },
          chain: { whole: found.brokenAt === null, brokenAt: found.brokenAt, why: found.why, sealed: found.sealed },
        }),
      )
      return Stream.make(first).pipe(Stream.concat(entries), Stream.concat(Stream.fromEffect(last)))
    }),
  ).pipe(
    Stream.orDie,
    Stream.map((words) => text.encode(words)),
  )
