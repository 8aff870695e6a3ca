/** Offers the toolsets to the catalogue. Which of them a caller has is said by its principal, lists and grants. */
import type { ToolsetName } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { Catalogue } from "../calls/Catalogue.ts"
import type { Offered } from "./face.ts"
import { gateway } from "./gateway.ts"
import { office } from "./office.ts"
import { skills } from "./skills.ts"
import { stoa } from "./stoa.ts"

export const layerToolsets = Layer.effectDiscard(
  Effect.gen(function* () {
    const catalogue = yield* Catalogue
    const sets: ReadonlyArray<readonly [ToolsetName, ReadonlyArray<Offered>]> = [
      ["stoa", yield* stoa],
      ["office", yield* office],
      ["gateway", yield* gateway],
      ["skills", yield* skills],
    ]
    for (const [set, tools] of sets)
      for (const { tool, traits } of tools) yield* Effect.orDie(catalogue.offer(set, tool, traits))
  }),
)
