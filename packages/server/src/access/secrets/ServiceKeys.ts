/**
 * The keys with which services sign what they send, instead of using a token. Derived from the house's key and not
 * stored.
 */
import { type Principal, WrongState } from "@stoa/contract"
import { Effect, Option, Redacted } from "effect"
import { Principals } from "../identity/Principals.ts"
import { Authority } from "../rights/delegation/Authority.ts"
import { findIfPermitted } from "../rights/FindIfPermitted.ts"
import { Grants } from "../rights/Grants.ts"
import { Confidential } from "./Confidential.ts"
import { Secrets } from "./Secrets.ts"

/**
 * The key for somebody to hand to the service: it lets its holder act as the service, so it needs the same right as
 * creating the service's token.
 */
export const makeHandedServiceKey = Effect.gen(function* () {
  const grants = yield* Grants
  const principals = yield* Principals
  const authority = yield* Authority
  const keyOf = yield* makeServiceKey
  return Effect.fnUntraced(function* (ref: string) {
    const principal = yield* findIfPermitted(grants, principals.get(ref), { ref, action: "read", of: "principals" })
    yield* authority.token({ principal: principal.id }, principal)
    const key = keyOf(principal)
    if (Option.isSome(key)) return key.value
    return yield* new WrongState({
      detail: `Only active services have a signing key; ${principal.name} is ${principal.retiredAt === null ? `of kind ${principal.kind}` : "retired"}.`,
    })
  })
})

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
