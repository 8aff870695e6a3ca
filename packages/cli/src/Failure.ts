/** Why a command failed: one sentence and an exit code. */
import { StoaError } from "@stoa/sdk"
import { Data } from "effect"

export class Failure extends Data.TaggedError("Failure")<{
  readonly message: string
  /** 1 failed, 2 refused or bad usage, 3 waiting. */
  readonly exitCode: 1 | 2 | 3
  readonly cause?: unknown
}> {}

export const refusal = (message: string): Failure => new Failure({ message, exitCode: 2 })

/** The same failure in other words. (A spread would lose its cause.) */
export const withMessage = ({ cause, exitCode }: Failure, message: string): Failure =>
  new Failure({ message, exitCode, cause })

/** A refusal by the house exits with 2, anything broken with 1. */
export const failureOf = (cause: unknown): Failure => {
  if (cause instanceof Failure) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  return new Failure({ message, exitCode: exitCodeOf(cause), cause })
}

const exitCodeOf = (cause: unknown): 1 | 2 => {
  if (cause instanceof StoaError) return cause.status < 500 ? 2 : 1
  const started = cause as { readonly _tag?: string; readonly exitCode?: 1 | 2 }
  return started._tag === "StartError" ? (started.exitCode ?? 1) : 1
}
