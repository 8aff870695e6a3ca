/** The rules of the configuration file, stored as rows, so that every process reads the same ones. */
import { Configuration, EgressSection, Limit, type Policy, type Principal, PrincipalId } from "@stoa/contract"
import { Array, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Transaction } from "../../store/journal/Journal.ts"
import { nameKey } from "../identity/Principals.ts"
import { approvalIn, concerns } from "./policy.ts"
import { rightsChanged } from "./Rights.ts"

export { concerns } from "./policy.ts"

const decodePolicies = Schema.decodeUnknownSync(Configuration.fields.policies.schema)
const decodeLimits = Schema.decodeUnknownSync(Schema.Array(Limit))
const decodeEnv = Schema.decodeUnknownSync(Configuration.fields.env.schema)
const decodeEgress = Schema.decodeUnknownSync(EgressSection)

/** The rules for one principal by name, and their paths in the file. */
const placed = (section: string, rules: ReadonlyArray<{ readonly principal: string }>) =>
  rules.flatMap(({ principal: name }, place) =>
    name === "*" || name.startsWith("role:") ? [] : [{ name, path: `${section}.${place}.principal` }],
  )

type RuleKind = "policy" | "limit" | "env" | "egress" | "notify"

/** The address at which a person is notified. */
const Notify = Schema.Struct({ person: PrincipalId, address: Schema.String })
const decodeNotify = Schema.decodeUnknownSync(Schema.Array(Notify))

/** Who must approve a principal's use of a resource under the policies, and how. */
export type ApprovalFor = (principal: Principal, resource: string) => Policy["approval"]

export class Rules extends Context.Service<
  Rules,
  {
    readonly policies: Effect.Effect<ReadonlyArray<Policy>>
    readonly limits: Effect.Effect<ReadonlyArray<Limit>>
    /** The environment variables that tools may read. */
    readonly env: Effect.Effect<ReadonlyArray<string>>
    readonly egress: Effect.Effect<EgressSection>
    readonly notify: Effect.Effect<ReadonlyArray<typeof Notify.Type>>
    /** Who must approve the use of a resource under the policies, and how. */
    readonly approvals: Effect.Effect<ApprovalFor>
    /** Rules for unknown names, each as a sentence: they apply to nobody, until a principal with that name is added. */
    readonly unknownPrincipals: Effect.Effect<ReadonlyArray<string>>
    /** How many rules the file declared; the address of a person is part of the person. */
    readonly declared: Effect.Effect<number>
    /** Replaces all rules of a kind. Returns whether anything changed. */
    readonly replace: (kind: RuleKind, rules: ReadonlyArray<unknown>) => Effect.Effect<boolean, never, Transaction>
  }
>()("server/access/rights/Rules") {
  static readonly layer = Layer.effect(
    Rules,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)
      const stored = (kind: string) =>
        sql<{ rule: string }>`SELECT rule FROM rules WHERE kind = ${kind} ORDER BY place`.pipe(
          Effect.map((rows) => rows.map((row) => JSON.parse(row.rule) as unknown)),
          Effect.orDie,
        )
      const replace: Rules["Service"]["replace"] = Effect.fn("Rules.replace")(function* (
        kind: RuleKind,
        rules: ReadonlyArray<unknown>,
      ) {
        if (JSON.stringify(yield* stored(kind)) === JSON.stringify(rules)) return false
        yield* sql`DELETE FROM rules WHERE kind = ${kind}`
        const rows = rules.map((rule, place) => ({ kind, place, rule: JSON.stringify(rule) }))
        if (Array.isArrayNonEmpty(rows)) yield* sql`INSERT INTO rules ${sql.insert(rows)}`
        yield* changed
        return true
      }, Effect.orDie)
      const policies = Effect.map(stored("policy"), (rules) => decodePolicies(rules))
      const limits = Effect.map(stored("limit"), (rules) => decodeLimits(rules))
      const unknownPrincipals = Effect.gen(function* () {
        const named = [...placed("policies", yield* policies), ...placed("limits", yield* limits)]
        if (named.length === 0) return []
        const keys = [...new Set(named.map(({ name }) => nameKey(name)))]
        const rows = yield* sql<{ name: string }>`SELECT name FROM principals
          WHERE retired_at IS NULL AND ${sql.in("name_key", keys)}`
        return named
          .filter(({ name }) => !rows.some((row) => concerns(name, { name: row.name, roles: [] })))
          .map(({ name, path }) => `${path}: there is no principal "${name}", so the rule has no effect`)
      }).pipe(Effect.orDie)
      return Rules.of({
        policies,
        limits,
        unknownPrincipals,
        env: Effect.map(stored("env"), (rules) => decodeEnv(rules)),
        // One section, so one row, or none.
        egress: Effect.map(stored("egress"), ([section = {}]) => decodeEgress(section)),
        approvals: Effect.map(policies, (all) => (principal, resource) => approvalIn(all, principal, resource)),
        notify: Effect.map(stored("notify"), (rules) => decodeNotify(rules)),
        declared: sql<{ count: number }>`SELECT COUNT(*) AS count FROM rules WHERE kind <> 'notify'`.pipe(
          Effect.map(([row]) => row?.count ?? 0),
          Effect.orDie,
        ),
        replace,
      })
    }),
  )
}
