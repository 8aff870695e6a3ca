/** Judges: loads a principal's rules (roles, policies, grants, delegations) and calls the pure judgement. */
import {
  type AccessContext,
  type Action,
  BadInput,
  Caller,
  type Forbidden,
  Grant,
  type GrantId,
  Judgement,
  Limit,
  Missing,
  type NewGrant,
  OwnedByFile,
  type Page,
  type PageQuery,
  type Principal,
  type PrincipalId,
  type Resource,
  type ResourceKind,
} from "@stoa/contract"
import { Clock, Context, DateTime, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { skipIfDiskFull } from "../../store/database/disk/FullDisk.ts"
import { monotonicOf } from "../../store/Moment.ts"
import { chain } from "../../store/fibers/Resolved.ts"
import { json } from "../../store/database/dialect/Columns.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../../store/Pages.ts"
import { Principals } from "../identity/Principals.ts"
import { walletKey } from "../identity/wallets/walletKey.ts"
import { fill } from "../limits/Limits.ts"
import { makeRefusals } from "../limits/Refusals.ts"
import { delegationFrom } from "./delegation/delegationRows.ts"
import {
  deepestDelegation,
  judge,
  coverageOf,
  type Rule,
  rulesOfPolicies,
  rulesOfRoles,
  rulesOfWallet,
  rulesThatFit,
} from "./policy.ts"
import { refusedOutright } from "./lacksRight.ts"
import { rightsChanged } from "./Rights.ts"
import { Rules } from "./Rules.ts"
import type { Viewer } from "./Viewer.ts"

const GrantRow = Schema.Struct({ ...Grant.fields, actions: json(Grant.fields.actions) })
const decodeGrant = Schema.decodeUnknownSync(GrantRow)
const encodeGrant = Schema.encodeSync(GrantRow)
const grantFromRow = (row: unknown): Grant => new Grant(decodeGrant(row))

/** Deeper than any tree. */
const deepestTree = 100

/** Judgements use rules that were loaded at most this long ago, and never rules of another epoch (S4-104). */
const remembered = Duration.minutes(5)

/** How many refusals of one principal are recorded one by one. */
const denialLimit = new Limit({ principal: "*", resource: "denials", count: 300, seconds: 60 })

interface Gathered {
  readonly epoch: number
  readonly until: number
  readonly rules: ReadonlyArray<Rule>
  /** Earlier judgements by these rules, if none of the rules expires or is lent. */
  readonly said: Map<string, Effect.Effect<Judgement>> | undefined
}

/** The most cached judgements of one principal: tool names come from outside, so they are limited. */
const maxSaid = 2000

export type { Rule } from "./policy.ts"

export class Grants extends Context.Service<
  Grants,
  {
    readonly judge: (who: Caller["Service"], action: Action, resource: string) => Effect.Effect<Judgement>
    /** Whether judgements of the caller hold for the whole epoch: none of its rules expires or is lent. */
    readonly last: (who: Caller["Service"]) => Effect.Effect<boolean>
    /** The same about another principal, as with a token of a context. */
    readonly judgeOf: (
      principal: Principal,
      action: Action,
      resource: string,
      context: AccessContext,
    ) => Effect.Effect<Judgement>
    /** Who looks at things of a kind, such as `calls`, and whether they may see everybody's. */
    readonly viewer: (things: ResourceKind) => Effect.Effect<Viewer, never, Caller>
    readonly viewerOf: (
      who: Pick<Caller["Service"], "principal" | "context" | "epoch">,
      things: ResourceKind,
    ) => Effect.Effect<Viewer>
    /**
     * With its present rights, for what has been open or waiting for a while. The context is that of the token with
     * which it began; for what an agent does without a token, `agent`. Inside a transaction it sees that transaction's
     * changes.
     */
    readonly viewerNow: (
      principal: PrincipalId,
      context: AccessContext,
      things: ResourceKind,
    ) => Effect.Effect<Viewer, Missing>
    /** Fails unless the caller may. */
    readonly require: (action: Action, resource: Resource) => Effect.Effect<void, Forbidden, Caller>
    /**
     * Journals a refusal, and so audits it. For the door that answers: inside the refused transaction it would be
     * rolled back.
     */
    readonly recordDenial: (denied: Forbidden) => Effect.Effect<void, never, Caller>
    readonly add: (wanted: NewGrant) => Effect.Effect<Grant, Missing | BadInput, Transaction>
    readonly revoke: (id: GrantId) => Effect.Effect<void, Missing | OwnedByFile, Transaction>
    /** For those who may read them. */
    readonly list: (
      query: PageQuery & { readonly principal?: string },
    ) => Effect.Effect<Page<Grant>, Missing | Forbidden, Caller>
    readonly get: (id: GrantId) => Effect.Effect<Grant, Missing>
    /** All rules of the caller, for handing on some of its rights. */
    readonly rulesOf: (who: Caller["Service"]) => Effect.Effect<ReadonlyArray<Rule>>
    /** Those of them that match this now, whatever their effect. */
    readonly fitting: (who: Caller["Service"], action: Action, resource: string) => Effect.Effect<ReadonlyArray<Rule>>
    /** The rules of any principal, or of one as it would be with other roles or another name. */
    readonly rulesOfPrincipal: (principal: Principal) => Effect.Effect<ReadonlyArray<Rule>>
  }
>()("server/access/rights/Grants") {
  static readonly layer = Layer.effect(
    Grants,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const principals = yield* Principals
      const rules = yield* Rules
      const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)
      const clock = yield* Clock.Clock
      const gathered = new Map<string, Gathered>()
      const denials = new Map<string, number>()
      const recordRefusal = yield* makeRefusals

      /** Each principal is loaded once per depth: cycles of delegations cause no extra work. */
      const gatherFrom = (
        principal: Principal,
        depth: number,
        now: string,
        known: Map<string, ReadonlyArray<Rule>>,
      ): Effect.Effect<ReadonlyArray<Rule>, SqlError.SqlError> =>
        Effect.gen(function* () {
          // A retired principal has no rights, and none to lend.
          if (principal.retiredAt !== null) return []
          const key = `${principal.id} ${depth}`
          const before = known.get(key)
          if (before !== undefined) return before
          const grants = yield* sql`SELECT * FROM grants WHERE principal = ${principal.id}`
          const received =
            depth >= deepestDelegation
              ? []
              : yield* sql`SELECT * FROM delegations
                  WHERE receiver = ${principal.id} AND revoked_at IS NULL AND expires_at > ${now}`
          const lent: Array<Rule> = []
          const givers = new Map<string, Principal>()
          for (const one of received.map(delegationFrom)) {
            const giver = givers.get(one.from) ?? (yield* Effect.orDie(principals.get(one.from)))
            givers.set(one.from, giver)
            const lentBy = yield* gatherFrom(giver, depth + 1, now, known)
            lent.push({ ...one, name: `delegation:${one.id}`, effect: "allow", lentBy })
          }
          const all = [
            ...rulesOfRoles(principal.roles),
            ...rulesOfWallet(principal.wallet === null ? undefined : walletKey(principal.wallet)),
            ...rulesOfPolicies(yield* rules.policies, principal),
            ...grants.map(grantFromRow).map((one) => ({ ...one, name: `grant:${one.id}` })),
            ...lent,
          ]
          known.set(key, all)
          return all
        })

      /** The deny and ask rules for the agents above an agent also apply to it. */
      const bindingOf = Effect.fnUntraced(function* (principal: Principal) {
        if (principal.kind !== "agent") return []
        const above = yield* sql<{ id: PrincipalId }>`WITH RECURSIVE up (id, hops) AS (
            SELECT parent, 1 FROM agents WHERE principal = ${principal.id} AND parent IS NOT NULL
            UNION ALL SELECT a.parent, up.hops + 1 FROM agents a JOIN up ON a.principal = up.id
              WHERE a.parent IS NOT NULL AND up.hops < ${deepestTree})
          SELECT id FROM up`
        const policies = yield* rules.policies
        const bound = yield* Effect.forEach(above, ({ id }) =>
          Effect.gen(function* () {
            const { name } = yield* Effect.orDie(principals.get(id))
            const grants = yield* sql`SELECT * FROM grants WHERE principal = ${id}`
            return [
              ...rulesOfPolicies(policies, { name, roles: [] }),
              ...grants.map(grantFromRow).map((one) => ({ ...one, name: `grant:${one.id}` })),
            ]
          }),
        )
        const all: ReadonlyArray<Rule> = bound.flat()
        return all.filter(({ effect }) => effect !== "allow")
      })

      const gather = Effect.fnUntraced(function* (principal: Principal) {
        const own = yield* gatherFrom(principal, 0, DateTime.formatIso(yield* DateTime.now), new Map())
        return own.length === 0 ? own : [...own, ...(yield* bindingOf(principal))]
      }, Effect.orDie)

      // wall clock: grants end at a moment.
      const moment = () => DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
      type Who = { readonly principal: Principal; readonly epoch: number }
      const gatherAnew = Effect.fnUntraced(function* ({ epoch, principal }: Who) {
        const until = monotonicOf(clock) + Duration.toMillis(remembered)
        const fresh = yield* gather(principal)
        if (gathered.size > 10_000) gathered.clear()
        const lasting = fresh.every((one) => one.expiresAt === null && one.lentBy === undefined)
        const made: Gathered = { epoch, until, rules: fresh, said: lasting ? new Map() : undefined }
        gathered.set(principal.id, made)
        return made
      })

      const gatheredOf = (who: Who): Effect.Effect<Gathered> => {
        const known = gathered.get(who.principal.id)
        return known !== undefined && known.epoch === who.epoch && known.until > monotonicOf(clock)
          ? Effect.succeed(known)
          : gatherAnew(who)
      }
      const rulesOf: Grants["Service"]["rulesOf"] = (who) => Effect.map(gatheredOf(who), ({ rules }) => rules)
      const rulesOfPrincipal: Grants["Service"]["rulesOfPrincipal"] = gather

      const judgeBy = (
        { rules, said }: Gathered,
        action: Action,
        resource: string,
        context: AccessContext,
      ): Effect.Effect<Judgement> => {
        const key = `${action} ${resource}`
        const known = said?.get(key)
        if (known !== undefined) return known
        const judged = Effect.succeed(new Judgement(judge(rules, action, resource, moment(), context)))
        if (said !== undefined && said.size < maxSaid) said.set(key, judged)
        return judged
      }

      // Runs at every call: a cached judgement is returned without a fiber.
      const judgeIt: Grants["Service"]["judge"] = (who, action, resource) =>
        chain(gatheredOf(who), (rules) => judgeBy(rules, action, resource, who.context))

      const judgeOf: Grants["Service"]["judgeOf"] = Effect.fn("Grants.judgeOf")(
        function* (principal, action, resource, context) {
          return new Judgement(judge(yield* gather(principal), action, resource, yield* DateTime.now, context))
        },
      )

      const require: Grants["Service"]["require"] = Effect.fn("Grants.require")(function* (action, resource) {
        const judged = yield* judgeIt(yield* Caller, action, resource)
        if (judged.verdict !== "allow") return yield* refusedOutright(action, resource, judged)
      })

      const viewerOf: Grants["Service"]["viewerOf"] = (who, things) =>
        chain(gatheredOf(who), (found) => {
          const { context, epoch, principal } = who
          return Effect.succeed<Viewer>({
            principal,
            context,
            epoch,
            all: judge(found.rules, "admin", `${things}/*`, moment(), context).verdict === "allow",
            judge: (action, resource) => judge(found.rules, action, resource, moment(), context),
            coverage: (action, beginning) => coverageOf(found.rules, action, beginning, moment()),
            lasting: found.said !== undefined,
          })
        })
      const viewer: Grants["Service"]["viewer"] = (things) =>
        Effect.flatMap(Caller, (caller) => viewerOf(caller, things))
      const viewerNow: Grants["Service"]["viewerNow"] = Effect.fnUntraced(function* (id, context, things) {
        const rows = yield* Effect.orDie(sql<{ epoch: number }>`SELECT epoch FROM access_epoch`)
        return yield* viewerOf({ principal: yield* principals.get(id), context, epoch: rows[0]!.epoch }, things)
      })

      const recordDenial: Grants["Service"]["recordDenial"] = Effect.fn("Grants.recordDenial")(function* (denied) {
        const { action, resource, rule } = denied
        const { principal } = yield* Caller
        const taken = Effect.suspend(() => {
          const { emptyAt, wait } = fill(denials.get(principal.id) ?? 0, denialLimit, monotonicOf(clock))
          if (wait > 0) return Effect.fail("too many")
          if (denials.size > 10_000) denials.clear()
          denials.set(principal.id, emptyAt)
          return Effect.void
        })
        const body = { principal: principal.id, action, resource, rule }
        const what = `that ${principal.name} was refused ${action} on ${resource}`
        const written = skipIfDiskFull(what, journal.transact(journal.append({ kind: "access.denied", body })))
        yield* recordRefusal({ principal: principal.id, action: "*", resource: "*" }, taken, written)
      })

      const add: Grants["Service"]["add"] = Effect.fn("Grants.add")(function* (wanted) {
        const principal = yield* principals.get(wanted.principal)
        const now = yield* DateTime.now
        if (wanted.expiresAt !== undefined && DateTime.isLessThanOrEqualTo(wanted.expiresAt, now))
          return yield* new BadInput({
            issues: [{ path: "expiresAt", message: "is in the past; give a time in the future" }],
          })
        const grant = new Grant({
          id: newId("gnt"),
          principal: principal.id,
          resource: wanted.resource,
          actions: wanted.actions,
          effect: wanted.effect ?? "allow",
          source: "house",
          expiresAt: wanted.expiresAt ?? null,
          createdAt: now,
        })
        yield* Effect.orDie(sql`INSERT INTO grants ${sql.insert(encodeGrant(grant))}`)
        const { actions, effect, resource } = grant
        yield* journal.append({
          kind: "grant.added",
          body: { grant: grant.id, principal: principal.id, resource, actions, effect },
        })
        yield* changed
        return grant
      })

      const revoke: Grants["Service"]["revoke"] = Effect.fn("Grants.revoke")(function* (id) {
        const rows = yield* Effect.orDie(sql`DELETE FROM grants WHERE id = ${id} RETURNING *`)
        if (rows[0] === undefined) return yield* new Missing({ noun: "grant", ref: id })
        yield* journal.append({
          kind: "grant.revoked",
          body: { grant: id, principal: grantFromRow(rows[0]).principal },
        })
        yield* changed
      })

      const get: Grants["Service"]["get"] = Effect.fnUntraced(function* (id) {
        const rows = yield* Effect.orDie(sql`SELECT * FROM grants WHERE id = ${id}`)
        return rows[0] === undefined ? yield* new Missing({ noun: "grant", ref: id }) : grantFromRow(rows[0])
      })

      const list: Grants["Service"]["list"] = Effect.fn("Grants.list")(function* (query) {
        yield* require("read", "grants/*")
        const { after, limit } = pageFrom(query)
        const whose =
          query.principal === undefined ? sql`1 = 1` : sql`principal = ${(yield* principals.get(query.principal)).id}`
        const rows = yield* Effect.orDie(
          sql`SELECT * FROM grants WHERE ${whose} AND id > ${after} ORDER BY id LIMIT ${limit + 1}`,
        )
        return pageOf(rows, limit, grantFromRow, (grant) => grant.id)
      })

      return Grants.of({
        judge: judgeIt,
        last: (who) => Effect.map(gatheredOf(who), ({ said }) => said !== undefined),
        viewer,
        viewerOf,
        viewerNow,
        judgeOf,
        require,
        recordDenial,
        add,
        revoke,
        list,
        get,
        rulesOf,
        fitting: (who, action, resource) =>
          Effect.map(gatheredOf(who), ({ rules }) => rulesThatFit(rules, action, resource, moment())),
        rulesOfPrincipal,
      })
    }),
  )
}
