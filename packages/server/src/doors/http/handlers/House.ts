import { Api } from "@stoa/contract"
import { Effect, Metric } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { Grants } from "../../../access/Grants.ts"
import { Files } from "../../../store/Files.ts"
import { Journal } from "../../../store/Journal.ts"
import { Feed } from "../../Feed.ts"
import { Upkeep } from "../../Upkeep.ts"

const streams = Metric.gauge("feed_streams")
const cursor = Metric.gauge("journal_cursor")
const memory = Metric.gauge("resident_bytes")

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

export const metricsHandlers = HttpApiBuilder.group(
  Api,
  "metrics",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const feed = yield* Feed
    const journal = yield* Journal
    return handlers.handle("read", () =>
      Effect.gen(function* () {
        yield* require("read", "house/metrics")
        yield* Metric.update(streams, feed.subscribers())
        yield* Metric.update(cursor, yield* journal.end)
        yield* Metric.update(memory, process.memoryUsage.rss())
        return yield* PrometheusMetrics.format({ prefix: "stoa" })
      }),
    )
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
