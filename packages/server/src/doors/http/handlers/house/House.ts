import { Api, Caller } from "@stoa/contract"
import { Effect, Metric, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { Grants } from "../../../../access/rights/Grants.ts"
import { makeOwnFiles } from "../../../../calls/OwnFiles.ts"
import { currentCause } from "../../../../store/journal/Correlation.ts"
import { Journal } from "../../../../store/journal/Journal.ts"
import { Endings } from "../../../../access/identity/Endings.ts"
import { Feed } from "../../../Feed.ts"
import { Upkeep } from "../../../Upkeep.ts"

const streams = Metric.gauge("feed_streams")
const cursor = Metric.gauge("journal_cursor")
const memory = Metric.gauge("resident_bytes")

export const houseHandlers = HttpApiBuilder.group(
  Api,
  "house",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const files = yield* makeOwnFiles
    const upkeep = yield* Upkeep
    const endings = yield* Endings
    const feed = yield* Feed
    return handlers.handleAll({
      reload: () => Effect.andThen(require("admin", "house/configuration"), upkeep.reload),
      doctor: () => Effect.andThen(require("read", "house/doctor"), upkeep.doctor),
      figures: ({ query }) => upkeep.figures(query, feed.listening),
      accept: ({ payload }) =>
        require("admin", "house/doctor").pipe(
          Effect.andThen(upkeep.accept(payload.check)),
          Effect.andThen(upkeep.doctor),
        ),
      backup: Effect.fnUntraced(function* ({ query }) {
        yield* require("admin", "house/backup")
        const over = Effect.andThen(
          endings.ended(yield* Caller),
          Effect.die(new Error("the token of a backup has ended")),
        )
        const cause = yield* currentCause
        return Stream.interruptWhen(upkeep.backup({ withKey: query.withKey === "true", cause }), over)
      }),
      file: ({ params }) => Effect.flatMap(Caller, (caller) => files.read(params.id, caller)),
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
          if (status !== "ok") return Effect.fail({ status })
          return Effect.succeed({ status, ...(upkeep.diskFull() ? { disk: "full" as const } : {}) })
        }),
    })
  }),
)
