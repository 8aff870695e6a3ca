/**
 * Texts as vectors, by the model that the configuration file declares with the purpose `embedding`, through the AI SDK.
 * Only vectors with the same `id` are compared.
 */
// edge: the AI SDK is made of promises.
import { Redactor } from "@stoa/tools"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import type { Access } from "./request/Access.ts"
import { failureOf } from "./request/askModel.ts"
import { Languages } from "./Languages.ts"
import { ModelFailure } from "./request/ModelFailure.ts"
import { embeddingModel } from "./request/providers.ts"

export interface Embedder {
  readonly id: string
  /** Its name in the configuration file. */
  readonly name: string
  /** One vector per text, in their order. No retries here. */
  readonly embed: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, ModelFailure>
}

/** The most texts per request. */
const atOnce = 96

const idOf = ({ declared }: Access): string =>
  [declared.provider, declared.model ?? "", declared.dimensions ?? ""].join(" ")

const isVector = (vector: ReadonlyArray<number>): boolean =>
  vector.length > 0 && vector.every(Number.isFinite) && vector.some((one) => one !== 0)

const embedSome = async (access: Access, texts: ReadonlyArray<string>, abortSignal: AbortSignal) => {
  const { embedMany } = await import("ai")
  const model = await embeddingModel(access)
  const { dimensions } = access.declared
  const { embeddings } = await embedMany({
    model,
    values: [...texts],
    maxRetries: 0,
    maxParallelCalls: 1,
    abortSignal,
    ...(dimensions === undefined ? {} : { dimensions }),
  })
  if (embeddings.length !== texts.length || !embeddings.every(isVector))
    throw Object.assign(new Error("it did not give one vector for each text"), { isRetryable: false })
  return embeddings
}

export class Embeddings extends Context.Service<
  Embeddings,
  {
    /** The model, if there is one; the failure is a sentence that says why it cannot be used. */
    readonly current: Effect.Effect<Option.Option<Embedder>, string>
  }
>()("server/models/Embeddings") {
  static readonly layer = Layer.effect(
    Embeddings,
    Effect.gen(function* () {
      const languages = yield* Languages
      const embedderOf = (access: Access): Embedder => {
        const redactor = new Redactor(access.key === undefined ? [] : [Redacted.value(access.key)])
        const some = (texts: ReadonlyArray<string>) =>
          Effect.tryPromise({
            try: (signal) => embedSome(access, texts, signal),
            catch: (error) => failureOf(access.name, error, redactor),
          })
        return {
          id: idOf(access),
          name: access.name,
          embed: Effect.fn("Embeddings.embed")(function* (texts) {
            const vectors: Array<ReadonlyArray<number>> = []
            for (let from = 0; from < texts.length; from += atOnce)
              vectors.push(...(yield* some(texts.slice(from, from + atOnce))))
            return vectors
          }),
        }
      }
      return Embeddings.of({ current: Effect.map(languages.embedding, Option.map(embedderOf)) })
    }),
  )
}
