/** Whether a wallet signed a text: EIP-191 for addresses of Ethereum's form, Ed25519 for keys in base58. Pure. */
import { ed25519 } from "@noble/curves/ed25519.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { base58, base64, hex } from "@scure/base"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const decoded = (read: () => Uint8Array): Uint8Array | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The kinds of wallets that can sign in, by the name of their chain. */
export type Scheme = "Ethereum" | "Solana"

const ethereum = /^0x[0-9a-f]{40}$/i
const publicKeyOf = (address: string): Uint8Array | undefined => {
  const key = decoded(() => base58.decode(address))
  return key?.length === 32 ? key : undefined
}

export const schemeOf = (address: string): Scheme | undefined =>
  ethereum.test(address) ? "Ethereum" : publicKeyOf(address) === undefined ? undefined : "Solana"

/** As wallets show it: the capital letters are a checksum (EIP-55). */
export const checksumAddress = (address: string): string => {
  if (!ethereum.test(address)) return address
  const digits = address.slice(2).toLowerCase()
  const sum = hex.encode(keccak_256(utf8(digits)))
  return `0x${[...digits].map((digit, at) => (Number.parseInt(sum[at]!, 16) >= 8 ? digit.toUpperCase() : digit)).join("")}`
}

/** Hex with or without 0x, base58 or base64: wallets differ. */
const bytesOf = (signature: string, length: number): Uint8Array | undefined =>
  [
    () => hex.decode(signature.replace(/^0x/i, "").toLowerCase()),
    () => base58.decode(signature),
    () => base64.decode(signature),
  ]
    .map(decoded)
    .find((bytes) => bytes?.length === length)

/** The address whose key signed this text, as `personal_sign` does it. */
const signerOf = (message: string, signature: Uint8Array): string | undefined => {
  const text = utf8(message)
  const digest = keccak_256(new Uint8Array([...utf8(`\u0019Ethereum Signed Message:\n${text.length}`), ...text]))
  const last = signature[64]!
  const recovery = last >= 27 ? last - 27 : last
  const key = decoded(() =>
    secp256k1.Signature.fromBytes(signature.slice(0, 64), "compact")
      .addRecoveryBit(recovery)
      .recoverPublicKey(digest)
      .toBytes(false),
  )
  return key === undefined ? undefined : `0x${hex.encode(keccak_256(key.slice(1)).slice(-20))}`
}

export const isSignedBy = (address: string, message: string, signature: string): boolean => {
  if (ethereum.test(address)) {
    const bytes = bytesOf(signature, 65)
    return bytes !== undefined && signerOf(message, bytes) === address.toLowerCase()
  }
  const [key, bytes] = [publicKeyOf(address), bytesOf(signature, 64)]
  if (key === undefined || bytes === undefined) return false
  try {
    // Strict: under the lax rules a key of small order verifies every signature.
    return ed25519.verify(bytes, utf8(message), key, { zip215: false })
  } catch {
    return false
  }
}
