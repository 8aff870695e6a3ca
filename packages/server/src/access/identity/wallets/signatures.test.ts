import { assert, describe, it } from "@effect/vitest"
import { ed25519 } from "@noble/curves/ed25519.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { base58, base64, hex } from "@scure/base"
import { isSignedBy, schemeOf, checksumAddress } from "./signatures.ts"

const text = (value: string) => new TextEncoder().encode(value)

describe("signatures of wallets", () => {
  it("EIP-191: a known address, message and signature fit, however its hex is written", () => {
    // From the documentation of eth.accounts.sign in web3.js.
    const address = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"
    const signature =
      "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c"
    assert.isTrue(isSignedBy(address, "Some data", signature))
    assert.isTrue(isSignedBy(address.toLowerCase(), "Some data", signature.toUpperCase().replace("0X", "0x")))
    assert.isTrue(isSignedBy(address, "Some data", signature.slice(2)))
    assert.isFalse(isSignedBy(address, "Some data.", signature))
    assert.isFalse(isSignedBy(address.replace("2c", "2d"), "Some data", signature))
    for (const wrong of ["", "0x", "zz", `${signature}00`, `0x${"00".repeat(65)}`, `0x${"ff".repeat(65)}`])
      assert.isFalse(isSignedBy(address, "Some data", wrong), wrong)
  })

  it("EIP-191: a text in other letters is measured in bytes", () => {
    const key = secp256k1.utils.randomSecretKey()
    const address = `0x${hex.encode(keccak_256(secp256k1.getPublicKey(key, false).slice(1)).slice(-20))}`
    const message = "Zürich 😀"
    const bytes = text(message)
    const digest = keccak_256(new Uint8Array([...text(`\u0019Ethereum Signed Message:\n${bytes.length}`), ...bytes]))
    const signed = secp256k1.sign(digest, key, { prehash: false, format: "recovered" })
    const signature = `0x${hex.encode(signed.slice(1))}${(27 + signed[0]!).toString(16)}`
    assert.isTrue(isSignedBy(address, message, signature))
  })

  it("Ed25519: in base58, base64 and hex; another's key, text or signature does not fit", () => {
    const key = ed25519.utils.randomSecretKey()
    const address = base58.encode(ed25519.getPublicKey(key))
    const signed = ed25519.sign(text("hello"), key)
    for (const form of [base58.encode(signed), base64.encode(signed), hex.encode(signed), `0x${hex.encode(signed)}`])
      assert.isTrue(isSignedBy(address, "hello", form), form)
    assert.isFalse(isSignedBy(address, "hello!", hex.encode(signed)))
    const other = base58.encode(ed25519.getPublicKey(ed25519.utils.randomSecretKey()))
    assert.isFalse(isSignedBy(other, "hello", hex.encode(signed)))
    assert.isFalse(isSignedBy(address, "hello", hex.encode(new Uint8Array(64))))
    // A point of small order is nobody's key.
    assert.isFalse(isSignedBy(base58.encode(new Uint8Array(32)), "hello", hex.encode(new Uint8Array(64))))
  })

  it("which addresses can sign, and how they are spelled", () => {
    assert.strictEqual(schemeOf("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"), "Ethereum")
    assert.strictEqual(schemeOf("11111111111111111111111111111111"), "Solana")
    for (const none of ["0x1234...", "0x12", "hello", "0OIl", ""]) assert.isUndefined(schemeOf(none))
    assert.strictEqual(
      checksumAddress("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"),
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    )
  })
})
