import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../access/Grants.ts"
import { Pauses } from "../../../access/Pauses.ts"
import { Journal } from "../../../store/Journal.ts"

export const pausesHandlers = HttpApiBuilder.group(
  Api,
  "pauses",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const pauses = yield* Pauses
    const { transact } = yield* Journal
    return handlers.handleAll({
      list: () => Effect.andThen(require("read", "pauses/*"), pauses.list),
      set: ({ payload }) => Effect.andThen(require("admin", "pauses/*"), transact(pauses.set(payload))),
      lift: ({ params }) => Effect.andThen(require("admin", "pauses/*"), transact(pauses.lift(params.subject))),
    })
  }),
)
