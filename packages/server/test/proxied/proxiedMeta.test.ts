/** What goes to a server beside a call's arguments, and how people's answers go there. */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  LoggingMessageNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js"
import { Effect, Fiber } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { joined, newClient, oldClient, until } from "./proxiedKit.ts"
import { asking, served, text } from "./proxiedServer.ts"
import { newRequest } from "../mcp/mcpKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }, { name: "bob" }] }
const eras = ["old", "new"] as const
const visit = { mode: "url", message: "Sign in", url: "https://sign.example/in", elicitationId: "e1" }

/** The official server of the last year, whose `sendLoggingMessage` speaks on the stream of the session. */
const logging = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    const open = new Map<unknown, StreamableHTTPServerTransport>()
    const begun = async () => {
      const server = new Server({ name: "logs", version: "1" }, { capabilities: { tools: {}, logging: {} } })
      server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: [{ name: "log", inputSchema: { type: "object" } }],
      }))
      server.setRequestHandler(CallToolRequestSchema, async (_, { sessionId }) => {
        for (const data of ["one", "two", "three"]) await server.sendLoggingMessage({ level: "info", data }, sessionId)
        return text("logged")
      })
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void open.set(id, transport),
      })
      await server.connect(transport)
      return transport
    }
    const http = createServer((request, response) => {
      const known = open.get(request.headers["mcp-session-id"])
      void (known === undefined ? begun() : Promise.resolve(known)).then((it) => it.handleRequest(request, response))
    }).listen(0, "127.0.0.1", () => {
      const close = () => {
        http.closeAllConnections()
        http.close()
      }
      resume(Effect.succeed({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, close }))
    })
  }),
  ({ close }) => Effect.sync(close),
).pipe(Effect.map(({ url }) => url))

layer(house({ store: "sqlite", config }), { excludeTestServices: true, timeout: 60_000 })("beside a call", (it) => {
  for (const era of eras)
    it.effect(`${era} server: one key of two callers is two keys there, and neither is the one they gave`, () =>
      Effect.gen(function* () {
        const server = yield* served(era, { act: () => text("done") })
        const { admin, place, token: ada } = yield* joined(server.url)
        const { token: bob } = yield* ask(() => admin.tokens.add({ principal: "bob" }))
        const { token: again } = yield* ask(() => admin.tokens.add({ principal: "ada" }))
        const meta = { "stoa/idempotencyKey": `once-${era}` }
        for (const token of [ada, bob, again])
          yield* ask(() => newRequest(place, token, "tools/call", { name: "act", arguments: {} }, { meta }))
        // The third is the first again, and was answered without the server.
        const keys = server.sent("tools/call").map(({ params }) => params._meta["stoa/idempotencyKey"] as string)
        assert.lengthOf(keys, 2)
        assert.notStrictEqual(keys[0], keys[1])
        for (const key of keys) assert.match(key, /^[0-9a-f]{64}$/)
      }),
    )

  for (const era of eras)
    it.effect(
      `G-39 ${era} server: it is told the trace of the client's, and nothing else that stands beside a call`,
      () =>
        Effect.gen(function* () {
          const server = yield* served(era, { act: () => text("done") })
          const { place, token } = yield* joined(server.url)
          const trace = {
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            tracestate: "vendor=1",
            baggage: "who=ada",
          }
          const call = (meta: object) =>
            ask(() => newRequest(place, token, "tools/call", { name: "act", arguments: {} }, { meta }))
          yield* call({ ...trace, "com.acme/unseen": "by whoever approves", "io.modelcontextprotocol/own": 1 })
          yield* call({ traceparent: 5, baggage: "b".repeat(10_000) })
          const [first, second] = server.sent("tools/call").map(({ params }) => params._meta as Record<string, unknown>)
          assert.deepInclude(first, trace)
          for (const key of ["com.acme/unseen", "io.modelcontextprotocol/own"]) assert.notProperty(first, key)
          for (const key of ["tracestate", "baggage"]) assert.notProperty(second, key)
          assert.match(String(second!["traceparent"]), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
        }),
    )

  for (const era of eras)
    it.effect(`G-39 ${era} server: a call that came over HTTP carries the trace of its request to the server`, () =>
      Effect.gen(function* () {
        const { adminToken, raw } = yield* Guest
        const server = yield* served(era, { act: () => text("done") })
        const { name } = yield* joined(server.url)
        const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        const call = (headers: Record<string, string>) =>
          ask(() =>
            raw(`/api/v1/tools/${name}__act/call`, {
              method: "POST",
              headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json", ...headers },
              body: JSON.stringify({ input: {} }),
            }),
          )
        assert.strictEqual((yield* call({ traceparent: `00-${trace}-00f067aa0ba902b7-01` })).status, 200)
        assert.strictEqual((yield* call({})).status, 200)
        const [first, second] = server
          .sent("tools/call")
          .map(({ params }) => String((params._meta as Record<string, unknown>)["traceparent"]))
        assert.match(first!, new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
        // One of its own where nobody gave one.
        assert.match(second!, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
        assert.notInclude(second, trace)
      }),
    )

  for (const era of eras)
    it.effect(`${era} server: an address that a person has visited is accepted, without content`, () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const heard: Array<unknown> = []
        const server = yield* served(era, {
          enter: async ({ ask, params }) => {
            if (era === "old") heard.push(await ask("elicitation/create", visit))
            else if (params.inputResponses === undefined)
              return asking({ in: { method: "elicitation/create", params: visit } })
            else heard.push(params.inputResponses.in)
            return text("entered")
          },
        })
        const { name, place, token } = yield* joined(server.url)
        const calling = yield* Effect.forkScoped(
          ask(() => newRequest(place, token, "tools/call", { name: "enter", arguments: {} })),
        )
        const open = Effect.map(
          ask(() => admin.decisions.list({ state: "open", limit: 100 })),
          ({ items }) => items.filter((one) => one.call?.tool === `${name}/enter`),
        )
        yield* until(() => Effect.map(open, (all) => all.length > 0))
        const [decision] = yield* open
        yield* ask(() => admin.decisions.answer(decision!.id, { verdict: "submit", value: {} }))
        yield* until(() => heard.length > 0)
        assert.deepStrictEqual(heard, [{ action: "accept" }])
        yield* Fiber.interrupt(calling)
      }),
    )

  for (const client of eras)
    it.effect(`${client} client: what an old server logs on the stream of its session goes to whoever calls`, () =>
      Effect.gen(function* () {
        const { place, token } = yield* joined(yield* logging)
        const heard: Array<unknown> = []
        if (client === "old") {
          const it = yield* oldClient(place, token, {}, (one) =>
            one.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data)),
          )
          yield* ask(() => it.callTool({ name: "log", arguments: {} }))
        } else {
          const it = yield* newClient(place, token, {}, (one) =>
            one.setNotificationHandler("notifications/message", ({ params }) => void heard.push(params.data)),
          )
          const _meta = { "io.modelcontextprotocol/logLevel": "info" as const }
          yield* ask(() => it.callTool({ name: "log", arguments: {}, _meta }))
        }
        assert.deepStrictEqual(heard, ["one", "two", "three"])
      }),
    )
})
