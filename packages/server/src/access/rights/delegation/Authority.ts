/**
 * What a caller may give away: tokens, grants, roles, allow lists. Nothing it makes has more rights than its own token,
 * a more trusted context, or a later end. Handlers check only here.
 */
import {
  type AccessContext,
  type Action,
  type Agent,
  type AgentChange,
  type AllowList,
  BadInput,
  Caller,
  Forbidden,
  type Grant,
  Missing,
  type NewGrant,
  type NewPrincipal,
  type NewToken,
  Principal,
  type Token,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { newId } from "../../../store/journal/Correlation.ts"
import { programsOfHouse } from "../../identity/Agents.ts"
import { isWithin, outerOf, usualContext } from "../../identity/contexts.ts"
import { defaultRoles, mayDelegate, reachesBeyond } from "../policy.ts"
import { Grants } from "../Grants.ts"
import { lacksRight } from "../lacksRight.ts"
import { resourceFaults } from "../Resources.ts"

/**
 * A policy requires a second person for this change (G-38). Never crosses the wire: the code that makes the change asks
 * one.
 */
export class NeedsApproval extends Schema.TaggedError<NeedsApproval>()("NeedsApproval", {
  action: Schema.String,
  resource: Schema.String,
  rule: Schema.String,
}) {}

/** Whether a second person has approved the change: then a policy's `ask` is satisfied. */
export type Approved = "none" | "given"

type Refusal = Forbidden | NeedsApproval

const refuse = (action: string, resource: string, rule: string, instead: string) =>
  new Forbidden({ action, resource, rule, instead })

const latest = (one: DateTime.Utc | null, other: DateTime.Utc | null): boolean =>
  one !== null && (other === null || DateTime.isGreaterThan(other, one))

export class Authority extends Context.Service<
  Authority,
  {
    /** Checks a new token: its context and its end must not exceed the caller's. */
    readonly token: (wanted: NewToken, whose: Principal) => Effect.Effect<NewToken, Forbidden, Caller>
    /** Whether the caller may replace this token. Returns the latest end of the new one. */
    readonly rotation: (
      token: Token,
      whose: Principal,
    ) => Effect.Effect<DateTime.Utc | null, Forbidden | Missing, Caller>
    readonly revocation: (token: Token, whose: Principal) => Effect.Effect<void, Forbidden | Missing, Caller>
    readonly grant: (
      wanted: NewGrant,
      whose: Principal,
      approval: Approved,
    ) => Effect.Effect<NewGrant, Refusal | BadInput, Caller>
    readonly revokeGrant: (grant: Grant, whose: Principal, approval: Approved) => Effect.Effect<void, Refusal, Caller>
    readonly newPrincipal: (wanted: NewPrincipal) => Effect.Effect<void, Forbidden, Caller>
    readonly changedPrincipal: (
      before: Principal,
      changes: Partial<Pick<Principal, "name" | "roles" | "toolsets" | "wallet">>,
      approval: Approved,
    ) => Effect.Effect<void, Refusal, Caller>
    readonly changedAgent: (before: Agent, changes: AgentChange) => Effect.Effect<void, Forbidden, Caller>
    readonly allowList: (
      before: AllowList,
      tools: ReadonlyArray<string>,
      approval: Approved,
    ) => Effect.Effect<void, Refusal, Caller>
  }
>()("server/access/rights/Authority") {
  static readonly layer = Layer.effect(
    Authority,
    Effect.gen(function* () {
      const grants = yield* Grants

      const { require } = grants
      /** For a change that can wait: if a policy says `ask` for it, or for writing it at all, a person can be asked. */
      const agreed = Effect.fnUntraced(function* (action: Action, resource: string, approval: Approved) {
        const caller = yield* Caller
        const { rule, verdict } = yield* grants.judge(caller, action, resource)
        if (verdict === "deny") return yield* lacksRight(caller.context, { action, resource, rule })
        if (approval === "given") return
        if (verdict === "ask") return yield* new NeedsApproval({ action, resource, rule })
        const written = yield* grants.judge(caller, "write", resource)
        if (action === "admin" && written.verdict === "ask")
          return yield* new NeedsApproval({ action, resource, rule: written.rule })
      })

      /**
       * For requests that are answered at once and cannot wait: if a person would have to be asked, it is refused
       * (G-38).
       */
      const unasked = (action: Action, resource: string, instead: string) =>
        Effect.catchTag(
          agreed(action, resource, "none"),
          "NeedsApproval",
          ({ rule }) =>
            new Forbidden({ action, resource, rule, instead: `A second person must agree to it. ${instead}` }),
        )

      const may = (caller: Caller["Service"], action: Action, resource: string) =>
        Effect.map(grants.judge(caller, action, resource), ({ verdict }) => verdict === "allow")

      /** Whether somebody's rights exceed the caller's own, counting only those of the caller that do not end. */
      const isBeyond = Effect.fnUntraced(function* (caller: Caller["Service"], whose: Principal) {
        const lasting = (yield* grants.rulesOf(caller)).filter(
          (one) => one.lentBy === undefined && (one.effect !== "allow" || one.expiresAt === null),
        )
        return reachesBeyond(yield* grants.rulesOfPrincipal(whose), lasting, yield* DateTime.now, caller.context)
      })

      /**
       * A token lets its maker act as its principal: only a caller with all of those rights may make one, and only if
       * nothing restricts the caller that does not restrict them.
       */
      const actAs = Effect.fnUntraced(function* (caller: Caller["Service"], whose: Principal) {
        if (whose.id !== caller.principal.id && (yield* isBeyond(caller, whose)))
          return yield* refuse(
            "make tokens of",
            `principals/${whose.name}`,
            "not beyond your rights",
            "It has rights that you do not have. Ask somebody who has them.",
          )
      })

      const hasToken = Effect.fnUntraced(function* (caller: Caller["Service"], resource: string) {
        if (caller.token === null) return yield* refuse("make", resource, "only with a token", "Use your own token.")
      })

      const within = Effect.fnUntraced(function* (
        caller: Caller["Service"],
        resource: string,
        wanted: { readonly context: AccessContext; readonly expiresAt: DateTime.Utc | null },
      ) {
        if (!isWithin(wanted.context, caller.context))
          return yield* refuse(
            "make",
            resource,
            "not beyond your token's context",
            `Your token has the context ${caller.context}; what you make with it cannot have a stronger one.`,
          )
        if (latest(caller.expiresAt, wanted.expiresAt))
          return yield* refuse(
            "make",
            resource,
            "not beyond your token's expiry",
            `Your token expires at ${DateTime.formatIso(caller.expiresAt!)}; expiresAt must not be later.`,
          )
      })

      /** A grant or a role applies in every context of its holder's tokens, so giving one takes an internal token. */
      const inside = Effect.fnUntraced(function* (caller: Caller["Service"], action: string, resource: string) {
        if (caller.context !== "internal")
          return yield* refuse(
            action,
            resource,
            "not beyond your token's context",
            `Your token has the context ${caller.context}. Use one with the context internal.`,
          )
      })

      const token: Authority["Service"]["token"] = Effect.fn("Authority.token")(function* (wanted, whose) {
        const caller = yield* Caller
        const resource = `tokens/${whose.name}`
        const usual = usualContext(whose)
        // Only an admin may set a context beyond the usual one.
        yield* unasked(
          wanted.context !== undefined && !isWithin(wanted.context, usual) ? "admin" : "write",
          resource,
          "A token cannot wait for that, because it is shown when it is made. Somebody whom the policy does not name can make it.",
        )
        yield* hasToken(caller, resource)
        yield* actAs(caller, whose)
        const context = wanted.context ?? outerOf(usual, caller.context)
        if (wanted.expiresAt !== undefined || caller.expiresAt === null) {
          yield* within(caller, resource, { context, expiresAt: wanted.expiresAt ?? null })
          return { ...wanted, context }
        }
        yield* within(caller, resource, { context, expiresAt: caller.expiresAt })
        return { ...wanted, context, expiresAt: caller.expiresAt }
      })

      /** One's own token is `self/tokens`; to a caller without rights another's looks unknown. */
      const reach = Effect.fnUntraced(function* (it: Token, whose: Principal, action: "write" | "delete") {
        const caller = yield* Caller
        if (whose.id === caller.principal.id) return yield* require(action, "self/tokens")
        const resource = `tokens/${whose.name}`
        // If a policy requires that somebody is asked before writing, that also applies to an admin's token.
        const mayAdmin = !whose.roles.includes("admin") || (yield* may(caller, "admin", resource))
        if (!mayAdmin || !(yield* may(caller, action, resource)))
          return yield* new Missing({ noun: "token", ref: it.id })
      })

      const rotation: Authority["Service"]["rotation"] = Effect.fn("Authority.rotation")(function* (it, whose) {
        yield* reach(it, whose, "write")
        const caller = yield* Caller
        // A certificate renews itself; that is its purpose (S4-102).
        if (it.id === caller.token) return null
        const resource = `tokens/${whose.name}`
        yield* hasToken(caller, resource)
        yield* actAs(caller, whose)
        // The new token ends no later than the caller's.
        yield* within(caller, resource, { context: it.context, expiresAt: caller.expiresAt })
        return caller.expiresAt
      })

      const grant: Authority["Service"]["grant"] = Effect.fn("Authority.grant")(function* (wanted, whose, approval) {
        const caller = yield* Caller
        // Before anybody is asked to approve it.
        const issues = resourceFaults(wanted.resource)
        if (issues.length > 0) return yield* new BadInput({ issues })
        // A grant can give anything, so only an admin may make one.
        yield* agreed("admin", `grants/${whose.name}`, approval)
        if (wanted.effect === "deny" || wanted.effect === "ask") return wanted
        const { actions, expiresAt = caller.expiresAt, resource } = wanted
        yield* inside(caller, "grant", resource)
        yield* within(caller, resource, { context: caller.context, expiresAt })
        const held = mayDelegate(
          yield* grants.rulesOf(caller),
          { resource, actions },
          yield* DateTime.now,
          caller.context,
        )
        if (held === undefined || held.lentBy !== undefined)
          return yield* refuse("grant", resource, "not beyond your rights", "You can only give rights that you have.")
        return expiresAt === null ? wanted : { ...wanted, expiresAt }
      })

      const revokeGrant: Authority["Service"]["revokeGrant"] = Effect.fn("Authority.revokeGrant")(
        function* (it, whose, approval) {
          const caller = yield* Caller
          const both = Effect.fnUntraced(function* (action: Action) {
            yield* agreed(action, `grants/${it.id}`, approval)
            // A rule about somebody's grants names them, since they are made under that name.
            const { rule } = yield* grants.judge(caller, action, `grants/${whose.name}`)
            if (rule !== "silence") yield* agreed(action, `grants/${whose.name}`, approval)
          })
          yield* both("delete")
          if (it.effect === "allow") return
          // Lifting a restriction gives rights: it takes an admin of grants, and not the principal that it restricts.
          yield* both("admin")
          yield* inside(caller, "revoke", `grants/${it.id}`)
          if (it.principal === caller.principal.id && !(yield* may(caller, "admin", "*")))
            return yield* refuse(
              "revoke",
              `grants/${it.id}`,
              "it restricts you",
              "This grant restricts you, so you cannot remove it. Ask another admin.",
            )
        },
      )

      /** Checks rights that come from roles, from the file's rules for a name, and from toolsets. */
      const becomes = Effect.fnUntraced(function* (before: Principal | undefined, after: Principal) {
        const caller = yield* Caller
        const resource = `principals/${before?.name ?? after.name}`
        const now = yield* DateTime.now
        const [was, is] = yield* Effect.all([
          before === undefined ? Effect.succeed([]) : grants.rulesOfPrincipal(before),
          grants.rulesOfPrincipal(after),
        ])
        if (!reachesBeyond(is, was, now, caller.context)) return
        yield* inside(caller, "give roles to", resource)
        // A new principal has no token yet, and gets none that ends later than the token it is made with.
        if (before !== undefined && caller.expiresAt !== null)
          return yield* refuse(
            "give roles to",
            resource,
            "not beyond your token's expiry",
            "Roles do not expire, but your token does. Give a grant with expiresAt, or use a token that does not expire.",
          )
        if (yield* isBeyond(caller, after))
          return yield* refuse(
            "give roles to",
            resource,
            "not beyond your rights",
            "You can only give rights that you have.",
          )
      })

      const shows = (caller: Caller["Service"], toolsets: Principal["toolsets"] | undefined) =>
        toolsets !== undefined && toolsets.some((one) => !caller.principal.toolsets.includes(one))

      /**
       * The wallet's owner can sign in as its principal, as internal and without end: giving a wallet is no less than
       * giving a token.
       */
      const signsInAs = Effect.fnUntraced(function* (whose: Principal) {
        const caller = yield* Caller
        const resource = `principals/${whose.name}`
        const act = "give a wallet to"
        yield* hasToken(caller, resource)
        yield* inside(caller, act, resource)
        if (caller.expiresAt !== null)
          return yield* refuse(
            act,
            resource,
            "not beyond your token's expiry",
            "Wallets do not expire, but your token does. Use a token that does not expire.",
          )
        if (yield* isBeyond(caller, whose))
          return yield* refuse(
            act,
            resource,
            "not beyond your rights",
            "It has rights that you do not have. Ask somebody who has them.",
          )
      })

      const newPrincipal: Authority["Service"]["newPrincipal"] = Effect.fn("Authority.newPrincipal")(
        function* (wanted) {
          const caller = yield* Caller
          const more = wanted.roles !== undefined || wanted.wallet !== undefined || shows(caller, wanted.toolsets)
          // Roles are rights: a principal that can give them could give itself all of them.
          yield* unasked(
            more ? "admin" : "write",
            `principals/${wanted.name}`,
            "A new principal cannot wait for that: declare it in the configuration file.",
          )
          const { kind, name, roles = defaultRoles[kind] } = wanted
          if (wanted.wallet !== undefined) yield* signsInAs(nobodyYet(kind, name, roles))
          if (wanted.roles !== undefined) yield* becomes(undefined, nobodyYet(kind, name, roles))
        },
      )

      const changedPrincipal: Authority["Service"]["changedPrincipal"] = Effect.fn("Authority.changedPrincipal")(
        function* (before, changes, approval) {
          const caller = yield* Caller
          const more = changes.roles !== undefined || changes.wallet !== undefined || shows(caller, changes.toolsets)
          yield* agreed(more ? "admin" : "write", `principals/${before.name}`, approval)
          if (changes.wallet !== undefined && changes.wallet !== null) {
            yield* agreed("write", `tokens/${before.name}`, approval)
            yield* signsInAs(before)
          }
          if (changes.roles !== undefined || changes.name !== undefined)
            yield* becomes(before, new Principal({ ...before, ...changes }))
        },
      )

      const changedAgent: Authority["Service"]["changedAgent"] = Effect.fn("Authority.changedAgent")(function* (
        before,
        { parent, thinker },
      ) {
        // Rules for those above an agent bind it too, so moving it in the tree means giving it rights.
        yield* require(parent === undefined ? "write" : "admin", `principals/${before.name}`)
        if (thinker?.kind === "program") yield* require("admin", programsOfHouse)
      })

      const allowList: Authority["Service"]["allowList"] = Effect.fn("Authority.allowList")(
        function* (before, tools, approval) {
          const caller = yield* Caller
          const resource = `allow-lists/${before.toolset}/${before.context}`
          yield* agreed("write", resource, approval)
          const isWider = !before.tools.includes("*") && tools.some((one) => !before.tools.includes(one))
          if (isWider) yield* inside(caller, "widen", resource)
        },
      )

      return Authority.of({
        token,
        rotation,
        revocation: (it, whose) => reach(it, whose, "delete"),
        grant,
        revokeGrant,
        newPrincipal,
        changedPrincipal,
        changedAgent,
        allowList,
      })
    }),
  )
}

/** A principal that is about to be added, with only what rules refer to. */
const nobodyYet = (kind: Principal["kind"], name: string, roles: Principal["roles"]): Principal =>
  new Principal({
    id: newId("prn"),
    kind,
    name,
    roles,
    owner: null,
    wallet: null,
    toolsets: [],
    source: "house",
    createdAt: DateTime.makeUnsafe(0),
    retiredAt: null,
  })
