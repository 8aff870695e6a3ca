/** The parameters of a new question. */
import type { CallId, DecisionKind, JsonSchema, Principal, PrincipalId, RiskLevel, Role, SpaceId } from "@stoa/contract"
import type { DateTime, Schema } from "effect"

export interface NewDecision {
  readonly kind: DecisionKind
  readonly question: string
  readonly askedBy: Principal
  readonly call: {
    readonly id: CallId
    readonly tool: string
    readonly input: Schema.Json
    readonly riskLevel?: RiskLevel
  } | null
  /** When the call was made: who came later has no say in an approval. */
  readonly askedAt: DateTime.Utc
  /** Of the exact thing asked about. */
  readonly digest: string
  /** Of the definition as it was shown, for an approval from now on. */
  readonly fingerprint: string | null
  /** The epoch of rights it was asked in. */
  readonly policy: number
  /** What an answer must fit. */
  readonly schema?: JsonSchema
  /** What a form is built from where nothing better is known (G-37). */
  readonly form?: JsonSchema
  readonly customUI?: string
  /** Those who are named; none of them, where the names are nobody's. Absent: nobody is named. */
  readonly named?: ReadonlyArray<PrincipalId>
  readonly people?: 1 | 2
  /** To whom it goes, and after how long, if nobody answers. */
  readonly escalation?: { readonly milliseconds: number; readonly to: ReadonlyArray<PrincipalId | `role:${Role}`> }
  readonly space: SpaceId | null
  /** The outermost run it is asked for, where a run asks: an approval may hold for all of it. */
  readonly run?: string
  readonly milliseconds: number
  /** Why it is asked. */
  readonly rule?: string
  /** A page outside where the answer is given. */
  readonly url?: string
  /** The MCP server the tool is of, and since when its definition is this one. */
  readonly pinned?: { readonly server: string; readonly since: string }
}
