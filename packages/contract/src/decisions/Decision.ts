/** A durable question and its answer: approval, form, elicitation. Bound to the exact call, answered once. */
import { Schema } from "effect"
import { ApprovalId, CallId, DecisionId, Moment, MomentOrNull, PrincipalId, SpaceId } from "../Ids.ts"
import { PrincipalKind } from "../access/Principal.ts"
import { JsonSchema, RiskLevel } from "../tools/Tool.ts"

export const DecisionKind = Schema.Literals(["approval", "form", "elicitation"])
export type DecisionKind = typeof DecisionKind.Type
export const DecisionState = Schema.Literals(["open", "answered", "expired", "canceled"])
export type DecisionState = typeof DecisionState.Type
export const AnswerVerdict = Schema.Literals(["approve", "deny", "submit"])
export type AnswerVerdict = typeof AnswerVerdict.Type
/** For this call, for this run, or from now on. */
export const Reach = Schema.Literals(["once", "run", "always"])
export type Reach = typeof Reach.Type

/** What is asked about, as the one who answers must see it. */
const Asked = Schema.Struct({
  id: CallId,
  tool: Schema.String,
  input: Schema.Json,
  riskLevel: Schema.optionalKey(RiskLevel),
})

/** No class: a list has thousands, and an instance costs as much as all of its fields. */
export const Decision = Schema.Struct({
  id: DecisionId,
  kind: DecisionKind,
  state: DecisionState,
  call: Schema.NullOr(Asked),
  /** What is asked, in words. */
  question: Schema.String,
  /** Of `value` in a form, of an edited `input` in an approval. */
  schema: Schema.optionalKey(JsonSchema),
  /** The component that asks; a client that does not know it builds a form from the schema (G-37). */
  customUI: Schema.optionalKey(Schema.String),
  /** Why it is asked: the rule, `tool` where the tool itself wants it, or its risk. Absent where older houses asked. */
  rule: Schema.optionalKey(Schema.String),
  /** A page outside where the answer is given: opened by the person, never by a program. */
  url: Schema.optionalKey(Schema.String),
  /** What stands behind the tool: the MCP server it is of, and since when its definition has been this one. */
  pinned: Schema.optionalKey(Schema.Struct({ server: Schema.String, since: Moment })),
  askedBy: PrincipalId,
  /** The same, as people know it. */
  asker: Schema.Struct({ name: Schema.String, kind: PrincipalKind }),
  /** Of `call.input`, as `JSON.stringify` writes it: bytes, and their SHA-256 in hex. */
  inputSize: Schema.optionalKey(Schema.Int),
  inputDigest: Schema.optionalKey(Schema.String),
  /**
   * Who may answer it now, at most a hundred of them. Never the one who asked. Of an approval it was fixed when it was
   * asked: it becomes shorter when somebody loses the right, and longer only by the escalation that was fixed with it.
   */
  mayAnswer: Schema.Array(PrincipalId),
  /** How many different people must approve. */
  people: Schema.Int,
  approvals: Schema.Array(PrincipalId),
  space: Schema.NullOr(SpaceId),
  expiresAt: Moment,
  /** When others may answer it too, and since when they may. */
  escalatesAt: MomentOrNull,
  escalatedAt: MomentOrNull,
  onExpiry: Schema.Literal("deny"),
  createdAt: Moment,
  verdict: Schema.NullOr(AnswerVerdict),
  /** What was submitted, or the input as it was edited. */
  value: Schema.optionalKey(Schema.Json),
  note: Schema.NullOr(Schema.String),
  answeredBy: Schema.NullOr(PrincipalId),
  answeredAt: MomentOrNull,
}).annotate({ identifier: "Decision" })
export type Decision = typeof Decision.Type

export const NewAnswer = Schema.Struct({
  verdict: AnswerVerdict,
  /** Edits an approval: the call runs with this instead. */
  input: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** Fills a form. */
  value: Schema.optionalKey(Schema.Json),
  reach: Schema.optionalKey(Reach),
  note: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2000))),
}).annotate({ identifier: "NewAnswer" })
export type NewAnswer = typeof NewAnswer.Type

/** An approval from now on: this principal, this tool, as the tool was defined when it was given. */
export class Approval extends Schema.Class<Approval>("Approval")({
  id: ApprovalId,
  principal: PrincipalId,
  tool: Schema.String,
  decision: DecisionId,
  givenBy: PrincipalId,
  createdAt: Moment,
}) {}

/** A link that answers one decision as one person, from wherever it is opened. */
export class DecisionLink extends Schema.Class<DecisionLink>("DecisionLink")({
  url: Schema.String,
  principal: PrincipalId,
  expiresAt: Moment,
}) {}
