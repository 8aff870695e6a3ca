/** What a principal may do, beyond its roles: grants by an admin, delegations by a peer (S4-98, S4-101). */
import { Schema } from "effect"
import { AccessContext } from "./AllowList.ts"
import { DelegationId, GrantId, Moment, MomentOrNull, PrincipalId } from "../Ids.ts"
import { PrincipalRef, Source } from "./Principal.ts"
import { ListedSet } from "../tools/Toolset.ts"

export const Action = Schema.Literals(["read", "write", "execute", "delete", "admin"])
export type Action = typeof Action.Type

/** A resource is a path such as `tools/web-search`; in a pattern `*` stands for any run of characters. */
export const ResourcePattern = Schema.String.check(
  Schema.isPattern(/^[\p{L}\p{N}*/._:@ '-]{1,200}$/u, {
    message: "a resource pattern such as tools/* or secrets/openai, of at most 200 characters",
  }),
)

export const Verdict = Schema.Literals(["allow", "ask", "deny"])
export type Verdict = typeof Verdict.Type

export class Grant extends Schema.Class<Grant>("Grant")({
  id: GrantId,
  principal: PrincipalId,
  resource: Schema.String,
  actions: Schema.Array(Action),
  effect: Verdict,
  source: Source,
  expiresAt: MomentOrNull,
  createdAt: Moment,
}) {}

const Actions = Schema.Array(Action).check(Schema.isMinLength(1), Schema.isMaxLength(5))

export const NewGrant = Schema.Struct({
  principal: PrincipalRef,
  resource: ResourcePattern,
  actions: Actions,
  effect: Schema.optionalKey(Verdict),
  expiresAt: Schema.optionalKey(Moment),
}).annotate({ identifier: "NewGrant" })
export type NewGrant = typeof NewGrant.Type

export class Delegation extends Schema.Class<Delegation>("Delegation")({
  id: DelegationId,
  from: PrincipalId,
  to: PrincipalId,
  resource: Schema.String,
  actions: Schema.Array(Action),
  reason: Schema.String,
  /** 1 when the giver had it of its own, 2 when the giver itself had it by delegation, at most 3. */
  depth: Schema.Int,
  /** Where the giver's token stood: no token that stands further in has what was lent. */
  context: AccessContext,
  expiresAt: Moment,
  revokedAt: MomentOrNull,
  createdAt: Moment,
}) {}

export const NewDelegation = Schema.Struct({
  to: PrincipalRef,
  resource: ResourcePattern,
  actions: Actions,
  reason: Schema.String.check(Schema.isPattern(/\S/, { message: "a reason in words" }), Schema.isMaxLength(1000)),
  expiresAt: Schema.optionalKey(Moment),
}).annotate({ identifier: "NewDelegation" })
export type NewDelegation = typeof NewDelegation.Type

/** What was decided, and by which rule: `role:agent-standard`, `grant:gnt_…`, `policy:2`, `delegation:dlg_…` or `silence`. */
/** A rule that fits what is asked: in words, where it comes from, and whether it is the one that decides. */
const FittingRule = Schema.Struct({
  name: Schema.String,
  effect: Verdict,
  resource: Schema.String,
  actions: Schema.Array(Action),
  words: Schema.String,
  from: Schema.Literals(["role", "file", "house", "delegation", "wallet"]),
  decides: Schema.Boolean,
  expiresAt: MomentOrNull,
})
export type FittingRule = typeof FittingRule.Type

/** What stands in the way of a call besides rules. */
export const GateName = Schema.Literals([
  "tool",
  "toolset",
  "allow-list",
  "pin",
  "pause",
  "limit",
  "approval",
  "space",
  "rule",
])
export type GateName = typeof GateName.Type
const Gate = Schema.Struct({
  gate: GateName,
  passes: Schema.Boolean,
  words: Schema.String,
  /** Of the gate `allow-list`: which one, and whether it names this tool itself, so that it can be taken off. */
  allowList: Schema.optionalKey(Schema.Struct({ toolset: ListedSet, context: AccessContext, named: Schema.Boolean })),
})
export type Gate = typeof Gate.Type

export class Judgement extends Schema.Class<Judgement>("Judgement")({
  verdict: Verdict,
  rule: Schema.String,
  /** Where they were asked for: all that fit, the one that decides first, and what else a call has to pass. */
  rules: Schema.optionalKey(Schema.Array(FittingRule)),
  gates: Schema.optionalKey(Schema.Array(Gate)),
}) {}
