/** A stream as a response: the router sends the head, the feed writes the body. */
import { type Caller, type FaceName, TooManyRequests } from "@stoa/contract"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Grants } from "../../../access/rights/Grants.ts"
import { Principals } from "../../../access/identity/Principals.ts"
import { Tokens } from "../../../access/identity/Tokens.ts"
import { Feed } from "../../Feed.ts"
import type { Takeover } from "../../node/Response.ts"

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that buffer would delay events.
  "x-accel-buffering": "no",
}

/** Open streams per principal: enough for its tabs, devices and processes, not for a flood. */
const mostStreams = 200
const mostForAdmins = 5000

export interface WatchOptions {
  readonly names: FaceName | undefined
  readonly after: number | undefined
  readonly space: string | undefined
}

export const makeWatch = Effect.gen(function* () {
  const grants = yield* Grants
  const feed = yield* Feed
  const tokens = yield* Tokens
  const principals = yield* Principals
  return Effect.fnUntraced(function* (caller: Caller["Service"], { after, names, space }: WatchOptions) {
    const { verdict } = yield* grants.judge(caller, "read", "events/*")
    const most = verdict === "allow" ? mostForAdmins : mostStreams
    if (feed.streamsOf(caller.principal.id) >= most)
      return yield* new TooManyRequests({ resource: "streams", limit: `${most} at a time`, retryAfter: 30 })
    const still = Effect.gen(function* () {
      if (!(yield* tokens.stillStands(caller))) return false
      // Read again: the caller is as it was when the stream began.
      const principal = yield* principals.get(caller.principal.id)
      const now = yield* grants.judgeOf(principal, "read", "events/*")
      return now.verdict === verdict
    }).pipe(Effect.catchTag("Missing", () => Effect.succeed(false)))
    const context = yield* Effect.context<never>()
    const subscription = {
      caller,
      face: names,
      space,
      after,
      still,
    }
    const takeover: Takeover = (response) => void Effect.runForkWith(context)(feed.subscribe(response, subscription))
    return HttpServerResponse.raw(takeover, { headers })
  })
})
