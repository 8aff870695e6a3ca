import { Api, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { hostFrom, Hosts } from "../../../../calls/hosts/Hosts.ts"
import { makeHostStream } from "../../streams/hostStream.ts"

export const hostsHandlers = HttpApiBuilder.group(
  Api,
  "hosts",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const hosts = yield* Hosts
    const stream = yield* makeHostStream
    const reader = grants.viewer("hosts")
    return handlers
      .handleAll({
        list: () =>
          Effect.map(Effect.flatMap(reader, hosts.list), (items) => ({ items: items.map(hostFrom), next: null })),
        get: ({ params }) =>
          Effect.map(
            Effect.flatMap(reader, (who) => hosts.get(params.host, who)),
            hostFrom,
          ),
        declare: Effect.fnUntraced(function* ({ params: { host }, payload }) {
          return hostFrom(yield* hosts.declare(yield* Caller, host, payload))
        }),
        remove: ({ params, query }) => Effect.flatMap(reader, (who) => hosts.remove(params.host, who, query.instance)),
      })
      .handleRaw(
        "calls",
        Effect.fnUntraced(function* ({ params: { host }, query }) {
          const caller = yield* Caller
          return yield* stream(caller, yield* hosts.own(caller, host), query.instance)
        }),
      )
  }),
)
