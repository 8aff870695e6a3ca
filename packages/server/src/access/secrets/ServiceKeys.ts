/**
 * The keys with which services sign what they send, instead of using a token. Derived from the house's key and not
 * stored.
 */
import type { Principal } from "@stoa/contract"
import { Effect, Option, Redacted } from "effect"
import { Confidential } from "./Confidential.ts"
import { Secrets } from "./Secrets.ts"

/** None for principals that are not services, or are retired. */
export const makeServiceKey = Effect.gen(function* () {
  const secrets = yield* Secrets
  const confidential = yield* Confidential
  return ({ id, kind, retiredAt }: Principal): Option.Option<Redacted.Redacted> => {
    if (kind !== "service" || retiredAt !== null) return Option.none()
    const key = secrets.derive(`service/${id}`)
    confidential.add(Redacted.value(key))
    return Option.some(key)
  }
})
