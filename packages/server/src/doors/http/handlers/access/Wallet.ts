import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { WalletSignIn } from "../../../../access/identity/wallets/WalletSignIn.ts"
import { Acting } from "../../../Acting.ts"
import { Upkeep } from "../../../Upkeep.ts"
import { senderOf, withRefusalHeaders } from "../../guards/Authentication.ts"

export const walletHandlers = HttpApiBuilder.group(
  Api,
  "wallet",
  Effect.fn(function* (handlers) {
    const signIn = yield* WalletSignIn
    const acting = yield* Acting
    const upkeep = yield* Upkeep
    return handlers.handleAll({
      challenge: ({ payload: { wallet }, request }) =>
        withRefusalHeaders(
          signIn.challenge({ wallet, house: upkeep.address(), address: senderOf(request).address ?? "unknown" }),
        ),
      token: ({ payload, request }) =>
        signIn.token(payload).pipe(
          Effect.catchTag("Unauthenticated", (error) => acting.refused(error, senderOf(request), "wallets")),
          withRefusalHeaders,
        ),
    })
  }),
)
