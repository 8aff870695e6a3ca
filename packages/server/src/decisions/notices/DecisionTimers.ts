/**
 * Escalation and expiry: an unanswered question goes to other people, if the tool or policy says so, and finally
 * expires as a no.
 */
import { Effect } from "effect"
import { becauseOf } from "../../store/journal/Correlation.ts"
import { readerLayer } from "../../store/journal/readers/Readers.ts"
import { Decisions, escalationPurpose, expiryPurpose } from "../Decisions.ts"

export const layerDecisionTimers = readerLayer({
  name: "decisions",
  atomic: true,
  kinds: ["timer.fired"],
  handle: Effect.fnUntraced(function* (events) {
    const decisions = yield* Decisions
    for (const event of events) {
      if (event.kind !== "timer.fired") continue
      const { payload, purpose } = event.body
      const id = () => (payload as { readonly decision: string }).decision
      if (purpose === expiryPurpose) yield* becauseOf(event, decisions.expire(id()))
      if (purpose === escalationPurpose) yield* becauseOf(event, decisions.escalate(id()))
    }
  }),
})
