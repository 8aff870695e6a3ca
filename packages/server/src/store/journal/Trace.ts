/**
 * The trace context of a call, for the services it reaches (G-39): one id from the first request to the last service.
 */
import { createHash } from "node:crypto"
import type { CallContext } from "@stoa/tools"

export const traceOf = ({ correlationId, id }: CallContext): { readonly traceparent?: string } => {
  const span = createHash("sha256").update(id).digest("hex").slice(0, 16)
  return /^(?!0{32})[0-9a-f]{32}$/.test(correlationId) ? { traceparent: `00-${correlationId}-${span}-01` } : {}
}
