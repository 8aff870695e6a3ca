/** Offers the toolsets to the catalogue. Which of them a caller has is said by its principal, lists and grants. */
import { toolNames, type ToolsetName } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { Catalogue } from "../calls/Catalogue.ts"
import type { Offered } from "./face.ts"
import { gateway } from "./gateway.ts"
import { office } from "./office.ts"
import { skills } from "./skills.ts"
import { stoa } from "./stoa.ts"

/** Some clients take no more tools over all their servers: a toolset that is larger would lose some in silence. */
const most = 40

export const layerToolsets = Layer.effectDiscard(
  Effect.gen(function* () {
    const catalogue = yield* Catalogue
    const sets: ReadonlyArray<readonly [ToolsetName, ReadonlyArray<Offered>]> = [
      ["stoa", yield* stoa],
      ["office", yield* office],
      ["gateway", yield* gateway],
      ["skills", yield* skills],
    ]
    for (const [set, tools] of sets) {
      if (tools.length > most || toolNames[set].length > most)
        return yield* Effect.die(new Error(`toolset ${set} has more than ${most} tools; split it`))
      const unlisted = tools.find(({ tool }) => !toolNames[set].includes(tool.definition.name))
      if (unlisted !== undefined)
        return yield* Effect.die(new Error(`${unlisted.tool.definition.name} is not among the names of ${set}`))
      for (const { tool, traits } of tools) yield* Effect.orDie(catalogue.offer(set, tool, traits))
    }
  }),
)
