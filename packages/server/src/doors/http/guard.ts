/** Runs before the router for every request: refusals, the correlation id, and what happens to unexpected failures. */
import { type CorrelationId, NoRoute } from "@stoa/contract"
import { Cause, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { causedBy } from "../../store/journal/Correlation.ts"
import { faultOf } from "../Faults.ts"
import type { NodeRequest } from "../node/NodeRequest.ts"
import { problemResponse } from "../Problems.ts"
import { correlationFrom, type RefusalOptions, refusals } from "../Acting.ts"

export const guard = (options: RefusalOptions) => {
  const refusal = refusals(options)
  return <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.gen(function* () {
      const request = (yield* HttpServerRequest.HttpServerRequest) as NodeRequest
      const correlationId = correlationFrom(request.headers["traceparent"])
      const refused = refusal(request)
      const answer =
        refused !== undefined
          ? problemResponse(refused)
          : yield* causedBy({ correlationId, actor: null, provenance: "outside" }, app).pipe(
              Effect.catchCause((cause) => ourFault(cause, request, correlationId)),
            )
      return HttpServerResponse.setHeaders(answer, {
        ...(options.draining() ? { connection: "close" } : {}),
        "x-correlation-id": correlationId,
        "x-content-type-options": "nosniff",
      })
    })
}

/** Answers that travel as defects are answers; anything else is our fault, logged completely and reported as an id. */
const ourFault = (
  cause: Cause.Cause<unknown>,
  { method, target: { path } }: NodeRequest,
  correlationId: CorrelationId,
) => {
  for (const reason of cause.reasons)
    if (reason._tag === "Die" && HttpServerResponse.isHttpServerResponse(reason.defect))
      return Effect.succeed(reason.defect)
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  if (
    (Cause.squash(cause) as { readonly _tag?: string })._tag === "HttpServerError" &&
    String(cause).includes("RouteNotFound")
  )
    return Effect.succeed(problemResponse(new NoRoute({ method, path })))
  return Effect.map(faultOf(`${method} ${path}`, cause, correlationId), problemResponse)
}
