/** What a call needs to know about a tool besides its definition, and a tool as the catalogue lists it. */
import type { ApprovalRule, ListedSet, Principal, PrincipalId, Visibility } from "@stoa/contract"
import type { RegisteredTool } from "@stoa/tools"
import { concerns } from "../../access/rights/Rules.ts"
import type { HandlerCall } from "../road/Handler.ts"
import type { Schema } from "effect"

export interface Traits {
  /**
   * `none`: running it twice does no harm; recorded and settled in one commit. `store`: it changes only our database,
   * so it runs inside the transaction that records it. `outside`: recorded before it runs, and never run twice.
   */
  readonly effects: "none" | "store" | "outside"
  /** It only answers; a client may be told so. */
  readonly readOnly?: true
  /** What would be sent, without secrets (G-33). */
  readonly preview?: (input: Readonly<Record<string, unknown>>) => Schema.Json
  readonly approval?: ApprovalRule
  /** What a space sees of its calls for certain callers: keys are names or `role:x`, the first match counts. */
  readonly visibilityFor?: Readonly<Record<string, Visibility>>
  /** People act on it, so it needs a space in which they see it (S1-19). */
  readonly interactive?: boolean
  /** Its result is an MCP result, and it may ask its calling client, and notify it (servers/InputRequired.ts). */
  readonly resultFormat?: "mcp"
  /** It shows and ends the caller's own calls, so every caller may use it at every door, listed or not. */
  readonly atEveryEndpoint?: true
  /** Only a program in its turn has this tool; it is useless to everybody else. */
  readonly onlyInTurn?: true
  /** Its server marks it for its app alone (MCP Apps): no run has it, and no list for a model. */
  readonly onlyForApps?: true
  /** The default limit that its calls count against, if it is not the one of every tool. */
  readonly countedAs?: "calls/memory"
  /**
   * For a built-in tool: whose words it returns. `the house`: nothing that others wrote; `outside`: content from the
   * outside world. Unset: what people and agents wrote (G-15).
   */
  readonly resultSource?: "the house" | "outside"
  /** It reads or writes its caller's memory: erasing that memory also erases what these calls store of it (G-21). */
  readonly usesMemory?: true
  /** The MCP server it comes from. */
  readonly server?: string
  /** Since when its present definition has been pinned. */
  readonly pinnedAt?: string
  /** Its owner, unless it is everybody's tool. */
  readonly owner?: PrincipalId
  /** Digest of what the tool does beyond its definition: an approval covers exactly that. */
  readonly targetDigest?: string
  /** Fields that hold a wallet: in a run the house fills in that of whoever it acts for, and hides them from the model. */
  readonly wallets?: ReadonlyArray<string>
  /** It is of no use to an agent without a wallet, which then does not have it. */
  readonly ofWallets?: true
  /** What one call costs, in millionths of a dollar. */
  readonly priceMicros?: number
  /** The author's tags, shown to clients. */
  readonly tags?: ReadonlyArray<string>
  /**
   * Its schema is our own code and validates in place; any other schema is compiled and validated elsewhere, under a
   * deadline.
   */
  readonly reviewed?: boolean
}

export interface CatalogueTool extends Traits {
  readonly tool: RegisteredTool<HandlerCall>
  readonly set: ListedSet
  /** What a space sees of its calls. */
  readonly visibility: Visibility
}

/**
 * What a space sees of a principal's call: nothing for a built-in tool, whatever its traits say (S1-20). Only
 * configuration decides, for the tool or for its caller (S1-02).
 */
export const visibilityOf = (
  set: ListedSet,
  { definition }: RegisteredTool<HandlerCall>,
  { visibilityFor = {} }: Traits,
  caller: Principal,
): Visibility => {
  if (set !== "configured" && set !== "upstream") return "hidden"
  const own = Object.entries(visibilityFor).find(([whom]) => concerns(whom, caller))
  return own?.[1] ?? definition.visibility ?? "hidden"
}
