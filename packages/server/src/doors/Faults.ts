/** The answer of every door to a failure that no request should be able to cause. */
import { type CorrelationId, DiskFull, Internal, Unavailable } from "@stoa/contract"
import { Cause, Effect } from "effect"
import { isOfFullDisk } from "../store/database/disk/FullDisk.ts"

type Fault = DiskFull | Unavailable | Internal

/**
 * A full disk and a missing database are reported as such; anything else is logged completely and reported as an id.
 */
export const faultOf = (
  what: string,
  cause: Cause.Cause<unknown>,
  correlationId: CorrelationId,
): Effect.Effect<Fault> => {
  if (isOfFullDisk(cause)) return Effect.succeed(new DiskFull({}))
  const error = Cause.squash(cause) as { readonly _tag?: string; readonly reason?: { readonly _tag?: string } }
  if (error._tag === "SqlError" && error.reason?._tag === "ConnectionError")
    return Effect.as(
      Effect.logError("The database cannot be reached", cause),
      new Unavailable({ reason: "the database does not answer" }),
    )
  return Effect.as(
    Effect.logError(`${what} failed`, cause).pipe(Effect.annotateLogs({ correlationId })),
    new Internal({ correlationId }),
  )
}
