/**
 * Signatures that travel with a request (G-18): of webhooks, in both directions, and of services that call agents. What
 * is signed is one of the texts of `SignedText.ts`, at a moment. An old signature is refused; a replayed one finds its
 * call settled, or the run that it started.
 */
import { Effect, Redacted } from "effect"
import { Confidential } from "../../access/secrets/Confidential.ts"
import { Secrets } from "../../access/secrets/Secrets.ts"
import { isMacOf, macOf, type SignedText } from "../../access/secrets/SignedText.ts"

/** How far two clocks may be apart, and how long a signature is valid, in seconds. */
const tolerance = 300

export const signatureHeader = "stoa-signature"

/** What is signed, at a moment in seconds. */
export type TextAt = (seconds: number) => SignedText

export const sign = (key: Redacted.Redacted, seconds: number, textAt: TextAt): string =>
  `t=${seconds},v2=${macOf(key, textAt(seconds))}`

/**
 * Whether a header signs this, now. Pure. One moment is written in one way: a signature that could be written in two
 * would be two requests.
 */
export const isSigned = (key: Redacted.Redacted, header: string, now: number, textAt: TextAt): boolean => {
  const found = /^t=(0|[1-9][0-9]{0,11}),v2=([0-9a-f]{64})$/.exec(header)
  if (found === null) return false
  const seconds = Number(found[1])
  return Math.abs(now - seconds) <= tolerance && isMacOf(key, textAt(seconds), found[2]!)
}

/** The key that signs a webhook tool: the secret it names, or one derived by the house. */
export const makeSigningKey = Effect.gen(function* () {
  const secrets = yield* Secrets
  const confidential = yield* Confidential
  return (tool: string, named: string | undefined) =>
    Effect.tap(named === undefined ? Effect.succeed(secrets.derive(`webhook/${tool}`)) : secrets.reveal(named), (key) =>
      Effect.sync(() => confidential.add(Redacted.value(key))),
    )
})
