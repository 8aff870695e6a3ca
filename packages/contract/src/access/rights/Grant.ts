/** What a principal may do, beyond its roles: grants by an admin, delegations by a peer (S4-98, S4-101). */
import { Schema } from "effect"
import { AccessContext } from "./AllowList.ts"
import { DelegationId, GrantId, Moment, MomentOrNull, PrincipalId } from "../../Ids.ts"
import { PrincipalRef, Source } from "../identity/Principal.ts"
import { ListedSet } from "../../tools/Toolset.ts"
import { actions, verdicts } from "../rightsWords.ts"

export const Action = Schema.Literals(actions)
export type Action = typeof Action.Type

/** A resource is a path such as `tools/web-search`; in a pattern `*` matches any characters. */
export const ResourcePattern = Schema.String.check(
  Schema.isPattern(/^[\p{L}\p{N}*/._:@ '-]{1,200}$/u, {
    message: "must be a resource pattern such as tools/* or secrets/openai, of at most 200 characters",
  }),
)

export const Verdict = Schema.Literals(verdicts)
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

const Actions = Schema.Array(Action).check(Schema.isMinLength(1), Schema.isMaxLength(actions.length))

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
  /** 1 if the giver had the right itself, 2 if the giver had it by delegation, at most 3. */
  depth: Schema.Int,
  /** The context of the giver's token: the delegation is not valid for tokens of a more trusted context. */
  context: AccessContext,
  expiresAt: Moment,
  revokedAt: MomentOrNull,
  createdAt: Moment,
}) {}

export const NewDelegation = Schema.Struct({
  to: PrincipalRef,
  resource: ResourcePattern,
  actions: Actions,
  reason: Schema.String.check(
    Schema.isPattern(/\S/, { message: "must be a reason in words" }),
    Schema.isMaxLength(1000),
  ),
  expiresAt: Schema.optionalKey(Moment),
}).annotate({ identifier: "NewDelegation" })
export type NewDelegation = typeof NewDelegation.Type

/** A matching rule: in words, with its origin, and whether it is the one that decides. */
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

/** What else a call has to pass besides rules. */
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
  /** For the gate `allow-list`: which list, and whether it names this tool itself, so that it can be removed. */
  allowList: Schema.optionalKey(Schema.Struct({ toolset: ListedSet, context: AccessContext, named: Schema.Boolean })),
})
export type Gate = typeof Gate.Type

/**
 * The verdict and the rule that decided: `role:agent-standard`, `grant:gnt_…`, `policy:2`, `delegation:dlg_…` or
 * `silence`.
 */
export class Judgement extends Schema.Class<Judgement>("Judgement")({
  verdict: Verdict,
  rule: Schema.String,
  /** If requested: all matching rules, the deciding one first, and the other gates of a call. */
  rules: Schema.optionalKey(Schema.Array(FittingRule)),
  gates: Schema.optionalKey(Schema.Array(Gate)),
}) {}
