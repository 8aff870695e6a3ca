/** A tool with a fixed answer: its configured `output` exactly as written, or an acknowledgement (S1-32). */
import { Effect } from "effect"
import type { Kind } from "./Kind.ts"

const acknowledgement = { ok: true }

export const staticKind: Kind<"static"> = {
  effects: "none",
  readOnly: true,
  handler: ({ execution: { output = acknowledgement } }) => {
    const answer = Effect.succeed(output)
    return () => answer
  },
  preview: () => null,
}
