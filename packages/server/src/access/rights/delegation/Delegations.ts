/**
 * Rights that one principal lends to another (S4-101): for at most a day, at most three levels deep, and never more
 * than the giver has.
 */
import {
  BadInput,
  Caller,
  Delegation,
  type DelegationId,
  Forbidden,
  Missing,
  type NewDelegation,
  type Page,
  type PageQuery,
  type Principal,
  type TokenId,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { lockNames } from "../../../store/database/dialect/Locks.ts"
import { newId } from "../../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../../../store/Pages.ts"
import { Principals } from "../../identity/Principals.ts"
import { walletResource } from "../../identity/wallets/walletKey.ts"
import { delegationFrom, rowOfDelegation } from "./delegationRows.ts"
import { makeEndDelegations } from "./endDelegations.ts"
import { findVisible } from "../FindIfPermitted.ts"
import { Grants } from "../Grants.ts"
import { deepestDelegation, longestDelegation, mayDelegate, maxDelegations } from "../policy.ts"
import { resourceFaults } from "../Resources.ts"
import { rightsChanged } from "../Rights.ts"

export class Delegations extends Context.Service<
  Delegations,
  {
    readonly add: (
      wanted: NewDelegation,
    ) => Effect.Effect<Delegation, Missing | BadInput | Forbidden, Transaction | Caller>
    /** Revokes a delegation, and everything that was handed on from it. The giver may, and an admin. */
    readonly revoke: (id: DelegationId) => Effect.Effect<void, Missing, Transaction | Caller>
    /** Given or received by the principal. */
    readonly list: (of: Principal, query: PageQuery) => Effect.Effect<Page<Delegation>>
  }
>()("server/access/rights/Delegations") {
  static readonly layer = Layer.effect(
    Delegations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const principals = yield* Principals
      const grants = yield* Grants
      const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)
      const endDelegations = yield* makeEndDelegations

      const get = Effect.fnUntraced(function* (id: DelegationId) {
        const rows = yield* Effect.orDie(sql`SELECT * FROM delegations WHERE id = ${id}`)
        return rows[0] === undefined ? yield* new Missing({ noun: "delegation", ref: id }) : delegationFrom(rows[0])
      })

      /** Every judgement of the receiver considers every delegation, so their number is limited. */
      const room = Effect.fnUntraced(function* (giver: string, receiver: string, now: string) {
        const live = sql`revoked_at IS NULL AND expires_at > ${now}`
        yield* Effect.orDie(lockNames(sql, "delegations", [giver, receiver]))
        const [counts] = yield* Effect.orDie(
          sql<{ given: number; received: number }>`SELECT
            (SELECT count(*) FROM delegations WHERE giver = ${giver} AND ${live}) AS given,
            (SELECT count(*) FROM delegations WHERE receiver = ${receiver} AND ${live}) AS received`,
        )
        if (counts!.given >= maxDelegations || counts!.received >= maxDelegations)
          return yield* new BadInput({
            issues: [
              { path: "to", message: `at most ${maxDelegations} delegations may be open at a time; revoke one first` },
            ],
          })
      })

      /** What is lent ends with its token. Asked after `changed`: the end of a token waits for that, or is seen here. */
      const notEnded = Effect.fnUntraced(function* (token: TokenId | null, resource: string) {
        if (token === null) return
        const alive = yield* Effect.orDie(sql`SELECT id FROM tokens WHERE id = ${token} AND revoked_at IS NULL`)
        if (alive.length === 0)
          return yield* new Forbidden({ action: "delegate", resource, rule: "the token that lends it has ended" })
      })

      const add: Delegations["Service"]["add"] = Effect.fn("Delegations.add")(function* (asked) {
        const caller = yield* Caller
        const issues = resourceFaults(asked.resource)
        if (issues.length > 0) return yield* new BadInput({ issues })
        const wanted = { ...asked, resource: walletResource(asked.resource) }
        const now = yield* DateTime.now
        const latest = DateTime.add(now, longestDelegation)
        const expiresAt = wanted.expiresAt ?? latest
        if (DateTime.isGreaterThan(expiresAt, latest) || DateTime.isLessThanOrEqualTo(expiresAt, now))
          return yield* new BadInput({
            issues: [
              {
                path: "expiresAt",
                message: `a delegation lasts at most ${longestDelegation.hours} hours, and must end in the future`,
              },
            ],
          })
        if (caller.turn !== undefined)
          return yield* new Forbidden({
            action: "delegate",
            resource: wanted.resource,
            rule: "the token of a program's turn cannot delegate",
          })
        const source = mayDelegate(yield* grants.rulesOf(caller), wanted, now, caller.context)
        if (source === undefined)
          return yield* new Forbidden({ action: "delegate", resource: wanted.resource, rule: "only what you have" })
        // Only a caller with something to lend learns whether that name exists. Everybody has what is its own.
        const named = principals.get(wanted.to)
        const receiver = yield* wanted.resource.startsWith("self/")
          ? findVisible(grants, named, { ref: wanted.to, self: caller.principal.id })
          : named
        if (receiver.id === caller.principal.id)
          return yield* new BadInput({ issues: [{ path: "to", message: "is yourself: you have it already" }] })
        yield* room(caller.principal.id, receiver.id, DateTime.formatIso(now))
        yield* changed
        yield* notEnded(caller.token, wanted.resource)
        const parent = source.name.startsWith("delegation:") ? source.name.slice("delegation:".length) : null
        const before = parent === null ? undefined : yield* get(parent as DelegationId)
        const depth = (before?.depth ?? 0) + 1
        if (depth > deepestDelegation)
          return yield* new Forbidden({ action: "delegate", resource: wanted.resource, rule: "at most three deep" })
        // A delegation ends with the token it was made with, and with the delegation it was handed on from.
        const ends = [expiresAt, caller.expiresAt, before?.expiresAt].filter((one) => one != null)
        const delegation = new Delegation({
          id: newId("dlg"),
          from: caller.principal.id,
          to: receiver.id,
          resource: wanted.resource,
          actions: wanted.actions,
          reason: wanted.reason,
          depth,
          context: caller.context,
          expiresAt: ends.reduce((one, other) => DateTime.min(one, other)),
          revokedAt: null,
          createdAt: now,
        })
        yield* Effect.orDie(
          sql`INSERT INTO delegations ${sql.insert(rowOfDelegation(delegation, { parent, token: caller.token }))}`,
        )
        const { actions, reason, resource } = delegation
        yield* journal.append({
          kind: "delegation.added",
          body: { delegation: delegation.id, principal: receiver.id, resource, actions, reason, depth },
        })
        return delegation
      })

      const revoke: Delegations["Service"]["revoke"] = Effect.fn("Delegations.revoke")(function* (id) {
        const caller = yield* Caller
        const { from } = yield* get(id)
        const { verdict } = yield* grants.judge(caller, "delete", `delegations/${id}`)
        // To anybody else it looks missing.
        if (from !== caller.principal.id && verdict !== "allow")
          return yield* new Missing({ noun: "delegation", ref: id })
        yield* endDelegations(sql`id = ${id}`)
      })

      const list: Delegations["Service"]["list"] = Effect.fn("Delegations.list")(function* (of, query) {
        const { after, limit } = pageFrom(query)
        const rows = yield* Effect.orDie(
          sql`SELECT * FROM delegations WHERE (giver = ${of.id} OR receiver = ${of.id}) AND id > ${after}
            ORDER BY id LIMIT ${limit + 1}`,
        )
        return pageOf(rows, limit, delegationFrom, (one) => one.id)
      })

      return Delegations.of({ add, revoke, list })
    }),
  )
}
