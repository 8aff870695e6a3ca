/**
 * The meaning of a question, as a vector of the embedding model. If the model does not answer soon, the search uses
 * words alone, and says so.
 */
import { Context, Duration, Effect, Layer, Option } from "effect"
import { Embeddings } from "../../models/Embeddings.ts"
import { monotonicMillis } from "../../store/Moment.ts"
import type { QuestionVector } from "../../store/search/vectors/Vectors.ts"

/** How long a question waits for the model. */
const maxWait = Duration.seconds(2)
/** After a failure the model is not used for this long, so that not every search waits for it. */
const rest = Duration.seconds(10)
/** The most cached questions: the next page of an answer repeats the question. */
const maxKept = 200

export class Meanings extends Context.Service<
  Meanings,
  {
    /** Undefined: there is no model for it. */
    readonly of: (question: string) => Effect.Effect<QuestionVector | { readonly problem: string } | undefined>
  }
>()("server/memory/meaning/Meanings") {
  static readonly layer = Layer.effect(
    Meanings,
    Effect.gen(function* () {
      const embeddings = yield* Embeddings
      const kept = new Map<string, QuestionVector>()
      let failed: { readonly model: string; readonly problem: string; readonly until: number } | undefined

      const keep = (key: string, meaning: QuestionVector): void => {
        kept.delete(key)
        kept.set(key, meaning)
        if (kept.size > maxKept) kept.delete(kept.keys().next().value!)
      }

      const ask = Effect.fnUntraced(function* (question: string) {
        const embedder = Option.getOrUndefined(yield* embeddings.current)
        if (embedder === undefined) return undefined
        const { id: model } = embedder
        const key = `${model} ${question}`
        const known = kept.get(key)
        if (known !== undefined) return known
        const now = yield* monotonicMillis
        if (failed?.model === model && now < failed.until) return { problem: failed.problem }
        const asked = embedder.embed([question]).pipe(
          // A refusal is this question's fault: other questions still use the model.
          Effect.mapError(({ message, status = 500 }) => ({ message, isTheirs: [400, 413, 422].includes(status) })),
          Effect.timeoutOrElse({
            duration: maxWait,
            orElse: () => {
              const message = `The model ${embedder.name} gave no answer within ${Duration.format(maxWait)}.`
              return Effect.fail({ message, isTheirs: false })
            },
          }),
        )
        const answer = yield* Effect.result(asked)
        if (answer._tag === "Failure") {
          const problem = `${answer.failure.message} Only words were searched.`
          if (!answer.failure.isTheirs)
            failed = { model, problem, until: (yield* monotonicMillis) + Duration.toMillis(rest) }
          return { problem }
        }
        const meaning = { model, vector: answer.success[0]! }
        keep(key, meaning)
        return meaning
      })

      const of: Meanings["Service"]["of"] = Effect.fn("Meanings.of")(function* (question) {
        return yield* Effect.catch(ask(question.slice(0, 2000)), (problem) =>
          Effect.succeed({ problem: `${problem} Only words were searched.` }),
        )
      })

      return Meanings.of({ of })
    }),
  )
}
