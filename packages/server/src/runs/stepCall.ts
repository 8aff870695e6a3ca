/** A call as a step of its run shows it. Pure. */
import type { DecisionId } from "@stoa/contract"
import { DateTime } from "effect"
import type { CallRow } from "../calls/Calls.ts"

/** A question about a call, and when it was answered. */
export interface CallQuestion {
  readonly id: DecisionId
  readonly call: string
  readonly createdAt: string
  readonly answeredAt: string | null
  readonly state: string
}

/** The outcome of a call: when it began and ended, and whom it waited for. */
export const stepCallOf = (call: CallRow, asked: ReadonlyArray<CallQuestion>) => {
  const end = call.settledAt === null ? undefined : DateTime.makeUnsafe(call.settledAt)
  const decisions = asked
    .filter((one) => one.call === call.id)
    .map(({ answeredAt, createdAt, id, state }) => {
      // A question that expired or was withdrawn has no answer: it ended with its call.
      const ended = answeredAt === null ? (state === "open" ? undefined : end) : DateTime.makeUnsafe(answeredAt)
      return { id, askedAt: DateTime.makeUnsafe(createdAt), ...(ended === undefined ? {} : { endedAt: ended }) }
    })
  return {
    call: call.id,
    state: call.state,
    beganAt: DateTime.makeUnsafe(call.createdAt),
    ...(call.rule === null ? {} : { rule: call.rule }),
    ...(end === undefined ? {} : { endedAt: end }),
    ...(call.onKind === null || call.onId === null ? {} : { on: { kind: call.onKind, id: call.onId } }),
    ...(decisions.length === 0 ? {} : { decisions }),
  }
}
