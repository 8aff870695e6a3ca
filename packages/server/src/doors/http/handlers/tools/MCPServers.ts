import { Api, Caller, MCPServerState } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Limits } from "../../../../access/limits/Limits.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { findIfPermitted } from "../../../../access/rights/FindIfPermitted.ts"
import { makeServerFigures } from "../../../../calls/ServerFigures.ts"
import { Servers } from "../../../../servers/Servers.ts"
import { keyedRequest } from "../../guards/Idempotency.ts"

const encode = Schema.encodeSync(MCPServerState)

export const mcpServersHandlers = HttpApiBuilder.group(
  Api,
  "mcpServers",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const { require } = grants
    const servers = yield* Servers
    const limits = yield* Limits
    const figuresOf = yield* makeServerFigures
    /** Rules are about names, so an id is resolved to its name. */
    const named = (ref: string, action: "read" | "delete" | "admin") =>
      findIfPermitted(grants, servers.get(ref), { ref, action, of: "servers" })
    return handlers.handleAll({
      list: () => Effect.andThen(require("read", "servers/*"), servers.list),
      get: ({ params }) => named(params.server, "read"),
      // It may run a program on this machine, with the rights of the house.
      add: Effect.fnUntraced(function* ({ payload }) {
        yield* require("admin", `servers/${payload.name}`)
        // The usual guard for creates wraps them in one transaction; this one waits for a server, so the room stores
        // the key.
        const { first, server } = yield* servers.add(payload, yield* keyedRequest)
        return first ? server : HttpServerResponse.jsonUnsafe(encode(server))
      }),
      look: Effect.fnUntraced(function* ({ payload, query }) {
        yield* require("admin", `servers/${payload.name}`)
        yield* limits.take(yield* Caller, "imports")
        return yield* servers.look(payload, query.confirm)
      }),
      remove: ({ params }) => Effect.andThen(named(params.server, "delete"), servers.remove(params.server)),
      tools: ({ params }) => Effect.andThen(named(params.server, "read"), servers.pinned(params.server)),
      log: ({ params }) => Effect.andThen(named(params.server, "read"), servers.log(params.server)),
      figures: ({ params }) => Effect.flatMap(named(params.server, "read"), figuresOf),
      accept: ({ params, query }) =>
        Effect.andThen(named(params.server, "admin"), servers.accept(params.server, params.tool, query.digest)),
    })
  }),
)
