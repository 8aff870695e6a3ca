/** Wallets with their keys, and the way in for whoever can sign. */
import { ed25519 } from "@noble/curves/ed25519.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { base58, hex } from "@scure/base"
import { Effect } from "effect"
import { ask, Guest } from "../house.ts"

const bytes = (value: string) => new TextEncoder().encode(value)

/** A wallet of Ethereum and one of Solana: the address, and what signs. */
export const ethereum = () => {
  const key = secp256k1.utils.randomSecretKey()
  const address = `0x${hex.encode(keccak_256(secp256k1.getPublicKey(key, false).slice(1)).slice(-20))}`
  const sign = (message: string) => {
    const text = bytes(message)
    const digest = keccak_256(new Uint8Array([...bytes(`\u0019Ethereum Signed Message:\n${text.length}`), ...text]))
    const signed = secp256k1.sign(digest, key, { prehash: false, format: "recovered" })
    return `0x${hex.encode(signed.slice(1))}${(27 + signed[0]!).toString(16)}`
  }
  return { address, sign }
}
export const solana = () => {
  const key = ed25519.utils.randomSecretKey()
  return {
    address: base58.encode(ed25519.getPublicKey(key)),
    sign: (message: string) => base58.encode(ed25519.sign(bytes(message), key)),
  }
}

/** The token that somebody with the key of this wallet gets. */
export const signIn = Effect.fnUntraced(function* ({ address, sign }: ReturnType<typeof ethereum>) {
  const { as } = yield* Guest
  const { id, message } = yield* ask(() => as().wallet.challenge({ wallet: address }))
  return (yield* ask(() => as().wallet.token({ challenge: id, signature: sign(message) }))).token
})
