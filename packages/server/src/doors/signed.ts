/**
 * Senders that prove themselves by a signature instead of a token: a service, the bearer of a decision link, and the
 * service that a call went to. Each says whom the signature stands for, or nothing; `Acting` refuses, counts and
 * records.
 */
import type { Caller, DecisionId } from "@stoa/contract"
import { Clock, Effect, Option } from "effect"
import { Principals } from "../access/identity/Principals.ts"
import { Tokens } from "../access/identity/Tokens.ts"
import { makeServiceKey } from "../access/secrets/ServiceKeys.ts"
import { signedText } from "../access/secrets/SignedText.ts"
import { Calls } from "../calls/Calls.ts"
import { isSigned } from "../calls/waiting/Signatures.ts"
import { DecisionLinks } from "../decisions/DecisionLinks.ts"

/** A request that a service has signed. */
export interface ServiceRequest {
  readonly service: string
  readonly signature: string
  /** The agent that it calls, as it names it. */
  readonly agent: string
  /** Its idempotency key, or nothing. */
  readonly key: string
  readonly body: Effect.Effect<string>
}

/** The person that a link stands for, and the one decision that it is valid for. */
export interface LinkBearer {
  readonly caller: Caller["Service"]
  readonly decision: DecisionId
}

export const makeSigned = Effect.gen(function* () {
  const principals = yield* Principals
  const tokens = yield* Tokens
  const links = yield* DecisionLinks
  const calls = yield* Calls
  const keyOf = yield* makeServiceKey

  const service = Effect.fnUntraced(function* ({ agent, body, key: once, service: name, signature }: ServiceRequest) {
    const found = yield* Effect.option(principals.get(name))
    const key = Option.flatMap(found, keyOf)
    if (Option.isNone(found) || Option.isNone(key)) return undefined
    // wall clock: the service has signed a moment.
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const sent = yield* body
    if (!isSigned(key.value, signature, now, (at) => signedText.agentTrigger(at, agent, once, sent))) return undefined
    // Always in the outermost context, whatever its roles: it sent no token of another context.
    return Option.getOrUndefined(yield* Effect.option(tokens.callerNow(found.value.id, "crossroads")))
  })

  const link = Effect.fnUntraced(function* (token: string): Effect.fn.Return<LinkBearer | undefined> {
    const known = links.read(token)
    if (known === undefined) return undefined
    // Valid for one decision, in no more trusted a context than any token. For a retired person it is invalid.
    const caller = yield* Effect.option(tokens.callerNow(known.principal, "agent"))
    return Option.isNone(caller) ? undefined : { caller: caller.value, decision: known.decision }
  })

  /** The tool, and nobody to act as: whoever has its key is no principal, and can only end the call it waits for. */
  const result = calls.signedBy

  return { service, link, result }
})
