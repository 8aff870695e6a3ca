import { Data } from "effect"

/** Why a model did not answer, in words without anything the house keeps secret. */
export class ModelFailure extends Data.TaggedError("ModelFailure")<{
  readonly message: string
  /** Asked again it may answer. */
  readonly again: boolean
  /** Not before that, where it has said so. */
  readonly afterMs: number | undefined
  /** What it answered over HTTP, where it did. */
  readonly status?: number | undefined
  /** It came to its end and had said nothing, since its provider held that back. */
  readonly unanswered?: boolean
}> {}
