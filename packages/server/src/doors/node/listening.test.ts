import { createServer as createHttp, get } from "node:http"
import { type AddressInfo, connect, createServer, type Server } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { listen } from "./listening.ts"

const host = "127.0.0.1"
const turn = () => new Promise<void>((go) => setImmediate(go))
const close = (all: ReadonlyArray<Server>) =>
  Effect.promise(() => Promise.all(all.map((one) => new Promise((done) => one.close(done)))))
const portOf = (server: Server) => (server.address() as AddressInfo).port

describe("listening", () => {
  it.live("many who come at once are let in within a few turns of the event loop, not one a turn", () =>
    Effect.gen(function* () {
      const server = createHttp()
      const all = yield* listen(server, { host, port: 0 })
      let letIn = 0
      server.on("connection", (socket) => {
        letIn++
        socket.on("error", () => {})
      })
      const many = 64
      const sockets = Array.from({ length: many }, () => connect(portOf(server), host))
      for (const socket of sockets) socket.on("error", () => {})
      // The kernel connects them while the loop stands still, as it does in a long turn.
      yield* Effect.promise(turn)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
      // Sixteen sockets share them as chance has it; one socket alone would need a turn for each.
      const most = process.platform === "linux" ? many / 2 : many
      for (let turns = 0; turns <= most; turns++) yield* Effect.promise(turn)
      assert.strictEqual(letIn, many)
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      yield* close(all)
    }),
  )

  it.live("whoever is let in by any of the sockets is answered by the one server", () =>
    Effect.gen(function* () {
      const server = createHttp((_, response) => response.end("here"))
      const all = yield* listen(server, { host, port: 0 })
      const one = () =>
        new Promise<string>((done, fail) => {
          get({ host, port: portOf(server), agent: false }, (response) => {
            let text = ""
            response.on("data", (chunk: Buffer) => (text += chunk.toString()))
            response.on("end", () => done(text))
          }).on("error", fail)
        })
      const answers = yield* Effect.promise(() => Promise.all(Array.from({ length: 40 }, one)))
      assert.deepStrictEqual(new Set(answers), new Set(["here"]))
      yield* close(all)
      // Nobody listens any more, not one of the sockets.
      for (let tries = 0; tries < 40; tries++) assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(one))))
    }),
  )

  it.live("a port that somebody has is refused, whether they share it or not", () =>
    Effect.gen(function* () {
      const first = createHttp()
      const all = yield* listen(first, { host, port: 0 })
      const taken = yield* Effect.flip(listen(createHttp(), { host, port: portOf(first) }))
      assert.include(taken.message, "is taken")
      yield* close(all)
      const alone = createServer()
      yield* Effect.promise(() => new Promise<void>((done) => alone.listen({ host, port: 0 }, done)))
      const refused = yield* Effect.flip(listen(createHttp(), { host, port: portOf(alone) }))
      assert.include(refused.message, "STOA_PORT")
      yield* close([alone])
      // What was let go of can be had again.
      yield* close(yield* listen(createHttp(), { host, port: portOf0(taken.message) }))
    }),
  )
})

const portOf0 = (message: string): number => Number(/Port (\d+)/.exec(message)![1])
