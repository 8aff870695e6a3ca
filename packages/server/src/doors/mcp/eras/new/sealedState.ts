/**
 * The state that an `input_required` result gives to a client, and gets back: sealed, bound to the principal, the
 * endpoint and the request it was given for, and valid for an hour. A client cannot read, change or lend it. It is taken
 * once: whoever opens it takes its id (`access/secrets/UsedStates.ts`).
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"
import { Redacted } from "effect"
import { signedText } from "../../../../access/secrets/SignedText.ts"

const life = 3_600_000

/** What a state is valid for. */
export interface Binding {
  readonly principal: string
  readonly endpoint: string
  readonly method: string
  readonly params: unknown
}

export interface OpenedState {
  /** Of this one state. */
  readonly id: string
  readonly state: unknown
  /** When it stops being valid, in milliseconds. */
  readonly until: number
}

const bound = (binding: Binding): Buffer =>
  createHash("sha256")
    .update(signedText.clientState(binding.principal, binding.endpoint, binding.method, binding.params))
    .digest()

export class StateSeal {
  readonly #key: Buffer

  constructor(secret: Redacted.Redacted) {
    this.#key = Buffer.from(hkdfSync("sha256", Redacted.value(secret), "", "stoa mcp request state", 32))
  }

  seal(state: unknown, binding: Binding, now: number): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(bound(binding))
    const plain = JSON.stringify({ until: now + life, state })
    const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")
  }

  /** The state, or undefined if it is not ours, not for this request, or too old. */
  open(text: string, binding: Binding, now: number): OpenedState | undefined {
    const bytes = Buffer.from(text, "base64url")
    // Complete and canonical: nothing appended, and no other encoding of the same bytes.
    if (bytes.length < 29 || bytes.toString("base64url") !== text) return undefined
    let plain: string
    try {
      const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, 12)).setAAD(bound(binding))
      decipher.setAuthTag(bytes.subarray(12, 28))
      plain = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8")
    } catch {
      return undefined
    }
    const { state, until } = JSON.parse(plain) as { readonly until: number; readonly state: unknown }
    return until <= now ? undefined : { id: bytes.toString("base64url", 0, 12), state, until }
  }
}
