/**
 * Encryption at rest: AES-256-GCM with the house's key. The name is authenticated too, so that values cannot be
 * swapped.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto"
import { Redacted } from "effect"

/** Any text with enough entropy can be the key; its digest is used. */
const keyOf = (secret: Redacted.Redacted): Buffer => createHash("sha256").update(Redacted.value(secret)).digest()

const version = 1

export const seal = (key: Redacted.Redacted, name: string, plain: Uint8Array): Uint8Array => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", keyOf(key), nonce).setAAD(Buffer.from(name))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), sealed])
}

/** Throws if the key is wrong or the bytes were changed. */
export const unseal = (key: Redacted.Redacted, name: string, sealed: Uint8Array): Uint8Array => {
  const bytes = Buffer.from(sealed)
  const decipher = createDecipheriv("aes-256-gcm", keyOf(key), bytes.subarray(1, 13)).setAAD(Buffer.from(name))
  decipher.setAuthTag(bytes.subarray(13, 29))
  return Buffer.concat([decipher.update(bytes.subarray(29)), decipher.final()])
}

/** One key per purpose, so that a signature for one is worthless for another. */
export const derive = (key: Redacted.Redacted, label: string): Redacted.Redacted =>
  Redacted.make(createHmac("sha256", keyOf(key)).update(`derive/${label}`).digest("hex"))
