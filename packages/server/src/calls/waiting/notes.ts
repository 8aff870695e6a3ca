/** What the caller of a waiting call should know. Said here, so that every door says it. */
import { nobodyMayAnswer } from "@stoa/contract"
import { Effect } from "effect"
import { Decisions } from "../../decisions/Decisions.ts"
import type { CallRow } from "../road/record/rows.ts"

export const makeNotes = Effect.map(Decisions, (decisions) => {
  /** Reads the decision only if the call waits for one. */
  const noted = (row: CallRow): Effect.Effect<CallRow> =>
    row.state === "waiting" && row.onKind === "decision" && row.onId !== null
      ? Effect.map(decisions.isUnanswerable(row.onId), (isAlone) => (isAlone ? { ...row, note: nobodyMayAnswer } : row))
      : Effect.succeed(row)
  return noted
})
