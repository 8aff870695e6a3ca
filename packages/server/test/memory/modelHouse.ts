/** A house with an embedding model on loopback. */
import type { Stoa } from "@stoa/sdk"
import { Context, Effect, Layer } from "effect"
import { embeddingConfig, type LoopbackEmbedder, startEmbedder } from "../../../../test/embedder.ts"
import { pause } from "../../../../test/pause.ts"
import { ask, house, roomy } from "../house.ts"

export class Model extends Context.Service<Model, LoopbackEmbedder>()("test/Model") {}

export const houseWithModel = (store: "sqlite" | "postgres", env: Record<string, string> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const model = yield* Effect.acquireRelease(
        ask(() => startEmbedder("REFUSE")),
        (one) => ask(() => one.close()),
      )
      const config = { ...roomy, models: { small: embeddingConfig(model.url) } }
      return Layer.merge(house({ store, config, env }), Layer.succeed(Model, model))
    }),
  )

/** Until somebody's records are as far: the work goes on beside the test. */
export const until = Effect.fnUntraced(function* (stoa: Stoa, state: "working" | "ready" | "failing") {
  while (true) {
    const progress = yield* ask(() => stoa.memory.embedding())
    if (progress.state === state) return progress
    yield* ask(pause)
  }
})
