/**
 * Shortens a conversation that exceeds its model's window: no result takes more than its part, the oldest results go
 * first, then what was told between steps, then whole steps; call and result stay together. Pure.
 */
import { carefulLettersPerToken } from "../../models/text/Estimate.ts"
import type { PastStep, PromptEntry } from "./conversation.ts"
import { tokensFor } from "./shares.ts"

const note = "This result was taken out because the conversation had become too long."

export const sizeOfStep = (step: PastStep): number =>
  JSON.stringify(step.parts).length + step.results.reduce((sum, one) => sum + JSON.stringify(one).length, 0)

/** A result that is too long by itself, as text of which the beginning is told. */
const cutResults = (step: PastStep, letters: number): PastStep => {
  // Many results of one step share what one of them may take.
  const each = Math.max(200, Math.floor(letters / Math.max(1, step.results.length)))
  const isLong = (value: unknown) => JSON.stringify(value ?? null).length > (step.results.length > 1 ? each : letters)
  if (!step.results.some(({ error, output }) => isLong(output) || isLong(error))) return step
  const cut = (value: unknown): string => {
    const text = typeof value === "string" ? value : JSON.stringify(value)
    return `${text.slice(0, each)} (${Math.max(0, text.length - each)} more characters are not shown)`
  }
  return {
    ...step,
    results: step.results.map((one) => ({
      ...one,
      output: isLong(one.output) ? cut(one.output) : one.output,
      error: one.error !== null && isLong(one.error) ? cut(one.error) : one.error,
    })),
  }
}

export interface Fitted {
  readonly promptRows: ReadonlyArray<PromptEntry>
  readonly steps: ReadonlyArray<PastStep>
}

/** `window`: how many tokens the model takes; `besides`: characters of what it is told otherwise, such as of its tools. */
export const fitToWindow = (
  all: ReadonlyArray<PastStep>,
  promptRows: ReadonlyArray<PromptEntry>,
  window: number,
  besides = 0,
): Fitted => {
  const most = window * carefulLettersPerToken - besides
  const letters = tokensFor("result", window) * carefulLettersPerToken
  let steps = all.map((step) => cutResults(step, letters))
  const sizes = (rows: ReadonlyArray<PromptEntry>) => rows.reduce((sum, { body }) => sum + body.length, 0)
  let size = sizes(promptRows) + steps.reduce((sum, step) => sum + sizeOfStep(step), 0)
  if (size <= most) return { promptRows, steps }
  steps = steps.map((step, at) => {
    // The latest step is kept: the model needs it now.
    if (size <= most || at === steps.length - 1 || step.results.length === 0) return step
    const short = {
      ...step,
      results: step.results.map((one) => (one.outcome === "done" ? { ...one, output: note } : one)),
    }
    size += sizeOfStep(short) - sizeOfStep(step)
    return short
  })
  // Whole steps, with what was told after them, from the oldest.
  let first = 0
  while (size > most && first < steps.length - 1) {
    const { number } = steps[first]!
    size -= sizeOfStep(steps[first]!) + sizes(promptRows.filter(({ step }) => step === number))
    first++
  }
  if (first === 0) return { promptRows, steps }
  const gone = new Set(steps.slice(0, first).map(({ number }) => number))
  const left = {
    kind: "user",
    body: `Your first ${first} steps are not shown: they had become too long.`,
    step: 0,
  } as const
  const told = promptRows.filter(({ step }) => !gone.has(step))
  return {
    promptRows: [...told.filter(({ step }) => step === 0), left, ...told.filter(({ step }) => step > 0)],
    steps: steps.slice(first),
  }
}

interface Listed {
  readonly name: string
}

/** The tools that a model is told of: as many as there is room for, in their order, and how many there are besides. */
export const fitTools = <A extends Listed>(
  tools: ReadonlyArray<A>,
  window: number,
): { readonly tools: ReadonlyArray<A>; readonly left: number } => {
  let room = tokensFor("tools", window) * carefulLettersPerToken
  const shown = tools.filter((tool) => {
    const size = JSON.stringify(tool).length
    if (size > room) return false
    room -= size
    return true
  })
  return { tools: shown, left: tools.length - shown.length }
}
