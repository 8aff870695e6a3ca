/** May they? Gathers a principal's rules (roles, policies, grants, delegations) and asks the pure judgement. */
import {
  type Action,
  BadInput,
  Caller,
  Delegation,
  type DelegationId,
  Forbidden,
  Grant,
  type GrantId,
  Judgement,
  Limit,
  Missing,
  type NewDelegation,
  type NewGrant,
  OwnedByFile,
  type Page,
  type PageQuery,
  type Principal,
  type PrincipalId,
} from "@stoa/contract"
import { Clock, Context, DateTime, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { whereRoom } from "../../store/database/FullDisk.ts"
import { monotonicOf } from "../../store/Monotonic.ts"
import { goOn } from "../../store/AtHand.ts"
import { json } from "../../store/database/Columns.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../../store/Pages.ts"
import { rightsChanged } from "./Rights.ts"
import {
  deepestDelegation,
  judge,
  longestDelegation,
  mayDelegate,
  reachOf,
  type Rule,
  rulesOfPolicies,
  rulesOfRoles,
  mostDelegations,
} from "./policy.ts"
import { take } from "../limits/gcra.ts"
import { Principals } from "../identity/Principals.ts"
import { Rules } from "./Rules.ts"
import type { Viewer } from "./Viewer.ts"

const GrantRow = Schema.Struct({ ...Grant.fields, actions: json(Grant.fields.actions) })
const { from: _from, to: _to, ...delegationFields } = Delegation.fields
const DelegationRow = Schema.Struct({
  ...delegationFields,
  giver: Delegation.fields.from,
  receiver: Delegation.fields.to,
  parent: Schema.NullOr(Schema.String),
  actions: json(Delegation.fields.actions),
})
const decodeGrant = Schema.decodeUnknownSync(GrantRow)
const encodeGrant = Schema.encodeSync(GrantRow)
const decodeDelegation = Schema.decodeUnknownSync(DelegationRow)
const encodeDelegation = Schema.encodeSync(DelegationRow)
const grantFromRow = (row: unknown): Grant => new Grant(decodeGrant(row))
const delegationFromRow = (row: unknown): Delegation => {
  const { giver, receiver, ...rest } = decodeDelegation(row)
  return new Delegation({ ...rest, from: giver, to: receiver })
}

/** Judgements rest on rules gathered at most this long ago, and never on rules of another epoch (S4-104). */
const remembered = Duration.minutes(5)

/** How many refusals of one principal are written down. */
const denialLimit = new Limit({ principal: "*", resource: "denials", count: 300, seconds: 60 })

interface Gathered {
  readonly epoch: number
  readonly until: number
  readonly rules: ReadonlyArray<Rule>
  /** What these rules said, where no rule among them ends by itself. */
  readonly said: Map<string, Effect.Effect<Judgement>> | undefined
}

/** Judgements kept of one principal: a tool's name comes from outside, so there is an end to them. */
const mostSaid = 2000

export class Grants extends Context.Service<
  Grants,
  {
    readonly judge: (who: Caller["Service"], action: Action, resource: string) => Effect.Effect<Judgement>
    /** Whether what is judged of the caller stands for as long as the epoch of rights does: nothing in it ends by itself. */
    readonly last: (who: Caller["Service"]) => Effect.Effect<boolean>
    /** The same question about somebody else, by an admin. */
    readonly judgeOf: (principal: Principal, action: Action, resource: string) => Effect.Effect<Judgement>
    /** Who looks at things of a kind, such as `calls`, and whether they may look at everybody's. */
    readonly viewer: (things: string) => Effect.Effect<Viewer, never, Caller>
    readonly viewerOf: (who: Pick<Caller["Service"], "principal" | "epoch">, things: string) => Effect.Effect<Viewer>
    /** As its rights stand now, for what has been open or waiting for a while. Inside a transaction it sees that one's changes. */
    readonly viewerNow: (principal: PrincipalId, things: string) => Effect.Effect<Viewer, Missing>
    /** Goes on only if the caller may. */
    readonly require: (action: Action, resource: string) => Effect.Effect<void, Forbidden, Caller>
    /** Journals a refusal, and so audits it. For the door that answers: inside the refused transaction it would be undone. */
    readonly recordDenial: (denied: Forbidden) => Effect.Effect<void, never, Caller>
    readonly add: (wanted: NewGrant) => Effect.Effect<Grant, Missing | BadInput, Transaction>
    readonly revoke: (id: GrantId) => Effect.Effect<void, Missing | OwnedByFile, Transaction>
    readonly list: (query: PageQuery & { readonly principal?: string }) => Effect.Effect<Page<Grant>, Missing>
    readonly delegate: (
      wanted: NewDelegation,
    ) => Effect.Effect<Delegation, Missing | BadInput | Forbidden, Transaction | Caller>
    readonly getDelegation: (id: DelegationId) => Effect.Effect<Delegation, Missing>
    /** Takes back a delegation, and everything that was handed on from it. */
    readonly undelegate: (id: DelegationId) => Effect.Effect<void, Missing, Transaction>
    /** Given or received by the principal. */
    readonly delegations: (of: Principal, query: PageQuery) => Effect.Effect<Page<Delegation>>
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

      /** Each principal is gathered once a depth: whoever lends in a circle gets no more work done than it lends. */
      const gatherFrom = (
        principal: Principal,
        depth: number,
        now: string,
        known: Map<string, ReadonlyArray<Rule>>,
      ): Effect.Effect<ReadonlyArray<Rule>, SqlError.SqlError> =>
        Effect.gen(function* () {
          // Whoever has left has nothing, and nothing to lend.
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
          for (const one of received.map(delegationFromRow)) {
            const giver = yield* Effect.orDie(principals.get(one.from))
            const lentBy = yield* gatherFrom(giver, depth + 1, now, known)
            lent.push({ ...one, name: `delegation:${one.id}`, effect: "allow", lentBy })
          }
          const all = [
            ...rulesOfRoles(principal.roles),
            ...rulesOfPolicies(yield* rules.policies, principal),
            ...grants.map(grantFromRow).map((one) => ({ ...one, name: `grant:${one.id}` })),
            ...lent,
          ]
          known.set(key, all)
          return all
        })

      const gather = Effect.fnUntraced(function* (principal: Principal) {
        return yield* gatherFrom(principal, 0, DateTime.formatIso(yield* DateTime.now), new Map())
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
      const rulesOf = (who: Who) => Effect.map(gatheredOf(who), ({ rules }) => rules)

      const judgeBy = ({ rules, said }: Gathered, action: Action, resource: string): Effect.Effect<Judgement> => {
        const key = `${action} ${resource}`
        const known = said?.get(key)
        if (known !== undefined) return known
        const judged = Effect.succeed(new Judgement(judge(rules, action, resource, moment())))
        if (said !== undefined && said.size < mostSaid) said.set(key, judged)
        return judged
      }

      // Asked of every call: what is at hand is answered without a fiber.
      const judgeIt: Grants["Service"]["judge"] = (who, action, resource) =>
        goOn(gatheredOf(who), (rules) => judgeBy(rules, action, resource))

      const judgeOf: Grants["Service"]["judgeOf"] = Effect.fn("Grants.judgeOf")(
        function* (principal, action, resource) {
          return new Judgement(judge(yield* gather(principal), action, resource, yield* DateTime.now))
        },
      )

      const require: Grants["Service"]["require"] = Effect.fn("Grants.require")(function* (action, resource) {
        const { rule, verdict } = yield* judgeIt(yield* Caller, action, resource)
        if (verdict !== "allow") return yield* new Forbidden({ action, resource, rule })
      })

      const viewerOf: Grants["Service"]["viewerOf"] = (who, things) =>
        goOn(gatheredOf(who), (found) => {
          return Effect.succeed<Viewer>({
            principal: who.principal,
            all: judge(found.rules, "admin", `${things}/*`, moment()).verdict === "allow",
            judge: (action, resource) => judge(found.rules, action, resource, moment()),
            reach: (action, beginning) => reachOf(found.rules, action, beginning, moment()),
            lasting: found.said !== undefined,
          })
        })
      const viewer: Grants["Service"]["viewer"] = (things) =>
        Effect.flatMap(Caller, (caller) => viewerOf(caller, things))
      const viewerNow: Grants["Service"]["viewerNow"] = Effect.fnUntraced(function* (id, things) {
        const rows = yield* Effect.orDie(sql<{ epoch: number }>`SELECT epoch FROM access_epoch`)
        return yield* viewerOf({ principal: yield* principals.get(id), epoch: rows[0]!.epoch }, things)
      })

      const recordDenial: Grants["Service"]["recordDenial"] = Effect.fn("Grants.recordDenial")(function* (denied) {
        const { action, resource, rule } = denied
        const { principal } = yield* Caller
        // A loop that is refused again and again must not fill the disk: past this, the log alone has it.
        const now = monotonicOf(clock)
        const taken = take(denials.get(principal.id) ?? 0, denialLimit, now)
        if (taken.wait > 0)
          return yield* Effect.logDebug(`${principal.name} was refused ${action} on ${resource} again`)
        if (denials.size > 10_000) denials.clear()
        denials.set(principal.id, taken.emptyAt)
        const body = { principal: principal.id, action, resource, rule }
        const what = `that ${principal.name} was refused ${action} on ${resource}`
        yield* whereRoom(what, journal.transact(journal.append({ kind: "access.denied", body })))
      })

      const add: Grants["Service"]["add"] = Effect.fn("Grants.add")(function* (wanted) {
        const principal = yield* principals.get(wanted.principal)
        const now = yield* DateTime.now
        if (wanted.expiresAt !== undefined && DateTime.isLessThanOrEqualTo(wanted.expiresAt, now))
          return yield* new BadInput({
            issues: [{ path: "expiresAt", message: "is in the past; give a time to come" }],
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

      const list: Grants["Service"]["list"] = Effect.fn("Grants.list")(function* (query) {
        const { after, limit } = pageFrom(query)
        const whose =
          query.principal === undefined ? sql`1 = 1` : sql`principal = ${(yield* principals.get(query.principal)).id}`
        const rows = yield* Effect.orDie(
          sql`SELECT * FROM grants WHERE ${whose} AND id > ${after} ORDER BY id LIMIT ${limit + 1}`,
        )
        return pageOf(rows, limit, grantFromRow, (grant) => grant.id)
      })

      const getDelegation: Grants["Service"]["getDelegation"] = Effect.fnUntraced(function* (id) {
        const rows = yield* Effect.orDie(sql`SELECT * FROM delegations WHERE id = ${id}`)
        return rows[0] === undefined ? yield* new Missing({ noun: "delegation", ref: id }) : delegationFromRow(rows[0])
      })

      /** Every loan is asked about at every judgement of its receiver, so there is an end to them. */
      const room = Effect.fnUntraced(function* (giver: string, receiver: string, now: string) {
        const live = sql`revoked_at IS NULL AND expires_at > ${now}`
        const [counts] = yield* Effect.orDie(
          sql<{ given: number; received: number }>`SELECT
            (SELECT count(*) FROM delegations WHERE giver = ${giver} AND ${live}) AS given,
            (SELECT count(*) FROM delegations WHERE receiver = ${receiver} AND ${live}) AS received`,
        )
        if (counts!.given >= mostDelegations || counts!.received >= mostDelegations)
          return yield* new BadInput({
            issues: [
              { path: "to", message: `at most ${mostDelegations} loans may be open at a time; take one back first` },
            ],
          })
      })

      const delegate: Grants["Service"]["delegate"] = Effect.fn("Grants.delegate")(function* (wanted) {
        const caller = yield* Caller
        const receiver = yield* principals.get(wanted.to)
        const now = yield* DateTime.now
        const latest = DateTime.add(now, longestDelegation)
        const expiresAt = wanted.expiresAt ?? latest
        if (DateTime.isGreaterThan(expiresAt, latest) || DateTime.isLessThanOrEqualTo(expiresAt, now))
          return yield* new BadInput({
            issues: [
              { path: "expiresAt", message: "a delegation lasts at most 24 hours, and ends in the time to come" },
            ],
          })
        if (receiver.id === caller.principal.id)
          return yield* new BadInput({ issues: [{ path: "to", message: "is yourself: you have it already" }] })
        yield* room(caller.principal.id, receiver.id, DateTime.formatIso(now))
        const source = mayDelegate(yield* rulesOf(caller), wanted, now)
        if (source === undefined)
          return yield* new Forbidden({ action: "delegate", resource: wanted.resource, rule: "only what you have" })
        const parent = source.name.startsWith("delegation:") ? source.name.slice("delegation:".length) : null
        const before = parent === null ? undefined : yield* getDelegation(parent as DelegationId)
        const depth = (before?.depth ?? 0) + 1
        if (depth > deepestDelegation)
          return yield* new Forbidden({ action: "delegate", resource: wanted.resource, rule: "at most three deep" })
        const delegation = new Delegation({
          id: newId("dlg"),
          from: caller.principal.id,
          to: receiver.id,
          resource: wanted.resource,
          actions: wanted.actions,
          reason: wanted.reason,
          depth,
          // What is handed on never outlives what it was handed on from.
          expiresAt: before === undefined ? expiresAt : DateTime.min(expiresAt, before.expiresAt),
          revokedAt: null,
          createdAt: now,
        })
        const { from, to, ...rest } = delegation
        const row = encodeDelegation({ ...rest, giver: from, receiver: to, parent })
        yield* Effect.orDie(sql`INSERT INTO delegations ${sql.insert(row)}`)
        const { actions, reason, resource } = delegation
        yield* journal.append({
          kind: "delegation.added",
          body: { delegation: delegation.id, principal: receiver.id, resource, actions, reason, depth },
        })
        yield* changed
        return delegation
      })

      const undelegate: Grants["Service"]["undelegate"] = Effect.fn("Grants.undelegate")(function* (id) {
        yield* getDelegation(id)
        const now = DateTime.formatIso(yield* DateTime.now)
        const rows = yield* Effect.orDie(
          sql`WITH RECURSIVE chain (id) AS (
            SELECT id FROM delegations WHERE id = ${id}
            UNION SELECT d.id FROM delegations d JOIN chain ON d.parent = chain.id
          ) UPDATE delegations SET revoked_at = ${now} WHERE id IN (SELECT id FROM chain) AND revoked_at IS NULL RETURNING *`,
        )
        for (const row of rows.map(delegationFromRow))
          yield* journal.append({ kind: "delegation.revoked", body: { delegation: row.id, principal: row.to } })
        yield* changed
      })

      const delegations: Grants["Service"]["delegations"] = Effect.fn("Grants.delegations")(function* (of, query) {
        const { after, limit } = pageFrom(query)
        const rows = yield* Effect.orDie(
          sql`SELECT * FROM delegations WHERE (giver = ${of.id} OR receiver = ${of.id}) AND id > ${after}
            ORDER BY id LIMIT ${limit + 1}`,
        )
        return pageOf(rows, limit, delegationFromRow, (one) => one.id)
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
        delegate,
        getDelegation,
        undelegate,
        delegations,
      })
    }),
  )
}
