/** A paused MCP server with two houses on one Postgres: no house is connected to it, and after the lift each is again. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../../proxied/proxiedKit.ts"
import { send, token } from "../../killedHouse.ts"
import { alive, raw } from "../../servers/serversKit.ts"
import { cluster, open, type Open } from "./housesKit.ts"

it.live(
  "G-12 each house of a cluster disconnects from a paused server, and connects again when the pause is lifted",
  () =>
    Effect.gen(function* () {
      const on = yield* cluster
      const server = raw()
      const [first, second] = [yield* open(on), yield* open(on)]
      const admin = (house: Open, method: string, path: string, body?: object) =>
        send(house.url, token, method, path, body)
      const statusAt = (house: Open) =>
        Effect.map(admin(house, "GET", "/mcp-servers/files"), ({ body }) => [
          body["status"],
          (body["tools"] as ReadonlyArray<string> | undefined)?.length,
        ])
      const isAt = (house: Open, status: string) => until(() => Effect.map(statusAt(house), ([now]) => now === status))
      const pause = Effect.map(admin(first, "POST", "/pauses", { subject: "servers/files" }), ({ status }) =>
        assert.strictEqual(status, 201),
      )
      const lift = (house: Open) =>
        Effect.map(admin(house, "DELETE", "/pauses/servers%2Ffiles"), ({ status }) => assert.strictEqual(status, 204))

      assert.strictEqual((yield* admin(first, "POST", "/mcp-servers", { name: "files", ...server.spec })).status, 201)
      yield* Effect.forEach([first, second], (house) => isAt(house, "connected"))
      assert.lengthOf(server.pids().filter(alive), 2)

      // A call that runs in either house is canceled, not failed, although its server goes.
      const hanging = yield* Effect.forEach([first, second], (house) =>
        admin(house, "POST", "/tools/files%2Fhang/call", { wait: 0 }),
      )
      const running = hanging.map(({ body }) => body["id"] as string)
      yield* pause
      yield* Effect.forEach([first, second], (house) => isAt(house, "disconnected"))
      yield* until(() => !server.pids().some(alive))
      for (const house of [first, second]) assert.deepStrictEqual(yield* statusAt(house), ["disconnected", 0])
      for (const id of running)
        assert.strictEqual((yield* admin(first, "GET", `/calls/${id}`)).body["state"], "canceled")
      // Lifted in the house that did not set it, or that does not read pauses for both.
      yield* lift(second)
      yield* Effect.forEach([first, second], (house) => isAt(house, "connected"))

      yield* pause
      yield* isAt(first, "disconnected")
      yield* second.child.kill
      const third = yield* open(on)
      assert.deepStrictEqual(yield* statusAt(third), ["disconnected", 0])
      yield* lift(first)
      yield* Effect.forEach([first, third], (house) => isAt(house, "connected"))
      for (const { child } of [first, third]) yield* child.kill
    }),
  60_000,
)
