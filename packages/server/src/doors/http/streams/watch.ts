/** A stream as a response: the router sends the head, the feed writes the body. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Feed, type Subscription } from "../../Feed.ts"

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that buffer would delay events.
  "x-accel-buffering": "no",
}

export const makeWatch = Effect.map(
  Feed,
  (feed) => (wanted: Subscription) =>
    Effect.map(feed.subscribe(wanted), (takeover) => HttpServerResponse.raw(takeover, { headers })),
)
