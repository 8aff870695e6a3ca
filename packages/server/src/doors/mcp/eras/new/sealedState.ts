/**
 * The state that an `input_required` result gives to a client, and gets back: sealed, bound to the principal, the
 * endpoint and the request it was given for, and valid for an hour. A client cannot read, change or lend it. A process
 * takes it once; after a restart, or at another process on the same database, it is taken again, so what is done with
 * the answers must bear a repeat.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"
import { Redacted } from "effect"

const life = 3_600_000
/** A process remembers used states until they expire. Above this number, it forgets the oldest early. */
const maxUsed = 100_000

/** What a state is valid for. */
export interface Binding {
  readonly principal: string
  readonly endpoint: string
  readonly method: string
  readonly params: unknown
}

const bound = (binding: Binding): Buffer =>
  createHash("sha256")
    .update(JSON.stringify([binding.principal, binding.endpoint, binding.method, binding.params]))
    .digest()

export class StateSeal {
  readonly #key: Buffer
  readonly #used = new Map<string, number>()

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

  /** The state, or undefined if it is not ours, not for this request, too old, or used here before. */
  open(text: string, binding: Binding, now: number): { readonly state: unknown } | undefined {
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
    const nonce = bytes.toString("base64url", 0, 12)
    if (until <= now || this.#used.has(nonce)) return undefined
    this.#forget(now)
    this.#used.set(nonce, until)
    return { state }
  }

  #forget(now: number): void {
    for (const [nonce, until] of this.#used) {
      if (until > now && this.#used.size < maxUsed) return
      this.#used.delete(nonce)
    }
  }
}
