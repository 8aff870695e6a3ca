/** Connections that are used again: by whom, and above all by whom not. */
import { once } from "node:events"
import type { Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { CurrentEgressPolicy, Egress, type EgressFault, type EgressRequest } from "../../src/egress/Egress.ts"
import { defaultEgressPolicy, type EgressPolicy } from "../../src/egress/Policy.ts"
import { Resolver } from "../../src/egress/Resolver.ts"
import { http, tcp, text } from "./egressLoopback.ts"

const fetch = Effect.fnUntraced(function* (url: string, more: Partial<EgressRequest> = {}) {
  const egress = yield* Egress
  const answer = yield* egress.fetch({ tool: "look", keepAlive: true, url, ...more })
  return Buffer.from(answer.body).toString()
})
const under = (policy: Partial<EgressPolicy>) =>
  Effect.provideService(CurrentEgressPolicy, { ...defaultEgressPolicy, timeoutMs: 5000, ...policy })

/** Says over which of its connections it was asked: 1, 2, 3 … */
const counting = Effect.gen(function* () {
  const numbers = new Map<Socket, number>()
  return yield* http((request, response) => {
    const { socket } = request
    if (!numbers.has(socket)) numbers.set(socket, numbers.size + 1)
    response.end(request.url === "/long" ? "x".repeat(200_000) : String(numbers.get(socket)))
  })
})

describe("a kept connection", () => {
  it.live(
    "G-16 is used again by the same tool, under the same rules, with the same credentials, and by nobody else",
    () =>
      Effect.gen(function* () {
        const { host, url } = yield* counting
        const same = (more: Partial<EgressRequest> = {}) => fetch(url, more).pipe(under({ allow: [host] }))
        assert.deepStrictEqual([yield* same(), yield* same(), yield* same()], ["1", "1", "1"])
        const traced = { headers: { traceparent: "00-1", "idempotency-key": "2", accept: "text/plain" } }
        assert.strictEqual(yield* same(traced), "1")
        assert.strictEqual(yield* same({ tool: "other" }), "2")
        assert.strictEqual(yield* same({ headers: { authorization: "Bearer a" } }), "3")
        assert.strictEqual(yield* same({ headers: { authorization: "Bearer b" } }), "4")
        assert.strictEqual(yield* same({ headers: { authorization: "Bearer a" } }), "3")
        assert.strictEqual(yield* fetch(url).pipe(under({ allow: [host, "elsewhere.test"] })), "5")
        assert.strictEqual(yield* fetch(url).pipe(under({ allow: [host], hosts: [host] })), "6")
        assert.strictEqual(yield* same({ allow: ["elsewhere.test"] }), "7")
        assert.strictEqual(yield* same({ hosts: [host] }), "8")
        assert.strictEqual(yield* same(), "1")
      }),
  )

  it.live(
    "is not for what may act, nor for who did not ask for it; nor after an answer that was not read to its end",
    () =>
      Effect.gen(function* () {
        const { host, seen, url } = yield* counting
        const same = (more: Partial<EgressRequest> = {}, path = "") =>
          fetch(`${url}${path}`, more).pipe(under({ allow: [host] }))
        assert.deepStrictEqual([yield* same(), yield* same({ method: "POST", body: "{}" })], ["1", "2"])
        assert.deepStrictEqual([yield* same({ keepAlive: false }), yield* same({ keepAlive: false })], ["3", "4"])
        assert.strictEqual(seen.at(-1)?.headers.connection, "close")
        assert.strictEqual(yield* same(), "1")
        assert.lengthOf(yield* same({ cut: true, maxBytes: 10 }, "/long"), 10)
        assert.strictEqual(yield* same(), "5")
      }),
  )

  it.live("G-16 is not used when its name leads elsewhere by now", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* counting
      const lists = [["127.0.0.1"], ["127.0.0.1"], ["169.254.169.254"], ["127.0.0.1", "10.0.0.1"]]
      const resolve = () => Effect.sync(() => lists.shift() ?? [])
      const asked = fetch(`http://rebind.test:${port}/`).pipe(
        under({ allow: [`rebind.test:${port + 1}`, `rebind.test:${port}`] }),
        Effect.provideService(Resolver, { resolve }),
      )
      const reason = Effect.map(Effect.flip(asked), ({ cause }) => (cause as EgressFault).reason)
      assert.deepStrictEqual([yield* asked, yield* asked], ["1", "1"])
      assert.strictEqual(yield* reason, "address")
      assert.lengthOf(seen, 2)
    }),
  )

  it.live("that the other side has closed costs nothing; a new one that breaks is not tried again", () =>
    Effect.gen(function* () {
      const requests: Array<number> = []
      let connections = 0
      const server = yield* tcp((socket) => {
        const number = ++connections
        socket.on("data", () => {
          requests.push(number)
          // Each connection answers once; from the fourth on none does.
          if (number > 3 || requests.filter((it) => it === number).length > 1) socket.destroy()
          else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${number}`)
        })
      })
      const asked = fetch(server.url).pipe(under({ allow: [server.host] }))
      assert.strictEqual(yield* asked, "1")
      // Broken on the first connection, then answered on one of its own, which is not kept.
      assert.strictEqual(yield* asked, "2")
      assert.strictEqual(yield* asked, "3")
      const error = yield* Effect.flip(asked)
      assert.strictEqual((error.cause as EgressFault).reason, "connection")
      assert.deepStrictEqual(requests, [1, 1, 2, 3, 3, 4])
    }),
  )

  it.live("is closed by whoever interrupts its request, which is not sent again", () =>
    Effect.gen(function* () {
      let arrived: (socket: Socket) => void
      const second = new Promise<Socket>((found) => (arrived = found))
      let requests = 0
      const server = yield* http((request, response) => {
        if (++requests === 2) arrived(request.socket)
        else response.end("ok")
      })
      const policy = under({ allow: [server.host] })
      yield* fetch(server.url).pipe(policy)
      const call = yield* Effect.forkChild(fetch(server.url).pipe(policy))
      const socket = yield* Effect.promise(() => second)
      const closed = once(socket, "close")
      yield* Fiber.interrupt(call)
      yield* Effect.promise(() => closed)
      assert.strictEqual(yield* fetch(server.url, { tool: "other" }).pipe(policy), "ok")
      assert.strictEqual(requests, 3)
    }),
  )

  it.live("that is left alone closes by itself, also where a server would keep it", () =>
    Effect.gen(function* () {
      const server = yield* http(text("ok", 200, { "keep-alive": "timeout=1" }))
      const policy = under({ allow: [server.host] })
      yield* fetch(server.url).pipe(policy)
      const [socket] = [...server.sockets]
      yield* Effect.promise(() => once(socket!, "close"))
      assert.strictEqual(server.sockets.size, 0)
    }),
  )
})
