/** What every event carries automatically: the correlation id of the first cause (G-39) and who acts. */
import { randomFillSync } from "node:crypto"
import type { CorrelationId, Event, PrincipalId, PrincipalKind, Provenance, RunId } from "@stoa/contract"
import { Context, Effect } from "effect"

// Asking the system for 16 bytes costs twenty times more than taking them from a buffer of 4,096.
const random = Buffer.alloc(4096)
let taken = random.length

/** Random hex digits, two per byte. */
const hex = (bytes: number): string => {
  if (taken + bytes > random.length) {
    randomFillSync(random)
    taken = 0
  }
  return random.toString("hex", taken, (taken += bytes))
}

export const newCorrelation = (): CorrelationId => hex(16) as CorrelationId

/** Where the words of such a principal come from. */
export const provenanceOf = (kind: PrincipalKind): Exclude<Provenance, "tool" | "house"> =>
  kind === "service" ? "outside" : kind

let lastMoment = 0
let inMoment = 0
let moment = ""
const begin = (now: number): void => {
  lastMoment = now
  inMoment = 0
  const digits = now.toString(16).padStart(12, "0")
  moment = `${digits.slice(0, 8)}-${digits.slice(8)}`
}

/**
 * A new opaque id with its prefix: a version 7 UUID, which begins with the time. Rows created one after the other are
 * then adjacent in every index, while random ids would touch one page each. Nobody may derive an order from it.
 */
export const newId = <Id extends string>(prefix: string): Id => {
  const now = Math.floor(performance.timeOrigin + performance.now())
  if (now > lastMoment) begin(now)
  else if (++inMoment > 0xfff) begin(lastMoment + 1)
  const count = inMoment.toString(16).padStart(3, "0")
  const rest = hex(8)
  const variant = "89ab"[Number.parseInt(rest[0]!, 16) & 3]!
  return `${prefix}_${moment}-7${count}-${variant}${rest.slice(1, 4)}-${rest.slice(4)}` as Id
}

export interface Cause {
  readonly correlationId: CorrelationId
  readonly actor: PrincipalId | null
  readonly provenance: Provenance
  /** The run in which the actor acts. */
  readonly run?: RunId
}

/** Set by a door for a request, by a reader for the event it handles, by a timer for the principal that set it. */
export const Correlation = Context.Reference<Cause | undefined>("server/store/Correlation", {
  defaultValue: () => undefined,
})

/** Without a cause, the house itself is the cause. */
export const causeOr = (cause: Cause | undefined): Cause =>
  cause ?? { correlationId: newCorrelation(), actor: null, provenance: "house" }
export const currentCause: Effect.Effect<Cause> = Effect.map(Correlation, causeOr)

export const causedBy = <A, E, R>(cause: Cause, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Correlation, cause)

/** What a reader does about an event has the event's cause. */
export const becauseOf = <A, E, R>(event: Event, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  causedBy({ correlationId: event.correlationId, actor: event.actor, provenance: event.provenance }, effect)
