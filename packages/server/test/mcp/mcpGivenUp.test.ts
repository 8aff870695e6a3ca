/** What becomes of a call when its client gives up the request: one rule, whatever the tool is. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { callsHouse, configure, holding, httpTool, request, settled, stores } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"
import { until } from "../stores.ts"
import { envelope, initialized, newRequest, oldRequest, opened } from "./mcpKit.ts"

const callsOf = (who: Someone, tool: string) =>
  Effect.map(
    request(who, "GET", `/calls?tool=${tool}`),
    ({ body }) => (body as { readonly items: ReadonlyArray<{ readonly id: string; readonly state: string }> }).items,
  )
const isCanceled = (who: Someone, tool: string) =>
  until(Effect.map(callsOf(who, tool), (items) => items.map(({ state }) => state).join() === "canceled"))

/** A call of a tool, sent by a client that may hang up; what it would have answered is of no interest. */
const sent = Effect.fnUntraced(function* (era: "old" | "new", { token }: Someone, tool: string, session?: string) {
  const { url } = yield* Guest
  const line = new AbortController()
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(session === undefined ? {} : { "mcp-session-id": session }),
    ...(era === "old" ? {} : { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool }),
  }
  const params = { name: tool, arguments: {}, ...(era === "old" ? {} : { _meta: envelope() }) }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params })
  const ended = fetch(`${url}/mcp`, { method: "POST", headers, body, signal: line.signal }).then(
    (response) => response.text(),
    () => "hung up",
  )
  return { hangUp: () => line.abort(), ended }
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `requests given up on ${store}`,
    (it) => {
      it.effect(
        "new era: hanging up cancels the call of a tool that is no MCP server's, and its service is let go",
        () =>
          Effect.gen(function* () {
            const who = yield* someone("agent")
            const service = yield* holding
            const { name } = yield* httpTool(service.url)
            const { ended, hangUp } = yield* sent("new", who, name)
            const { closed } = yield* service.arrived
            hangUp()
            yield* closed
            yield* isCanceled(who, name)
            assert.strictEqual(yield* Effect.promise(() => ended), "hung up")
          }).pipe(Effect.scoped),
      )

      it.effect("old era: notifications/cancelled cancels it; a connection that breaks does not", () =>
        Effect.gen(function* () {
          const { url } = yield* Guest
          const who = yield* someone("agent")
          const service = yield* holding
          const { name } = yield* httpTool(service.url)
          const session = yield* ask(() => initialized(`${url}/mcp`, who.token))
          const { ended } = yield* sent("old", who, name, session)
          const { closed } = yield* service.arrived
          const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }
          yield* ask(() => opened.post(`${url}/mcp`, who.token, cancelled, { "mcp-session-id": session }))
          yield* closed
          yield* isCanceled(who, name)
          assert.strictEqual(yield* Effect.promise(() => ended), "")

          const { name: other } = yield* httpTool(service.url)
          const broken = yield* sent("old", who, other, session)
          const { answer } = yield* service.arrived
          broken.hangUp()
          assert.strictEqual(yield* Effect.promise(() => broken.ended), "hung up")
          const call = (yield* callsOf(who, other))[0]!
          assert.strictEqual(call.state, "running")
          answer()
          assert.strictEqual((yield* settled(who, call.id)).state, "done")
        }).pipe(Effect.scoped),
      )

      for (const era of ["old", "new"] as const)
        it.effect(`${era} era: a call that waits has been answered, and outlives its request`, () =>
          Effect.gen(function* () {
            const { url } = yield* Guest
            const who = yield* someone("agent")
            const { name } = yield* configure({ requiresApproval: true })
            const session = era === "old" ? yield* ask(() => initialized(`${url}/mcp`, who.token)) : undefined
            const { body } = yield* ask(() =>
              era === "old"
                ? oldRequest(`${url}/mcp`, who.token, "tools/call", { name, arguments: {} }, session)
                : newRequest(`${url}/mcp`, who.token, "tools/call", { name, arguments: {} }),
            )
            assert.strictEqual(body.result.structuredContent.state, "waiting")
            if (session !== undefined) {
              const params = { requestId: opened.sent() }
              const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params }
              yield* ask(() => opened.post(`${url}/mcp`, who.token, cancelled, { "mcp-session-id": session }))
            }
            assert.deepStrictEqual(
              (yield* callsOf(who, name)).map(({ state }) => state),
              ["waiting"],
            )
          }),
        )
    },
  )
