import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Secrets } from "../../../../access/secrets/Secrets.ts"
import { Journal } from "../../../../store/journal/Journal.ts"

export const secretsHandlers = HttpApiBuilder.group(
  Api,
  "secrets",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const secrets = yield* Secrets
    const { transact } = yield* Journal
    return handlers.handleAll({
      list: () => Effect.andThen(require("read", "secrets/*"), secrets.list),
      set: ({ params, payload }) =>
        Effect.andThen(require("write", `secrets/${params.name}`), transact(secrets.set(params.name, payload.value))),
      remove: ({ params }) =>
        Effect.andThen(require("delete", `secrets/${params.name}`), transact(secrets.remove(params.name))),
    })
  }),
)
