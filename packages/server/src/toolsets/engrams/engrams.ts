/** Seed 002's 22 tools (its text says 21 and lists 22, S2-02): engrams and profiles, and two agents that store some. */
import { Effect } from "effect"
import { companionTools } from "./companion.ts"
import { withMemory } from "../toolsetTool.ts"
import { makeWalletHolders } from "./walletHolders.ts"
import { engramTools } from "./records.ts"
import { sessionTools } from "./sessions.ts"

export const engrams = Effect.gen(function* () {
  const holders = yield* makeWalletHolders
  const tools = withMemory([
    ...(yield* engramTools(holders)),
    ...(yield* sessionTools("hecate", holders)),
    ...(yield* companionTools("hecate", holders)),
    ...(yield* companionTools("moros", holders)),
  ])
  return tools.map((one) => ({ ...one, traits: { ...one.traits, ofWallets: true as const } }))
})
