/**
 * Who may follow events, how many streams at a time, and until when. What they see of them says `Sight`.
 */
import { type Caller, TooManyRequests } from "@stoa/contract"
import { Effect } from "effect"
import { Tokens } from "../access/identity/Tokens.ts"
import { Grants } from "../access/rights/Grants.ts"

/** Open streams per principal: enough for its tabs, devices and processes, not for a flood. */
const maxStreams = 200
/** For those who may read all events, such as a program that watches for others. */
const maxOfEverything = 5000

/** A watch that was let in. */
export interface Watch {
  readonly caller: Caller["Service"]
  /** Whether token and rights are as they were when it began: if not, it has to begin again. */
  readonly still: Effect.Effect<boolean>
}

export const makeWatching = Effect.gen(function* () {
  const grants = yield* Grants
  const tokens = yield* Tokens

  /** `open`: how many streams the caller's principal has already. */
  return Effect.fn("Watching.begin")(function* (caller: Caller["Service"], open: number) {
    const { verdict } = yield* grants.judge(caller, "read", "events/*")
    const most = verdict === "allow" ? maxOfEverything : maxStreams
    if (open >= most)
      return yield* new TooManyRequests({ resource: "streams", limit: `${most} at a time`, retryAfter: 30 })
    const still = Effect.gen(function* () {
      if (!(yield* tokens.stillWorks(caller))) return false
      // With its present rights: the caller is as it was when the stream began.
      const now = yield* grants.judge(yield* tokens.renewCaller(caller), "read", "events/*")
      return now.verdict === verdict
    }).pipe(Effect.catchTag("Missing", () => Effect.succeed(false)))
    return { caller, still } satisfies Watch
  })
})
