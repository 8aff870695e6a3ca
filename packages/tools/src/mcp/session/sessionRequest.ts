/** How a session is asked anything: with a time limit, interruptible, with sorted failures. */
// edge: the SDK's client is promises
import type { Client, RequestOptions, StandardSchemaV1 } from "@modelcontextprotocol/client"
import type { Effect } from "effect"
import type { MCPFault } from "../client/faults.ts"

export type SessionRequest = <A>(
  run: (client: Client, options: RequestOptions) => Promise<A>,
  options?: RequestOptions,
) => Effect.Effect<A, MCPFault>

/** The result unchanged: the SDK's schemas would strip or reorder it, which breaks signatures and comparisons. */
export const anySchema: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "stoa", validate: (value) => ({ value }) },
}
