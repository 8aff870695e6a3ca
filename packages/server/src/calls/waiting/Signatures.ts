/**
 * Webhooks are signed in both directions (G-18): time, call and body, with a key that only the house and the service
 * know. An old signature is refused; a replayed one finds its call settled.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { Effect, Redacted } from "effect"
import { Confidential } from "../../access/secrets/Confidential.ts"
import { Secrets } from "../../access/secrets/Secrets.ts"

/** How far two clocks may be apart, and how long a signature is valid, in seconds. */
const tolerance = 300

export const signatureHeader = "stoa-signature"

const macOf = (key: Redacted.Redacted, seconds: number, call: string, body: string): string =>
  createHmac("sha256", Redacted.value(key)).update(`${seconds}.${call}.${body}`).digest("hex")

export const sign = (key: Redacted.Redacted, seconds: number, call: string, body: string): string =>
  `t=${seconds},v1=${macOf(key, seconds, call, body)}`

/** Whether a header signs this body for this call, now. Pure. */
export const isSigned = (key: Redacted.Redacted, header: string, now: number, call: string, body: string): boolean => {
  const found = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header)
  if (found === null) return false
  const seconds = Number(found[1])
  if (Math.abs(now - seconds) > tolerance) return false
  return timingSafeEqual(Buffer.from(found[2]!, "hex"), Buffer.from(macOf(key, seconds, call, body), "hex"))
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
