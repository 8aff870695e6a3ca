/** Sends an answer, waits for the house, and reports if somebody else was first. */
import { StoaError } from "@stoa/sdk"
import type { NewAnswer } from "@stoa/contract"
import { useEffect, useState } from "react"
import { later } from "../../feed/clock.ts"
import type { Fault } from "../../parts/form/form.logic.ts"

export interface Answering {
  readonly busy: boolean
  readonly error: unknown
  /** The house's errors, at their fields. */
  readonly faults: ReadonlyArray<Fault>
  readonly wasLate: boolean
  readonly send: (answer: NewAnswer) => void
}

export type SendAnswer = (answer: NewAnswer) => Promise<unknown>

export const useAnswer = (send: SendAnswer, onAnswered: () => void): Answering => {
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
  const faults =
    error instanceof StoaError
      ? error.issues.map(({ message, path }) => ({ message, path: path.replace(/^(?:input|value)\.?/, "") }))
      : []
  return { busy, error, faults, wasLate, send: (answer) => void (busy ? undefined : give(answer)) }
}

/** Against slips: a card that has just appeared or changed ignores presses for a moment. */
export const useArmed = (of: string): boolean => {
  const [armed, arm] = useState("")
  useEffect(() => later(500, () => arm(of)), [of])
  return armed === of
}
