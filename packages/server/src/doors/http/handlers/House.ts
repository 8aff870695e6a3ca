import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../access/Grants.ts"
import { Files } from "../../../store/Files.ts"
import { Upkeep } from "../../Upkeep.ts"

export const houseHandlers = HttpApiBuilder.group(
  Api,
  "house",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const files = yield* Files
    const upkeep = yield* Upkeep
    return handlers.handleAll({
      reload: () => Effect.andThen(require("admin", "house/configuration"), upkeep.reload),
      doctor: () => Effect.andThen(require("read", "house/doctor"), upkeep.doctor),
      backup: ({ query }) =>
        Effect.as(require("admin", "house/backup"), upkeep.backup({ withKey: query.withKey === "true" })),
      file: Effect.fnUntraced(function* ({ params }) {
        yield* require("read", `files/${params.id}`)
        return (yield* files.get(params.id)).bytes
      }),
    })
  }),
)

export const healthHandlers = HttpApiBuilder.group(
  Api,
  "health",
  Effect.fn(function* (handlers) {
    const upkeep = yield* Upkeep
    return handlers.handleAll({
      alive: () => Effect.succeed({ status: "ok" as const }),
      ready: () =>
        Effect.suspend(() => {
          const status = upkeep.ready()
          return status === "ok" ? Effect.succeed({ status }) : Effect.fail({ status })
        }),
    })
  }),
)
