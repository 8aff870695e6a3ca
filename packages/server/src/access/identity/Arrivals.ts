/**
 * Reports once that a client program has arrived: when it introduces itself, or at the first request of one that sends
 * its name with each.
 */
import type { Caller } from "@stoa/contract"
import { Clock, Context, Effect, Layer } from "effect"
import { skipIfDiskFull } from "../../store/database/disk/FullDisk.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { monotonicOf } from "../../store/Moment.ts"

/** What a client says about itself. */
export interface Arrival {
  readonly client: string
  readonly version: string
  readonly protocol: string
  /** How many tools it sees. */
  readonly tools: number
  /** Whether it introduces itself now, or only repeats its name. */
  readonly introduces: boolean
}

/** A client that arrives again and again must not fill the journal. */
const againMs = 5000
const sameMs = 600_000
const maxKept = 10_000
const minuteMs = 60_000
const maxAMinute = 12
const longest = 200

const short = (text: string): string => text.slice(0, longest).replace(/\p{C}/gu, " ").toWellFormed()

export class Arrivals extends Context.Service<
  Arrivals,
  { readonly arrived: (caller: Caller["Service"], arrival: Arrival) => Effect.Effect<void> }
>()("server/access/identity/Arrivals") {
  static readonly layer = Layer.effect(
    Arrivals,
    Effect.gen(function* () {
      const journal = yield* Journal
      const clock = yield* Clock.Clock
      const known = new Map<string, number>()
      const recent = new Map<string, { readonly since: number; readonly count: number }>()
      /** What each caller said last. Most repeat the same with every request, and then there is nothing to report. */
      const last = new WeakMap<Caller["Service"], Arrival & { readonly at: number }>()
      const isSame = (caller: Caller["Service"], { client, introduces, protocol, version }: Arrival): boolean => {
        const before = last.get(caller)
        return (
          !introduces &&
          before?.client === client &&
          before.version === version &&
          before.protocol === protocol &&
          monotonicOf(clock) - before.at < sameMs
        )
      }
      const arrive = (caller: Caller["Service"], { introduces, ...said }: Arrival): Effect.Effect<void> =>
        Effect.suspend(() => {
          const { principal, token } = caller
          const [client, version, protocol] = [short(said.client), short(said.version), short(said.protocol)]
          const who = token ?? principal.id
          const key = [who, client, version, protocol].join("\n")
          const now = monotonicOf(clock)
          const since = now - (known.get(key) ?? -Infinity)
          if (since < (introduces ? againMs : sameMs)) return Effect.void
          // A client that keeps changing its name is reported as seldom as one that keeps it.
          const names = recent.get(who)
          const fresh = names === undefined || now - names.since >= minuteMs ? { since: now, count: 0 } : names
          if (fresh.count >= maxAMinute) return Effect.void
          if (known.size >= maxKept) {
            known.clear()
            recent.clear()
          }
          recent.set(who, { ...fresh, count: fresh.count + 1 })
          known.set(key, now)
          last.set(caller, { ...said, introduces, at: now })
          const body = { ...said, client, version, protocol, principal: principal.id }
          const event = journal.append({ kind: "client.connected", actor: principal.id, body })
          return skipIfDiskFull(`that ${principal.name} has come in`, journal.transact(event))
        })
      return Arrivals.of({
        arrived: (caller, arrival) => (isSame(caller, arrival) ? Effect.void : arrive(caller, arrival)),
      })
    }),
  )
}
