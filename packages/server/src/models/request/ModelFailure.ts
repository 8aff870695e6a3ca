import { Data } from "effect"

/** Why a model did not answer, without the house's secrets. */
export class ModelFailure extends Data.TaggedError("ModelFailure")<{
  readonly message: string
  /** Whether a retry may succeed. */
  readonly again: boolean
  /** The provider's wait before a retry, if it gave one. */
  readonly afterMs: number | undefined
  /** The HTTP status, if there was one. */
  readonly status?: number | undefined
  /** It finished without any output, because the provider filtered it or the limit was reached. */
  readonly unanswered?: boolean
}> {}
