/** What a call needs to know of a tool besides its definition, and a tool as the catalogue lists it. */
import type { ApprovalRule, ListedSet, Principal, PrincipalId, Visibility } from "@stoa/contract"
import type { RegisteredTool } from "@stoa/tools"
import { concerns } from "../../access/rights/Rules.ts"
import type { HandlerCall } from "../road/Handler.ts"
import type { Schema } from "effect"

export interface Traits {
  /**
   * `none`: running it twice harms nobody; recorded and settled in one commit. `store`: all it does is in our database, so
   * that it runs inside the transaction that records it. `outside`: recorded before it runs, and never run twice.
   */
  readonly effects: "none" | "store" | "outside"
  /** It only answers; a client may be told so. */
  readonly readOnly?: true
  /** What would be sent, secrets left out (G-33). */
  readonly preview?: (input: Readonly<Record<string, unknown>>) => Schema.Json
  readonly approval?: ApprovalRule
  /** What a space sees of it by who calls, where that differs: a name or `role:x`, the first that fits. */
  readonly visibilityFor?: Readonly<Record<string, Visibility>>
  /** People act on it, so there must be a place where they see it (S1-19). */
  readonly interactive?: boolean
  /** Its result is in MCP's own shape, and it may ask the client that calls it, and tell it things (upstreams/InputRequired.ts). */
  readonly resultFormat?: "mcp"
  /** Whoever has made calls may use it at every door, listed there or not: it tells and ends one's own calls. */
  readonly atEveryEndpoint?: true
  /** Only a program in its turn has it: nobody else has anything to ask by it. */
  readonly onlyInTurn?: true
  /** The default limit its calls count against, where it is not that of every tool. */
  readonly countedAs?: "calls/memory"
  /**
   * Whose words it returns, of a tool that is part of the house: its own, where nothing that others wrote is in them, or those
   * of the world outside. What says nothing returns what people and agents wrote (G-15).
   */
  readonly resultSource?: "the house" | "outside"
  /** It reads or writes what its caller remembers: whoever erases that erases what these calls keep of it too (G-21). */
  readonly usesMemory?: true
  /** The upstream server it comes from. */
  readonly server?: string
  /** Since when it has been pinned as it is. */
  readonly pinnedAt?: string
  /** Whose tool it is, where it is not everybody's. */
  readonly owner?: PrincipalId
  /** Digest of what the tool does beyond its definition: an approval of it is an approval of that. */
  readonly targetDigest?: string
  /** Fields that hold a wallet: in a run the house fills in the caller's, and the model is not shown them. */
  readonly wallets?: ReadonlyArray<string>
  /** What one call costs, in millionths of a dollar. */
  readonly priceMicros?: number
  /** Words its author sorts it by; clients are shown them. */
  readonly tags?: ReadonlyArray<string>
  /** Its schema is of our own code, and checked in place; any other is compiled and checked under a deadline, elsewhere. */
  readonly reviewed?: boolean
}

export interface CatalogueTool extends Traits {
  readonly tool: RegisteredTool<HandlerCall>
  readonly set: ListedSet
  /** What a space sees of its calls. */
  readonly visibility: Visibility
}

/**
 * What a space sees of a call by somebody: of a tool that is part of the house nothing, whatever it says (S1-20). Configuration
 * alone decides, for the tool or for who calls it (S1-02).
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
