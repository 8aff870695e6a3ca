/** Wakes calls that wait: a reader of the journal, so that no answer is lost between two processes or a kill -9. */
import { Effect, Layer } from "effect"
import { readerLayer } from "../store/Readers.ts"
import { waitPurpose } from "./asking.ts"
import { Calls } from "./Calls.ts"

const reader = readerLayer({
  name: "calls",
  atomic: false,
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

/** What was cut off is settled before anything is resumed. */
export const layerResume = Layer.unwrap(
  Effect.gen(function* () {
    const lost = yield* (yield* Calls).recover
    if (lost > 0) yield* Effect.logWarning(`${lost} calls were cut off when the house stopped; they are marked failed`)
    return reader
  }),
)
