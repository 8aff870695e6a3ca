/** People, agents and services. Names are unique among principals that are not retired; retiring one frees its name. */
import {
  type Caller,
  Missing,
  NameTaken,
  type NewPrincipal,
  OwnedByFile,
  type Page,
  type PageQuery,
  Principal,
  type PrincipalId,
  type PrincipalKind,
  type Role,
  type Source,
  type ToolsetName,
  WrongState,
} from "@stoa/contract"
import { spellingOf } from "@stoa/tools"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { json } from "../../store/database/dialect/Columns.ts"
import { lockName } from "../../store/database/dialect/Locks.ts"
import { currentCause, newId } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../../store/Pages.ts"
import { rightsChanged } from "../rights/Rights.ts"
import { defaultRoles } from "../rights/policy.ts"
import { makeEndTokens } from "./endTokens.ts"
import { makeFirstIssuer } from "./firstIssuer.ts"
import { walletKey } from "./wallets/walletKey.ts"

const Row = Schema.Struct({
  ...Principal.fields,
  roles: json(Principal.fields.roles),
  toolsets: json(Principal.fields.toolsets),
})
const decode = Schema.decodeUnknownSync(Row)
const encode = Schema.encodeSync(Row)
export const principalFromRow = (row: unknown): Principal => new Principal(decode(row))

/** Names that differ only in case or Unicode form are the same. */
export const nameKey = (name: string): string => name.normalize("NFKC").toLowerCase()

/** The refusal of a name, by those that it reads like: the same name, in any case or form, or another. */
export const nameTaken = (noun: string, name: string, taken: ReadonlyArray<string>): NameTaken => {
  const like = taken.some((one) => nameKey(one) === nameKey(name)) ? undefined : taken[0]
  return new NameTaken({ noun, name, ...(like === undefined ? {} : { like }) })
}

/** The keys by which a principal is found. Both become free when it retires. */
const keysOf = ({ name, wallet }: Principal) => ({
  nameKey: nameKey(name),
  spelling: spellingOf(name),
  walletKey: wallet === null ? null : walletKey(wallet),
})

export interface PrincipalChanges {
  readonly name?: string
  readonly roles?: ReadonlyArray<Role>
  readonly toolsets?: ReadonlyArray<ToolsetName>
  readonly wallet?: string | null
  readonly owner?: PrincipalId | null
}

export class Principals extends Context.Service<
  Principals,
  {
    readonly add: (
      principal: NewPrincipal,
      source?: Source,
    ) => Effect.Effect<Principal, NameTaken | Missing, Transaction>
    /** By id or by name; retired principals only by id. */
    readonly get: (ref: string) => Effect.Effect<Principal, Missing>
    /** `ids`: those, also retired ones, instead of all that are not retired. */
    readonly list: (
      query: PageQuery & { readonly kind?: PrincipalKind; readonly ids?: ReadonlyArray<string> },
    ) => Effect.Effect<Page<Principal>>
    readonly change: (
      ref: string,
      changes: PrincipalChanges,
      by?: {
        readonly source?: Source
        /** Who wants it. */
        readonly caller?: Caller["Service"]
      },
    ) => Effect.Effect<Principal, Missing | NameTaken | OwnedByFile | WrongState, Transaction>
    /** Retires a principal for good: its tokens stop at once, its name becomes free, its history stays. */
    readonly retire: (ref: string, by?: Source) => Effect.Effect<void, Missing | OwnedByFile | WrongState, Transaction>
    readonly declared: Effect.Effect<ReadonlyArray<Principal>>
    /** The admins, and since which event of the journal: they answer if nobody else may. */
    readonly admins: Effect.Effect<ReadonlyArray<{ readonly id: PrincipalId; readonly since: number }>>
    /** Those of these that are people and not retired. */
    readonly peopleOf: (ids: ReadonlyArray<PrincipalId>) => Effect.Effect<ReadonlyArray<Principal>>
    /** People with a role, at most `most`. */
    readonly peopleIn: (role: Role, most: number) => Effect.Effect<ReadonlyArray<PrincipalId>>
  }
