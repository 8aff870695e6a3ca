/**
 * Continues waiting calls: a reader of the journal, so that no answer is lost between two processes or by a kill -9.
 */
import { Effect, Layer } from "effect"
import { Journal } from "../../store/journal/Journal.ts"
import { Readers, readerLayer } from "../../store/journal/readers/Readers.ts"
import { Servers } from "../../servers/Servers.ts"
import { waitPurpose } from "../road/ask.ts"
import { Calls } from "../Calls.ts"

const name = "calls"

/** How long a paused server stays connected at most while its calls are canceled. */
const maxWait = "5 seconds"

/**
 * A paused server is disconnected, and its program ended (G-12): by every process, since each has its own connections.
 * First its calls are canceled, by the reader below, which runs in one process: otherwise they would fail because their
 * server is gone.
 */
const followPauses = Effect.gen(function* () {
  const journal = yield* Journal
  const readers = yield* Readers
  const servers = yield* Servers
  yield* journal.follow({
    name: "following the pauses of MCP servers",
    kinds: ["pause.set", "pause.lifted"],
    wanted: () => true,
    hear: Effect.fnUntraced(function* (events) {
      const some = events.filter(({ body }) => (body as { readonly subject: string }).subject.startsWith("servers/"))
      if (some.length === 0) return
      const set = some.findLast(({ kind }) => kind === "pause.set")
      if (set !== undefined) yield* Effect.timeoutOption(readers.receipt(name, set.cursor), maxWait)
      yield* servers.follow
    }),
  })
})

const reader = readerLayer({
  name,
  atomic: false,
  kinds: ["decision.answered", "decision.expired", "decision.canceled", "timer.fired", "pause.set"],
  handle: Effect.fnUntraced(function* ([event]) {
    const calls = yield* Calls
    switch (event?.kind) {
      case "decision.answered":
      case "decision.expired":
      case "decision.canceled": {
        const { call, decision } = event.body
        return call === null ? undefined : yield* calls.resume(call, decision)
      }
      case "timer.fired":
        if (event.body.purpose === waitPurpose)
          yield* calls.expire((event.body.payload as { readonly call: string }).call)
        return
      case "pause.set":
        return yield* calls.halt(event.body.subject)
      default:
        return
    }
  }),
})

/** Settles interrupted calls before anything is resumed. */
export const layerResume = Layer.unwrap(
  Effect.gen(function* () {
    const lost = yield* (yield* Calls).recover
    if (lost > 0)
      yield* Effect.logWarning(`${lost} calls were interrupted when the house stopped; they are marked failed`)
    yield* followPauses
    return reader
  }),
)
