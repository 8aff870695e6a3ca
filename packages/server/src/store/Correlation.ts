/** What every event carries without being told: the correlation id of the first cause (G-39) and who acts. */
import { randomFillSync, randomUUID } from "node:crypto"
import type { CorrelationId, Event, PrincipalId, Provenance } from "@stoa/contract"
import { Context, Effect } from "effect"

// Asking the system for 16 bytes costs twenty times more than taking them from a page of 4,096.
const random = Buffer.alloc(4096)
let taken = random.length

export const newCorrelation = (): CorrelationId => {
  if (taken === random.length) {
    randomFillSync(random)
    taken = 0
  }
  return random.toString("hex", taken, (taken += 16)) as CorrelationId
}

/** A new opaque id with its prefix. */
export const newId = <Id extends string>(prefix: string): Id => `${prefix}_${randomUUID()}` as Id

interface Cause {
  readonly correlationId: CorrelationId
  readonly actor: PrincipalId | null
  readonly provenance: Provenance
}

/** Set by a door for a request, by a reader for the event it answers, by a timer for whoever set it. */
export const Correlation = Context.Reference<Cause | undefined>("server/store/Correlation", {
  defaultValue: () => undefined,
})

/** What happens without anybody asking is the house's own doing. */
export const currentCause: Effect.Effect<Cause> = Effect.map(
  Correlation,
  (cause) => cause ?? { correlationId: newCorrelation(), actor: null, provenance: "house" },
)

export const causedBy = <A, E, R>(cause: Cause, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Correlation, cause)

/** What a reader does about an event belongs to whoever caused the event. */
export const becauseOf = <A, E, R>(event: Event, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  causedBy({ correlationId: event.correlationId, actor: event.actor, provenance: event.provenance }, effect)
