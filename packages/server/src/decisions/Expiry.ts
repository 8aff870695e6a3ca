/** An unanswered decision is a no, and its timer says when. */
import { Effect } from "effect"
import { becauseOf } from "../store/journal/Correlation.ts"
import { readerLayer } from "../store/journal/Readers.ts"
import { decisionPurpose, Decisions } from "./Decisions.ts"

export const layerExpiry = readerLayer({
  name: "decisions",
  atomic: true,
  kinds: ["timer.fired"],
  handle: Effect.fnUntraced(function* (events) {
    const decisions = yield* Decisions
    for (const event of events)
      if (event.kind === "timer.fired" && event.body.purpose === decisionPurpose)
        yield* becauseOf(event, decisions.expire((event.body.payload as { readonly decision: string }).decision))
  }),
})
