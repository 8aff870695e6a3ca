/**
 * Continues waiting calls: a reader of the journal, so that no answer is lost between two processes or by a kill -9.
 */
import { Effect, Layer } from "effect"
import { Pauses } from "../../access/limits/Pauses.ts"
import { readerLayer } from "../../store/journal/readers/Readers.ts"
import { Upstreams } from "../../upstreams/Upstreams.ts"
import { waitPurpose } from "../road/ask.ts"
import { Calls } from "../Calls.ts"

/** A paused server is disconnected, and its program ended (G-12). Uses the present state, not the event's. */
export const followPause = Effect.fnUntraced(function* (subject: string) {
  if (!subject.startsWith("servers/")) return
  const upstreams = yield* Upstreams
  const isPaused = (yield* (yield* Pauses).now).has(subject.toLowerCase())
  yield* upstreams[isPaused ? "stop" : "start"](subject.slice("servers/".length))
})

const reader = readerLayer({
  name: "calls",
  atomic: false,
  kinds: ["decision.answered", "decision.expired", "decision.canceled", "timer.fired", "pause.set", "pause.lifted"],
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
        yield* calls.halt(event.body.subject)
        return yield* followPause(event.body.subject)
      case "pause.lifted":
        return yield* followPause(event.body.subject)
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
    for (const { subject } of (yield* (yield* Pauses).list).items) yield* followPause(subject)
    return reader
  }),
)
