/** Why the house does not start: one sentence that says what to do. Exit code 2 means "refused". */
import { Data } from "effect"

export class StartError extends Data.TaggedError("StartError")<{
  readonly message: string
  readonly exitCode: 1 | 2
  /** Another process has the data folder: it may be about to give it up. */
  readonly taken?: true
  readonly cause?: unknown
}> {}

export const refuse = (message: string, cause?: unknown): StartError => new StartError({ message, exitCode: 2, cause })
