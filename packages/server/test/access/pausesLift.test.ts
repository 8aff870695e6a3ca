/** After the kill switch was lifted from a server: what it had is there at once, and a call waits until the server is. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { databases } from "../../../../test/long.ts"
import { admin, callTool, request, told } from "../calls/callsKit.ts"
import { Fixtures, scene, until } from "../proxied/proxiedKit.ts"
import { ask, house, roomy } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { changing, everything } from "../servers/serversKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }] }

const pause = Effect.fnUntraced(function* (server: string) {
  const subject = `servers/${server}`
  assert.strictEqual((yield* request(yield* admin, "POST", "/pauses", { subject })).status, 201)
})
const lift = Effect.fnUntraced(function* (server: string) {
  assert.strictEqual((yield* request(yield* admin, "DELETE", `/pauses/servers%2F${server}`)).status, 204)
})
const added = Effect.fnUntraced(function* (server: object) {
  const name = fresh("srv")
  const made = yield* request(yield* admin, "POST", "/mcp-servers", { name, ...server })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return name
})
const toolsOf = (name: string) =>
  Effect.gen(function* () {
    const { tools } = (yield* request(yield* admin, "GET", `/mcp-servers/${name}`)).body as { tools: Array<string> }
    return tools
  })
const listed = (url: string, token: string, method: string) =>
  Effect.map(
    ask(() => newRequest(url, token, method)),
    ({ body }) => body.result as Record<string, ReadonlyArray<unknown>>,
  )

for (const store of databases)
  layer(house({ store, config }).pipe(Layer.provideMerge(Fixtures.layer)), {
    excludeTestServices: true,
    timeout: 60_000,
  })(`a lifted pause on ${store}`, (it) => {
    it.effect("G-12 a program's tools are listed and called as soon as the lift is acknowledged", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const name = yield* added(everything("stdio"))
        const before = yield* toolsOf(name)
        for (let round = 0; round < 2; round++) {
          yield* pause(name)
          // Lifted at once in one round, and when its tools have gone in the other.
          if (round === 1) yield* until(() => Effect.map(toolsOf(name), (tools) => tools.length === 0))
          yield* lift(name)
          assert.deepStrictEqual(yield* toolsOf(name), before)
          const echo = yield* callTool(bot, `${name}%2Fecho`, { input: { message: "hi" } })
          assert.deepStrictEqual([echo.status, told(echo).state], [200, "done"], JSON.stringify(echo.body))
        }
        yield* request(yield* admin, "DELETE", `/mcp-servers/${name}`)
      }),
    )

    it.effect("G-12 over MCP everything is listed as it was, and read, as soon as the lift is acknowledged", () =>
      Effect.gen(function* () {
        const { name, token, url } = yield* scene("new")
        for (const place of [`${url}/mcp`, `${url}/mcp/servers/${name}`]) {
          const methods = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
          const all = Effect.forEach(methods, (method) => listed(place, token, method))
          const before = yield* all
          yield* pause(name)
          yield* until(() => Effect.map(toolsOf(name), (tools) => tools.length === 0))
          yield* lift(name)
          assert.deepStrictEqual(yield* all, before)
          yield* pause(name)
          yield* until(() => Effect.map(toolsOf(name), (tools) => tools.length === 0))
          yield* lift(name)
          const own = "test://static-text"
          const uri = place.endsWith("/mcp") ? `stoa-mcp://${name}/${own}` : own
          const { body } = yield* ask(() => newRequest(place, token, "resources/read", { uri }))
          assert.isDefined(body.result, JSON.stringify(body))
        }
      }),
    )

    it.effect(
      "G-12 a server that was paused before it was ever reached has its tools when the lift is acknowledged",
      () =>
        Effect.gen(function* () {
          const name = fresh("srv")
          // What nobody has cannot be paused; a pause may still be older than its server, which came back.
          const declared = { name, ...everything("stdio") }
          yield* request(yield* admin, "POST", "/mcp-servers", declared)
          yield* pause(name)
          yield* request(yield* admin, "DELETE", `/mcp-servers/${name}`)
          yield* request(yield* admin, "POST", "/mcp-servers", declared)
          assert.deepStrictEqual(yield* toolsOf(name), [])
          yield* lift(name)
          assert.include(yield* toolsOf(name), "echo")
          yield* request(yield* admin, "DELETE", `/mcp-servers/${name}`)
        }),
    )

    it.effect("G-12 a tool that has changed while its server was paused is not called before somebody has looked", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const server = changing({ say: "says something" })
        const name = yield* added(server.spec)
        assert.strictEqual((yield* callTool(bot, `${name}%2Fsay`, { input: {} })).status, 200)
        yield* pause(name)
        yield* until(() => Effect.map(toolsOf(name), (tools) => tools.length === 0))
        server.write({ say: "wipes everything" })
        yield* lift(name)
        const call = told(yield* callTool(bot, `${name}%2Fsay`, { input: {} }))
        assert.strictEqual(call.state, "failed")
        assert.match(call.error?.message ?? "", /the tool waits for review/)
        yield* request(yield* admin, "DELETE", `/mcp-servers/${name}`)
      }),
    )

    if (store === "sqlite")
      it.effect("G-12 a call is not kept waiting for ever: the server is starting, and it may be tried again", () =>
        Effect.gen(function* () {
          const { name, server, token, url } = yield* scene("new")
          yield* pause(name)
          yield* until(() => Effect.map(toolsOf(name), (tools) => tools.length === 0))
          server.hangs = true
          yield* lift(name)
          const place = `${url}/mcp/servers/${name}`
          const [called, read] = yield* Effect.all(
            [
              ask(() => newRequest(place, token, "tools/call", { name: "test_simple_text", arguments: {} })),
              ask(() => newRequest(place, token, "resources/read", { uri: "test://static-text" })),
            ],
            { concurrency: "unbounded" },
          )
          const starting = /is starting\. Try again in a moment/
          assert.isTrue(called.body.result.isError)
          assert.match(JSON.stringify(called.body.result), starting)
          assert.match(read.body.error.message, starting)
        }),
      )
  })
