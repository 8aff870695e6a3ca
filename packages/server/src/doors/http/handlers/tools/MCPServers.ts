import { Api, Caller, MCPServerFigures, MCPServerState } from "@stoa/contract"
import { DateTime, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Limits } from "../../../../access/limits/Limits.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { findIfPermitted } from "../../../../access/rights/FindIfPermitted.ts"
import { makeCallFigures, makeToolCounts } from "../../../../calls/CallFigures.ts"
import { Upstreams } from "../../../../upstreams/Upstreams.ts"
import { keyedRequest } from "../../guards/Idempotency.ts"

const day = 24 * 3_600_000
const encode = Schema.encodeSync(MCPServerState)

export const mcpServersHandlers = HttpApiBuilder.group(
  Api,
  "mcpServers",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const { require } = grants
    const upstreams = yield* Upstreams
    const limits = yield* Limits
    const callFigures = yield* makeCallFigures
    const toolCounts = yield* makeToolCounts
    /** Rules are about names, so an id is resolved to its name. */
    const named = (ref: string, action: "read" | "delete" | "admin") =>
      findIfPermitted(grants, upstreams.get(ref), { ref, action, of: "servers" })
    return handlers.handleAll({
      list: () => Effect.andThen(require("read", "servers/*"), upstreams.list),
      get: ({ params }) => named(params.server, "read"),
      // It may run a program on this machine, with the rights of the house.
      add: Effect.fnUntraced(function* ({ payload }) {
        yield* require("admin", `servers/${payload.name}`)
        // The usual guard for creates wraps them in one transaction; this one waits for a server, so the room stores
        // the key.
        const { first, server } = yield* upstreams.add(payload, yield* keyedRequest)
        return first ? server : HttpServerResponse.jsonUnsafe(encode(server))
      }),
      look: Effect.fnUntraced(function* ({ payload }) {
        yield* require("admin", `servers/${payload.name}`)
        yield* limits.take(yield* Caller, "imports")
        return yield* upstreams.look(payload)
      }),
      remove: ({ params }) => Effect.andThen(named(params.server, "delete"), upstreams.remove(params.server)),
      tools: ({ params }) => Effect.andThen(named(params.server, "read"), upstreams.pinned(params.server)),
      log: ({ params }) => Effect.andThen(named(params.server, "read"), upstreams.log(params.server)),
      figures: Effect.fnUntraced(function* ({ params }) {
        const { held, name, tools } = yield* named(params.server, "read")
        const all = [...held, ...tools]
        const to = DateTime.toEpochMillis(yield* DateTime.now)
        const { ended, done, failed, open, p50, p95, refused, since } = yield* callFigures(
          { server: name },
          { from: to - day, to, step: day },
        )
        const often = yield* toolCounts(
          all.map((tool) => `${name}/${tool}`),
          to - 7 * day,
          MCPServerFigures.mostCounted,
        )
        const one = (counts: ReadonlyArray<number>) => counts[0] ?? 0
        return new MCPServerFigures({
          from: DateTime.makeUnsafe(to - day),
          to: DateTime.makeUnsafe(to),
          calls: [done, failed, refused, ended, open].reduce((sum, counts) => sum + one(counts), 0),
          failed: one(failed),
          refused: one(refused),
          open: one(open),
          p50: p50[0] ?? null,
          p95: p95[0] ?? null,
          since: since === null ? null : DateTime.makeUnsafe(since),
          tools: all.map((tool, at) => ({ name: tool, calls: often[at]! })),
        })
      }),
      accept: ({ params, query }) =>
        Effect.andThen(named(params.server, "admin"), upstreams.accept(params.server, params.tool, query.digest)),
    })
  }),
)
