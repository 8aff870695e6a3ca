/**
 * Which era of the protocol a server speaks, so that a reconnect needs no probe and, for a server that dies of the
 * probe, no second process. A port, because only the server's own database outlives the process.
 */
import type { PriorDiscovery } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { monotonicMillis } from "../../monotonic.ts"

export interface EraMemory {
  readonly recall: (key: string) => Effect.Effect<PriorDiscovery | undefined>
  readonly remember: (key: string, era: PriorDiscovery) => Effect.Effect<void>
  readonly forget: (key: string) => Effect.Effect<void>
}

// Limited, because a server that learns the new era still answers the old way, and would count as old forever.
const keptMs = 24 * 60 * 60 * 1000

export const eraMemory = (): EraMemory => {
  const known = new Map<string, { readonly era: PriorDiscovery; readonly until: number }>()
  return {
    recall: (key) =>
      Effect.map(monotonicMillis, (now) => {
        const entry = known.get(key)
        return entry !== undefined && entry.until > now ? entry.era : undefined
      }),
    remember: (key, era) =>
      Effect.map(monotonicMillis, (now) => {
        known.set(key, { era, until: now + keptMs })
      }),
    forget: (key) =>
      Effect.sync(() => {
        known.delete(key)
      }),
  }
}
