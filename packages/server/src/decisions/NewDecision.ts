/** The parameters of a new question. */
import type {
  CallId,
  DecisionKind,
  JsonSchema,
  Principal,
  PrincipalId,
  Reach,
  RiskLevel,
  Role,
  SpaceId,
} from "@stoa/contract"
import type { Schema } from "effect"

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
  /** Digest of the exact subject. */
  readonly digest: string
  /** Of the definition as shown, for a standing approval. */
  readonly fingerprint: string | null
  /** The epoch of rights at the time of asking. */
  readonly policy: number
  /** An answer must match it. */
  readonly schema?: JsonSchema
  /** The schema to build a form from, if there is nothing better (G-37). */
  readonly form?: JsonSchema
  readonly customUI?: string
  /** The people who are named; empty if the names belong to nobody. Absent: nobody is named. */
  readonly named?: ReadonlyArray<PrincipalId>
  readonly people?: 1 | 2
  /** How far an approval may reach at most; absent: once. */
  readonly reach?: Reach
  /** Whom it escalates to, and after how long. */
  readonly escalation?: { readonly milliseconds: number; readonly to: ReadonlyArray<PrincipalId | `role:${Role}`> }
  readonly space: SpaceId | null
  /** The outermost run that asks, if one does: an approval may be valid for all of it. */
  readonly run?: string
  readonly milliseconds: number
  /** Why it is asked. */
  readonly rule?: string
  /** An outside page where the answer is given. */
  readonly url?: string
  /** The MCP server of the tool, and since when it has this definition. */
  readonly pinned?: { readonly server: string; readonly since: string }
}
