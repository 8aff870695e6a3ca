/** What every door answers when something fails that no request should be able to break. */
import { type CorrelationId, DiskFull, Internal, Unavailable } from "@stoa/contract"
import { Cause, Effect } from "effect"
import { isOfFullDisk } from "../store/database/FullDisk.ts"

type Fault = DiskFull | Unavailable | Internal

/** A full disk and a database that is away are told as what they are; the rest is logged whole and told as an id. */
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
