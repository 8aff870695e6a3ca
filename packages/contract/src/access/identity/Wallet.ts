/** Signing in with a wallet: a text to sign, and the signature that is exchanged for a token. */
import { Schema } from "effect"
import { Moment, WalletChallengeId } from "../../Ids.ts"
import { Wallet } from "./Principal.ts"

export const NewWalletChallenge = Schema.Struct({ wallet: Wallet }).annotate({ identifier: "NewWalletChallenge" })

export class WalletChallenge extends Schema.Class<WalletChallenge>("WalletChallenge")({
  id: WalletChallengeId,
  wallet: Schema.String,
  /** Exactly what is signed. It names the house, and is valid once. */
  message: Schema.String,
  expiresAt: Moment,
}) {}

export const WalletSignature = Schema.Struct({
  challenge: WalletChallengeId,
  /** Of EIP-191 (65 bytes) or Ed25519 (64 bytes), in hex, base58 or base64. */
  signature: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(300)),
}).annotate({ identifier: "WalletSignature" })
export type WalletSignature = typeof WalletSignature.Type
