import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Pauses } from "../../../../access/limits/Pauses.ts"
import { followPause } from "../../../../calls/waiting/Resume.ts"
import { Journal } from "../../../../store/journal/Journal.ts"
import { Readers } from "../../../../store/journal/readers/Readers.ts"
import { Upstreams } from "../../../../upstreams/Upstreams.ts"

/** How long a lift waits until its pause has stopped everything. */
const patience = "5 seconds"

export const pausesHandlers = HttpApiBuilder.group(
  Api,
  "pauses",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const pauses = yield* Pauses
    const readers = yield* Readers
    const upstreams = yield* Upstreams
    const { transact } = yield* Journal

    /** Calls made after a lift must not be stopped by the pause before it, and a server's tools must be there again. */
    const lift = Effect.fnUntraced(function* (subject: string) {
      yield* Effect.timeoutOption(readers.receipt("calls"), patience)
      yield* transact(pauses.lift(subject))
      yield* followPause(subject).pipe(
        Effect.provideService(Pauses, pauses),
        Effect.provideService(Upstreams, upstreams),
      )
      if (subject.startsWith("servers/")) yield* upstreams.shown(subject.slice("servers/".length))
    })

    return handlers.handleAll({
      list: () => Effect.andThen(require("read", "pauses/*"), pauses.list),
      set: ({ payload }) => Effect.andThen(require("admin", "pauses/*"), pauses.set(payload)),
      lift: ({ params }) => Effect.andThen(require("admin", "pauses/*"), lift(params.subject)),
    })
  }),
)
