import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadInput, TooManyRequests, Unauthenticated } from "../../Errors.ts"
import { problem } from "../../Problem.ts"
import { IssuedToken } from "../../access/identity/Token.ts"
import { NewWalletChallenge, WalletChallenge, WalletSignature } from "../../access/identity/Wallet.ts"
import { KnownQuery, SmallBody } from "../guards.ts"

/** Needs no token: it is a way to get one. */
export class WalletApi extends HttpApiGroup.make("wallet")
  .add(
    HttpApiEndpoint.post("challenge", "/wallet/challenge", {
      payload: NewWalletChallenge,
      success: WalletChallenge.pipe(HttpApiSchema.status(201)),
      error: [problem(BadInput), problem(TooManyRequests)],
    }),
    HttpApiEndpoint.post("token", "/wallet/token", {
      payload: WalletSignature,
      success: IssuedToken.pipe(HttpApiSchema.status(201)),
      error: [problem(Unauthenticated), problem(TooManyRequests)],
    }),
  )
  .middleware(KnownQuery)
  .middleware(SmallBody)
  .prefix("/api/v1") {}
