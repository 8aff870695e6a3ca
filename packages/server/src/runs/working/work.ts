/** A run with all its rows, as whoever works on it has them. */
import type { CallState } from "@stoa/contract"
import { callFrom, type CallRow } from "../../calls/Calls.ts"
import type { Part } from "../../models/request/ModelOutput.ts"
import type { Result } from "../prompt/conversation.ts"
import { sourceOfCall } from "../prompt/sources.ts"
import { partsOf, type PromptRow, type RunRow, type StepRow, type TriggerRow } from "../record/rows.ts"
import type { TakenStep } from "./proceed.ts"

export interface Step extends TakenStep {
  readonly state: StepRow["state"]
  readonly model: string | null
  readonly parts: ReadonlyArray<Part>
  readonly results: ReadonlyArray<Result>
}

export interface Work {
  readonly row: RunRow
  readonly triggers: ReadonlyArray<TriggerRow>
  readonly promptRows: ReadonlyArray<PromptRow>
  readonly steps: ReadonlyArray<Step>
  readonly calls: ReadonlyArray<CallRow>
}

/** How a model is told that a call ended. */
const outcomeOf = (state: CallState): Result["outcome"] =>
  state === "done" ? "done" : state === "refused" ? "refused" : "failed"

const resultOf = (row: CallRow): Result => {
  const { error, output } = callFrom(row)
  return {
    place: row.place!,
    outcome: outcomeOf(row.state),
    output,
    error: error?.message ?? null,
    from: sourceOfCall(row),
  }
}

const errorTag = ({ error }: CallRow): string | undefined =>
  error === null ? undefined : (JSON.parse(error) as { readonly tag?: string }).tag

/** The calls of a step, and their results. */
export const callsIn = (calls: ReadonlyArray<CallRow>): Pick<Step, "calls" | "results"> => ({
  calls: new Map(
    calls.map((call) => [
      call.place!,
      { id: call.id, state: call.state, onKind: call.onKind, errorTag: errorTag(call) },
    ]),
  ),
  results: calls.map(resultOf),
})

export const stepOf = (row: StepRow, calls: ReadonlyArray<CallRow>): Step => {
  const parts = partsOf(row)
  return {
    number: row.number,
    state: row.state,
    cut: row.state === "cut",
    model: row.model,
    parts,
    asked: parts.filter((part) => part.type === "call"),
    ...callsIn(calls),
  }
}