>()("server/access/identity/Principals") {
  static readonly layer = (configFile: string) =>
    Layer.effect(
      Principals,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const endTokens = yield* makeEndTokens
        const firstIssuers = yield* makeFirstIssuer
        const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)

        const find = Effect.fnUntraced(function* (ref: string) {
          const rows = yield* sql`SELECT * FROM principals WHERE id = ${ref} OR name_key = ${nameKey(ref)}`
          return rows[0] === undefined ? undefined : principalFromRow(rows[0])
        }, Effect.orDie)

        const get = Effect.fn("Principals.get")(function* (ref: string) {
          const found = yield* find(ref)
          return found ?? (yield* new Missing({ noun: "principal", ref }))
        })

        /** Nobody else may have it, nor a name that people would take for it. */
        const free = Effect.fnUntraced(function* (name: string, by?: PrincipalId) {
          yield* Effect.orDie(lockName(sql, "principals", spellingOf(name)))
          const rows = yield* Effect.orDie(
            sql<{ id: string; name: string }>`SELECT id, name FROM principals
              WHERE spelling = ${spellingOf(name)} AND retired_at IS NULL`,
          )
          const taken = rows.filter(({ id }) => id !== by).map((row) => row.name)
          if (taken.length > 0) return yield* nameTaken("principal", name, taken)
        })

        /** A wallet belongs to one principal: otherwise two would own what is stored under it. */
        const unclaimed = Effect.fnUntraced(function* (wallet: string | null | undefined, by?: PrincipalId) {
          if (wallet == null) return
          yield* Effect.orDie(lockName(sql, "wallets", walletKey(wallet)))
          const rows = yield* Effect.orDie(
            sql<{ id: PrincipalId }>`SELECT id FROM principals WHERE wallet_key = ${walletKey(wallet)}`,
          )
          if (rows[0] !== undefined && rows[0].id !== by) return yield* new NameTaken({ noun: "wallet", name: wallet })
        })

        /** Whoever gives a wallet may have its key: who that is, and after which event. */
        const giftOf = Effect.fnUntraced(function* (to: PrincipalId, caller?: Caller["Service"]) {
          const from = yield* firstIssuers.ofGift(caller, to)
          if (from !== undefined) return { walletBy: from.hand, walletAfter: from.handAfter }
          return { walletBy: (yield* currentCause).actor, walletAfter: yield* journal.committed }
        })

        const add: Principals["Service"]["add"] = Effect.fn("Principals.add")(function* (wanted, source = "house") {
          yield* free(wanted.name)
          yield* unclaimed(wanted.wallet)
          const owner = wanted.owner === undefined ? null : (yield* get(wanted.owner)).id
          const principal = new Principal({
            id: newId("prn"),
            kind: wanted.kind,
            name: wanted.name,
            roles: wanted.roles ?? defaultRoles[wanted.kind],
            owner,
            wallet: wanted.wallet ?? null,
            toolsets: wanted.toolsets ?? ["stoa"],
            source,
            createdAt: yield* DateTime.now,
            retiredAt: null,
          })
          const adminAfter = principal.roles.includes("admin") ? yield* journal.committed : null
          const given = principal.wallet === null ? {} : yield* giftOf(principal.id)
          const row = { ...encode(principal), ...keysOf(principal), ...given, adminAfter }
          yield* Effect.catchReason(sql`INSERT INTO principals ${sql.insert(row)}`, "SqlError", "UniqueViolation", () =>
            Effect.fail(new NameTaken({ noun: "principal", name: wanted.name })),
          ).pipe(Effect.catchTag("SqlError", Effect.die))
          yield* journal.append({
            kind: "principal.added",
            body: { principal: principal.id, kind: principal.kind, name: principal.name },
          })
          yield* changed
          return principal
        })

        const list: Principals["Service"]["list"] = Effect.fn("Principals.list")(function* (query) {
          const { after, limit } = pageFrom(query)
          const kind = query.kind === undefined ? sql`1 = 1` : sql`kind = ${query.kind}`
          if (query.ids !== undefined) {
            const rows = yield* sql<{ id: string }>`SELECT * FROM principals
              WHERE ${sql.in("id", query.ids)} AND ${kind} AND id > ${after} ORDER BY id LIMIT ${limit + 1}`
            return pageOf(rows, limit, principalFromRow, (row) => row.id)
          }
          const rows = yield* sql<{ id: string }>`SELECT * FROM principals
            WHERE retired_at IS NULL AND ${kind} AND name_key > ${after} ORDER BY name_key LIMIT ${limit + 1}`
          return pageOf(rows, limit, principalFromRow, (row) => nameKey(row.name))
        }, Effect.orDie)

        /** Only the file changes what it declares, and retired principals cannot be changed. */
        const mayTouch = Effect.fnUntraced(function* (principal: Principal, by: Source) {
          if (principal.source === "file" && by !== "file")
            return yield* new OwnedByFile({ noun: principal.kind, name: principal.name, file: configFile })
          if (principal.retiredAt !== null)
            return yield* new WrongState({ detail: `${principal.name} is retired and cannot be changed.` })
        })

        const change: Principals["Service"]["change"] = Effect.fn("Principals.change")(function* (
          ref,
          changes,
          { caller, source = "house" } = {},
        ) {
          const before = yield* get(ref)
          yield* mayTouch(before, source)
          if (changes.name !== undefined && nameKey(changes.name) !== nameKey(before.name))
            yield* free(changes.name, before.id)
          yield* unclaimed(changes.wallet, before.id)
          if (before.name === "admin" && changes.name !== undefined && changes.name !== "admin")
            return yield* new WrongState({
              detail: "The house's admin cannot be renamed, because settings refer to it.",
            })
          if (before.name === "admin" && changes.roles !== undefined && !changes.roles.includes("admin"))
            return yield* new WrongState({ detail: "The house's admin cannot lose the role admin." })
          const after = new Principal({ ...before, ...changes })
          const named = Object.keys(changes).filter(
            (key) => JSON.stringify(before[key as never]) !== JSON.stringify(after[key as never]),
          )
          if (named.length === 0) return before
          const { id: _, ...row } = encode(after)
          const [was, is] = [before.roles.includes("admin"), after.roles.includes("admin")]
          const rule = was === is ? {} : { adminAfter: is ? yield* journal.committed : null }
          const given = named.includes("wallet") ? yield* giftOf(before.id, caller) : {}
          yield* Effect.orDie(
            sql`UPDATE principals SET ${sql.update({ ...row, ...rule, ...given, ...keysOf(after) })}
              WHERE id = ${before.id}`,
          )
          // A former admin loses the internal context on every token.
          if (was && !is)
            yield* Effect.orDie(
              sql`UPDATE tokens SET context = 'agent' WHERE principal = ${before.id} AND context = 'internal'`,
            )
          yield* journal.append({ kind: "principal.changed", body: { principal: before.id, changes: named } })
          yield* changed
          return after
        })

        const retire: Principals["Service"]["retire"] = Effect.fn("Principals.retire")(function* (ref, by = "house") {
          const principal = yield* get(ref)
          yield* mayTouch(principal, by)
          if (principal.name === "admin")
            return yield* new WrongState({ detail: "The house's admin cannot be retired." })
          const now = DateTime.formatIso(yield* DateTime.now)
          yield* Effect.orDie(
            sql`UPDATE principals SET retired_at = ${now}, name_key = NULL, wallet_key = NULL WHERE id = ${principal.id}`,
          )
          yield* journal.append({
            kind: "principal.retired",
            body: { principal: principal.id, name: principal.name },
          })
          yield* endTokens(sql`principal = ${principal.id}`)
          yield* changed
        })

        const declared = sql`SELECT * FROM principals WHERE source = 'file' AND retired_at IS NULL`.pipe(
          Effect.map((rows) => rows.map(principalFromRow)),
          Effect.orDie,
        )

        const admins = sql<{ id: PrincipalId; since: number }>`SELECT id, admin_after AS since FROM principals
          WHERE kind = 'person' AND retired_at IS NULL AND admin_after IS NOT NULL ORDER BY name_key`.pipe(Effect.orDie)

        const peopleOf: Principals["Service"]["peopleOf"] = Effect.fnUntraced(function* (ids) {
          if (ids.length === 0) return []
          const rows = yield* sql`SELECT * FROM principals
            WHERE kind = 'person' AND retired_at IS NULL AND ${sql.in("id", ids)} ORDER BY name_key`
          return rows.map(principalFromRow)
        }, Effect.orDie)

        // Roles are stored as JSON text, so a quoted word in it is a role.
        const peopleIn: Principals["Service"]["peopleIn"] = Effect.fnUntraced(function* (role, most) {
          const rows = yield* sql<{ id: PrincipalId }>`SELECT id FROM principals WHERE kind = 'person'
            AND retired_at IS NULL AND roles LIKE ${`%"${role}"%`} ORDER BY created_at, id LIMIT ${most}`
          return rows.map(({ id }) => id)
        }, Effect.orDie)

        return Principals.of({ add, get, list, change, retire, declared, admins, peopleOf, peopleIn })
      }),
    )
}
