/**
 * What a run does next, from its rows: the same for a new, a resumed and an interrupted run. Pure. The next step starts
 * only when every call of the last one has settled, so that no model sees a call without a result.
 */
import type { CallState, StopReason } from "@stoa/contract"
import { isSettled } from "../../calls/Calls.ts"
import type { CallPart } from "../../models/request/ModelOutput.ts"

interface MadeCall {
  readonly id: string
  readonly state: CallState
  readonly onKind: string | null
  readonly errorTag: string | undefined
}

export interface TakenStep {
  readonly number: number
  readonly asked: ReadonlyArray<CallPart>
  /** By place, starting with 1; a place without a call was not made yet. */
  readonly calls: ReadonlyMap<number, MadeCall>
  /** A program's turn that was interrupted. */
  readonly cut?: boolean
}

/** What belongs to the run and not to a step: open waits, and outcomes it was not told yet. */
export interface PendingOfRun {
  readonly waits: number
  readonly news: number
}
const nothing: PendingOfRun = { waits: 0, news: 0 }

export type Next =
  | { readonly do: "think"; readonly step: number }
  | { readonly do: "make"; readonly step: number; readonly places: ReadonlyArray<number> }
  | { readonly do: "park"; readonly on: "parkTool" | "parkReply" }
  | { readonly do: "end"; readonly stop: StopReason; readonly failure: string | null }

/** How many steps in a row may be unusable. */
const maxInvalid = 3
const invalidTags = ["ToolNotFoundError", "ToolValidationError"]

const isInvalid = ({ asked, calls }: TakenStep): boolean =>
  asked.length > 0 &&
  [...calls.values()].every(
    ({ errorTag, state }) => state === "refused" && errorTag !== undefined && invalidTags.includes(errorTag),
  )

/** How a run ends whose last step asked for no calls. */
export const quietEnd = (steps: ReadonlyArray<Pick<TakenStep, "asked">>): StopReason =>
  steps.some(({ asked }) => asked.length > 0) ? "end_turn" : "no_tool_call"

export const proceed = (steps: ReadonlyArray<TakenStep>, pending: PendingOfRun = nothing): Next => {
  const last = steps.at(-1)
  if (last === undefined) return { do: "think", step: 1 }
  // It continues with a turn that says so.
  if (last.cut === true) return { do: "think", step: last.number + 1 }
  const places = last.asked.map((_, at) => at + 1).filter((place) => !last.calls.has(place))
  if (places.length > 0) return { do: "make", step: last.number, places }
  const waits = [...last.calls.values()].filter(({ state }) => !isSettled(state))
  if (waits.length > 0)
    return { do: "park", on: waits.every(({ onKind }) => onKind === "reply") ? "parkReply" : "parkTool" }
  if (last.asked.length === 0 && pending.news > 0) return { do: "think", step: last.number + 1 }
  if (last.asked.length === 0 && pending.waits > 0) return { do: "park", on: "parkReply" }
  if (last.asked.length === 0) return { do: "end", stop: quietEnd(steps), failure: null }
  const newest = steps.slice(-maxInvalid)
  if (newest.length === maxInvalid && newest.every(isInvalid))
    return {
      do: "end",
      stop: "invalid_tool_call",
      failure: `${maxInvalid} steps in a row asked for tools that are not there, or with input that does not fit.`,
    }
  return { do: "think", step: last.number + 1 }
}
