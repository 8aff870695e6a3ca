/** How anything is asked of a session: with its time limit, interruptible, its failures sorted. */
// edge: the SDK's client is promises
import type { Client, RequestOptions, StandardSchemaV1 } from "@modelcontextprotocol/client"
import type { Effect } from "effect"
import type { Fault } from "../client/faults.ts"

export type SessionRequest = <A>(
  run: (client: Client, options: RequestOptions) => Promise<A>,
  options?: RequestOptions,
) => Effect.Effect<A, Fault>

/** The result as it came: what the SDK's schemas would strip or reorder, a signature or a comparison would miss. */
export const anySchema: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "stoa", validate: (value) => ({ value }) },
}
