/**
 * Shortens a conversation that exceeds its model's window: the oldest results go first, and call and result stay
 * together. Pure.
 */
import { carefulLettersPerToken } from "../../models/text/Estimate.ts"
import type { PastStep } from "./conversation.ts"

const note = "This result was taken out because the conversation had become too long."

export const sizeOfStep = (step: PastStep): number =>
  JSON.stringify(step.parts).length + step.results.reduce((sum, one) => sum + JSON.stringify(one).length, 0)

/** `window`: how many tokens the model takes; `told`: characters of the prompt, which always stays. */
export const fitToWindow = (
  steps: ReadonlyArray<PastStep>,
  promptLength: number,
  window: number,
): ReadonlyArray<PastStep> => {
  const most = window * carefulLettersPerToken - promptLength
  let size = steps.reduce((sum, step) => sum + sizeOfStep(step), 0)
  if (size <= most) return steps
  return steps.map((step, at) => {
    // The latest step is kept: the model needs it now.
    if (size <= most || at === steps.length - 1 || step.results.length === 0) return step
    const short = {
      ...step,
      results: step.results.map((one) => (one.outcome === "done" ? { ...one, output: note } : one)),
    }
    size += sizeOfStep(short) - sizeOfStep(step)
    return short
  })
}
