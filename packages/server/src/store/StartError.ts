/** Why the house does not start: one sentence that says what to do. Exit code 2 means "refused". */
import { Data } from "effect"

export class StartError extends Data.TaggedError("StartError")<{
  readonly message: string
  readonly exitCode: 1 | 2
  readonly cause?: unknown
}> {}

export const refuse = (message: string, cause?: unknown): StartError => new StartError({ message, exitCode: 2, cause })
