/** The audit trail: a projection of the journal, append-only and hash-chained (S4-103, G-41). */
import { Schema } from "effect"
import { CorrelationId, Moment } from "../Ids.ts"

export const AuditResult = Schema.Literals(["success", "failure", "denied"])
export type AuditResult = typeof AuditResult.Type

export class AuditEntry extends Schema.Class<AuditEntry>("AuditEntry")({
  seq: Schema.Int,
  at: Moment,
  principal: Schema.NullOr(Schema.String),
  action: Schema.String,
  resource: Schema.String,
  result: AuditResult,
  rule: Schema.optionalKey(Schema.String),
  call: Schema.optionalKey(Schema.String),
  /** For a call: the space it was made in, and how long it took. */
  space: Schema.optionalKey(Schema.String),
  durationMs: Schema.optionalKey(Schema.Int),
  correlationId: CorrelationId,
  hash: Schema.String,
}) {}

/** Whether the trail is intact: every row as it was written, none missing, both ends sealed by the house. */
export class AuditChain extends Schema.Class<AuditChain>("AuditChain")({
  rows: Schema.Int,
  whole: Schema.Boolean,
  /** The first row that was changed or is missing, and what is wrong with it. */
  brokenAt: Schema.NullOr(Schema.Int),
  why: Schema.NullOr(Schema.String),
  sealed: Schema.Boolean,
}) {}
