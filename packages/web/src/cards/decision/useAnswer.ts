/** Sends an answer, waits for the house, and reports if somebody else was first. */
import { StoaError } from "@stoa/sdk"
import type { NewAnswer } from "@stoa/contract"
import { useState } from "react"
import type { Issue } from "../../parts/form/schemaForm.logic.ts"

export interface AnswerState {
  readonly busy: boolean
  readonly error: unknown
  /** The house's errors, at their fields. */
  readonly issues: ReadonlyArray<Issue>
  readonly wasLate: boolean
  readonly send: (answer: NewAnswer) => void
}

export type SendAnswer = (answer: NewAnswer) => Promise<unknown>

export const useAnswer = (send: SendAnswer, onAnswered: () => void): AnswerState => {
  const [busy, work] = useState(false)
  const [error, fail] = useState<unknown>()
  const [wasLate, late] = useState(false)
  const give = async (answer: NewAnswer) => {
    work(true)
    fail(undefined)
    try {
      await send(answer)
      onAnswered()
    } catch (cause) {
      if (cause instanceof StoaError && cause.status === 409) late(true)
      else fail(cause)
    } finally {
      work(false)
    }
  }
  const issues =
    error instanceof StoaError
      ? error.issues.map(({ message, path }) => ({ message, path: path.replace(/^(?:input|value)\.?/, "") }))
      : []
  return { busy, error, issues, wasLate, send: (answer) => void (busy ? undefined : give(answer)) }
}
