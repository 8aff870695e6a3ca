/**
 * How much each principal stores, counted in the transaction that stores it, and the limits on it: `stored`, in MiB, for
 * one principal and for an owner with all its agents. Nothing that makes it less is refused.
 */
import { type Limit, type PrincipalId, WrongState } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { principalFromRow } from "../identity/Principals.ts"
import { concerns } from "../rights/policy.ts"
import { Rules } from "../rights/Rules.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { defaultLimits } from "./Limits.ts"

const resource = "stored"
const mebibyte = 1024 * 1024

interface Change {
  readonly owner: PrincipalId
  readonly bytes: number
}

/** What one principal stores, and how much it may. */
export interface StorageUse {
  readonly principal: PrincipalId
  readonly name: string
  readonly bytes: number
  readonly limit: number
}

const sizeOf = (bytes: number): string => `${Math.ceil((bytes / mebibyte) * 10) / 10} MiB`

/** Named exactly: a limit on `*` counts requests, and its number is none of MiB. */
const limitFor = (
  limits: ReadonlyArray<Limit>,
  principal: Parameters<typeof concerns>[1],
  per: NonNullable<Limit["per"]>,
): Limit | undefined =>
  limits.find(
    (one) => one.resource === resource && (one.per ?? "principal") === per && concerns(one.principal, principal),
  )

export class Storage extends Context.Service<
  Storage,
  {
    /** Counts what a transaction stores, or removes, for a principal; refuses what would exceed a limit. */
    readonly count: (owner: PrincipalId, bytes: number) => Effect.Effect<void, WrongState, Transaction>
    /** The same for what is stored already, which nobody can refuse. */
    readonly recount: (owner: PrincipalId, bytes: number) => Effect.Effect<void, never, Transaction>
    /** Whoever stores most, first. */
    readonly most: (count: number) => Effect.Effect<ReadonlyArray<StorageUse>>
  }
>()("server/access/limits/Storage") {
  static readonly layer = Layer.effect(
    Storage,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const rules = yield* Rules

      /** Written last, in one order, because all that a principal stores changes its one row. */
      const writeAll = Effect.fnUntraced(function* (all: ReadonlyArray<Change>) {
        const sums = new Map<PrincipalId, number>()
        for (const { bytes, owner } of all) sums.set(owner, (sums.get(owner) ?? 0) + bytes)
        for (const [principal, bytes] of [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)))
          yield* sql`INSERT INTO storage (principal, bytes) VALUES (${principal}, ${bytes})
            ON CONFLICT (principal) DO UPDATE SET bytes = storage.bytes + excluded.bytes`
      }, Effect.orDie)
      // After the search index, whose scopes more transactions change.
      const write = Object.assign(writeAll, { turn: 2 })
      const recount: Storage["Service"]["recount"] = (owner, bytes) =>
        bytes === 0 ? Effect.void : journal.putOff(write, { owner, bytes })

      const principalOf = Effect.fnUntraced(function* (id: PrincipalId) {
        const rows = yield* sql`SELECT * FROM principals WHERE id = ${id}`
        return principalFromRow(rows[0])
      }, Effect.orDie)

      const usedBy = Effect.fnUntraced(function* (owner: PrincipalId, pot: PrincipalId) {
        const rows = yield* sql<{ own: number | string | null; pot: number | string | null }>`SELECT
          sum(CASE WHEN principal = ${owner} THEN bytes ELSE 0 END) AS own, sum(bytes) AS pot
          FROM storage WHERE principal = ${pot} OR principal IN (SELECT id FROM principals WHERE owner = ${pot})`
        return { own: Number(rows[0]?.own ?? 0), pot: Number(rows[0]?.pot ?? 0) }
      }, Effect.orDie)

      const listed = Effect.map(rules.limits, (own) => [...own, ...defaultLimits])

      const refused = (who: string, used: number, more: number, limit: Limit) =>
        new WrongState({
          detail:
            `${who} stores ${sizeOf(used)}, and ${sizeOf(more)} more would exceed the limit "${resource}" of ` +
            `${limit.count} MiB. Delete records permanently (their earlier versions count, too), or ask an admin to ` +
            `raise "${resource}" under "limits" in the configuration file.`,
        })

      const count: Storage["Service"]["count"] = Effect.fn("Storage.count")(function* (owner, bytes) {
        if (bytes > 0) {
          const [principal, limits] = [yield* principalOf(owner), yield* listed]
          const pot = principal.owner ?? principal.id
          const used = yield* usedBy(owner, pot)
          const own = limitFor(limits, principal, "principal")
          if (own !== undefined && used.own + bytes > own.count * mebibyte)
            return yield* refused(principal.name, used.own, bytes, own)
          const shared = limitFor(limits, principal, "owner")
          if (shared !== undefined && used.pot + bytes > shared.count * mebibyte)
            return yield* refused(`The owner of ${principal.name}, with all agents,`, used.pot, bytes, shared)
        }
        yield* recount(owner, bytes)
      })

      const most: Storage["Service"]["most"] = Effect.fn("Storage.most")(function* (count) {
        const limits = yield* listed
        const rows = yield* sql<Record<string, unknown> & { bytes: number | string }>`SELECT p.*, s.bytes
          FROM storage s JOIN principals p ON p.id = s.principal ORDER BY s.bytes DESC, s.principal LIMIT ${count}`
        return rows.map(({ bytes, ...row }) => {
          const principal = principalFromRow(row)
          const limit = (limitFor(limits, principal, "principal")?.count ?? 0) * mebibyte
          return { principal: principal.id, name: principal.name, bytes: Number(bytes), limit }
        })
      }, Effect.orDie)

      return Storage.of({ count, recount, most })
    }),
  ).pipe(Layer.provide(Rules.layer))
}
