/** Clients that ask and do not read: what they leave unread stays little, and others are served. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { connect as open, type Socket } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { NodeServer } from "../../src/doors/node/NodeServer.ts"
import { ask, Guest, house } from "../house.ts"
import { until } from "../stores.ts"

/** A connection that sends all of this and reads nothing. */
const deaf = (port: number, text: string) =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const socket = open({ port, host: "127.0.0.1" }, () => resume(Effect.succeed(socket)))
      socket.pause()
      socket.on("error", () => undefined)
      socket.write(text)
    }),
    (socket) => Effect.sync(() => socket.destroy()),
  )

const get = (path: string, port: number, token: string) =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`
const post = (path: string, port: number, token: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
  `Accept: application/json, text/event-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void
/** What cannot be freed. */
const held = (): number => {
  collect()
  const { external, heapUsed } = process.memoryUsage()
  return external + heapUsed
}
const mebibyte = 1024 * 1024

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`unread answers on ${store}`, (it) => {
    it.effect("one who asks a thousand times for what is large and reads nothing holds little, at every door", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const { port } = yield* NodeServer
          yield* ask(() => admin.principals.add({ kind: "person", name: "Deaf" }))
          yield* ask(() => admin.principals.add({ kind: "person", name: "Other" }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: "Deaf" }))
          const other = as((yield* ask(() => admin.tokens.add({ principal: "Other" }))).token)
          const { memory } = as(token)
          const text = (n: number) => `${n} ${"lorem ipsum ".repeat(21_000)}`
          for (let n = 0; n < 12; n++) yield* ask(() => memory.put({ kind: "note", key: `k${n}`, content: text(n) }))
          const list = get("/api/v1/memory?limit=100", port, token)
          const message = (id: number) =>
            post(
              "/mcp",
              port,
              token,
              JSON.stringify({
                jsonrpc: "2.0",
                id,
                method: "tools/call",
                params: {
                  name: "recall",
                  arguments: { query: "lorem", limit: 20 },
                  _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
                },
              }),
            )
          const before = held()
          let most = 0
          // On one connection, and on many.
          yield* deaf(port, list.repeat(150))
          yield* deaf(port, Array.from({ length: 150 }, (_, id) => message(id)).join(""))
          for (let n = 0; n < 30; n++) yield* deaf(port, list.repeat(10))
          // Others are served meanwhile, again and again.
          for (let n = 0; n < 40; n++) {
            yield* ask(() => other.memory.list({}))
            if (n % 8 === 7) most = Math.max(most, held() - before)
          }
          // The principal itself is told what to do.
          yield* until(Effect.map(Effect.result(ask(() => memory.list({}))), (result) => result._tag === "Failure"))
          const told = (yield* Effect.flip(ask(() => memory.list({})))) as {
            readonly status?: number
            readonly message: string
          }
          assert.strictEqual(told.status, 429)
          assert.match(told.message, /answers that were not read/)
          assert.isBelow(most, 160 * mebibyte)
        }),
      ),
    )
  })
