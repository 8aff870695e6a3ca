/** The span of a run. */
import { Effect, Tracer } from "effect"
import type { RunRow } from "../record/rows.ts"

/** Uses the trace of what woke it; the request that did so is its parent span, recorded or not. */
export const spanOf = <A, E, R>({ agent, correlationId, id }: RunRow, drive: Effect.Effect<A, E, R>) =>
  Effect.withSpan(drive, "run", {
    attributes: { "stoa.run": id, "stoa.agent": agent },
    captureStackTrace: false,
    ...(/^(?!0{16})[0-9a-f]{32}$/.test(correlationId)
      ? { parent: Tracer.externalSpan({ traceId: correlationId, spanId: correlationId.slice(0, 16) }) }
      : { root: true }),
  })
