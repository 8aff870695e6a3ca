/** What the caller of a waiting call should know. Said here, so that every door says it. */
import { nobodyMayAnswer } from "@stoa/contract"
import { Effect } from "effect"
import { Decisions } from "../../decisions/Decisions.ts"
import type { CallRow } from "../road/record/rows.ts"

export const noteOf = (isAnswerable: boolean): string | null => (isAnswerable ? null : nobodyMayAnswer)

export const makeNotes = Effect.map(Decisions, (decisions) => {
  /** Reads the decision only if the call waits for one, and was not just written with it. */
  const noted = (row: CallRow): Effect.Effect<CallRow> =>
    row.note === undefined && row.state === "waiting" && row.onKind === "decision" && row.onId !== null
      ? Effect.map(decisions.isAnswerable(row.onId), (isAnswerable) => ({ ...row, note: noteOf(isAnswerable) }))
      : Effect.succeed(row)
  return noted
})
