import { Api, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { makeWatch } from "../../streams/watch.ts"

export const eventsHandlers = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fn(function* (handlers) {
    const watch = yield* makeWatch
    return handlers.handleRaw("watch", ({ headers, query }) =>
      Effect.flatMap(Caller, (caller) =>
        watch({ caller, face: query.names, after: headers["last-event-id"] ?? query.after, space: undefined }),
      ),
    )
  }),
)
