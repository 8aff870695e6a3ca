/** A stored question and its answer: approval, form, elicitation. Bound to the exact call, answered once. */
import { Schema } from "effect"
import { ApprovalId, CallId, DecisionId, Moment, MomentOrNull, PrincipalId, SpaceId } from "../Ids.ts"
import { PrincipalKind } from "../access/identity/Principal.ts"
import { JsonSchema, RiskLevel } from "../tools/Tool.ts"
import { Reach } from "./Reach.ts"

export const DecisionKind = Schema.Literals(["approval", "form", "elicitation"])
export type DecisionKind = typeof DecisionKind.Type
export const DecisionState = Schema.Literals(["open", "answered", "expired", "canceled"])
export type DecisionState = typeof DecisionState.Type
export const AnswerVerdict = Schema.Literals(["approve", "deny", "submit"])
export type AnswerVerdict = typeof AnswerVerdict.Type

/** What is asked about, as the answering person must see it. */
const Asked = Schema.Struct({
  id: CallId,
  tool: Schema.String,
  input: Schema.Json,
  riskLevel: Schema.optionalKey(RiskLevel),
})

/** No class: a list has thousands, and an instance costs as much as all its fields. */
export const Decision = Schema.Struct({
  id: DecisionId,
  kind: DecisionKind,
  state: DecisionState,
  call: Schema.NullOr(Asked),
  /** What is asked, in words. */
  question: Schema.String,
  /** For `value` in a form, for an edited `input` in an approval. */
  schema: Schema.optionalKey(JsonSchema),
  /** The component that asks; a client that does not have it builds a form from the schema (G-37). */
  customUI: Schema.optionalKey(Schema.String),
  /**
   * Why it is asked: the rule, `tool` if the tool itself requires it, or its risk. Absent in questions of older houses.
   */
  rule: Schema.optionalKey(Schema.String),
  /** An outside page where the answer is given: opened by the person, never by a program. */
  url: Schema.optionalKey(Schema.String),
  /** The MCP server of the tool, and since when it has had this definition. */
  pinned: Schema.optionalKey(Schema.Struct({ server: Schema.String, since: Moment })),
  askedBy: PrincipalId,
  /** The same, with its name. */
  asker: Schema.Struct({ name: Schema.String, kind: PrincipalKind }),
  /** Of `call.input`, as `JSON.stringify` writes it: bytes, and their SHA-256 in hex. */
  inputSize: Schema.optionalKey(Schema.Int),
  inputDigest: Schema.optionalKey(Schema.String),
  /**
   * Who may answer it now, at most a hundred people. Never the asker. For an approval the list is fixed when it is
   * asked: it becomes shorter when somebody loses the right, and longer only by the escalation that was fixed with it.
   */
  mayAnswer: Schema.Array(PrincipalId),
  /**
   * What else the approval of the reader may contain: an edited `input`, and how far it may reach. Only in an open
   * approval that the reader may answer.
   */
  options: Schema.optionalKey(Schema.Struct({ edit: Schema.Boolean, reaches: Schema.Array(Reach) })),
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
  /** The submitted value, or the edited input. */
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
  /** Of the input that was shown: with another one, the answer is refused. */
  inputDigest: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
  note: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2000))),
}).annotate({ identifier: "NewAnswer" })
export type NewAnswer = typeof NewAnswer.Type

/** A standing approval: this principal, this tool, with the tool's definition when it was given. */
export class Approval extends Schema.Class<Approval>("Approval")({
  id: ApprovalId,
  principal: PrincipalId,
  tool: Schema.String,
  decision: DecisionId,
  givenBy: PrincipalId,
  createdAt: Moment,
}) {}

/** A link that answers one decision as one person, wherever it is opened. */
export class DecisionLink extends Schema.Class<DecisionLink>("DecisionLink")({
  url: Schema.String,
  principal: PrincipalId,
  expiresAt: Moment,
}) {}
