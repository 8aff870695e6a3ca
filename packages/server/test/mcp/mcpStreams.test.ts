/** What is told while a call runs, who may come back for it, and who hears of changes: in both eras, over real sockets. */
import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import type { JsonObject } from "../../src/doors/mcp/desk/Desk.ts"
import { MCPDoor } from "../../src/doors/mcp/MCPDoor.ts"
import { ExtraToolsets, type Toolset } from "../../src/toolsets/Toolsets.ts"
import { type Line, nothing, say, tool } from "../conformance/fixture.ts"
import { conformance } from "../conformance/toolset.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { envelope, initialized, newRequest, oldRequest, opened, type Stream } from "./mcpKit.ts"

/** A tool that does what the test says when it says so: no sleeps. */
const held = {
  begun: Deferred.makeUnsafe<Line>(),
  go: Deferred.makeUnsafe<void>(),
  ended: Deferred.makeUnsafe<string>(),
}
const renew = Effect.sync(() => {
  held.begun = Deferred.makeUnsafe()
  held.go = Deferred.makeUnsafe()
  held.ended = Deferred.makeUnsafe()
})
const holding: Toolset = {
  name: "holding",
  tools: [
    tool("hold", nothing, (_, line) =>
      Effect.suspend(() => {
        const { begun, ended, go } = held
        Deferred.doneUnsafe(begun, Effect.succeed(line))
        return Deferred.await(go).pipe(
          Effect.as(say("let go")),
          Effect.onExit((exit) => Effect.sync(() => Deferred.doneUnsafe(ended, Effect.succeed(exit._tag)))),
        )
      }),
    ),
  ],
  contents: {
    prompts: {
      list: Effect.succeed([{ name: "break" }]),
      get: () => Effect.die(new Error("broken, with a secret in it")),
    },
  },
}
const faces = Layer.succeed(ExtraToolsets, [conformance, Effect.succeed(holding)])
const Test = house({ store: "sqlite", config: roomy }).pipe(Layer.provide(faces))

const K = "io.modelcontextprotocol/"
const next = (stream: Stream) => ask(() => stream.next())

const subject = Effect.gen(function* () {
  const { adminToken: token, url } = yield* Guest
  return { token, at: `${url}/mcp/conformance`, holding: `${url}/mcp/holding` }
})

layer(Test, { timeout: 60_000, excludeTestServices: true })("mcp streams", (it) => {
  it.effect("progress and log come ahead of the answer, on its stream, in both eras", () =>
    Effect.gen(function* () {
      const { at, token } = yield* subject
      const session = yield* ask(() => initialized(at, token))
      const meta = { progressToken: 0, [`${K}logLevel`]: "info" }
      const old = yield* ask(() =>
        opened(at, token, session, "tools/call", { name: "test_tool_with_progress", _meta: meta }),
      )
      const first = yield* next(old)
      assert.deepStrictEqual([first.id !== undefined, first.data], [true, undefined])
      for (const progress of [0, 50, 100]) {
        const { data } = yield* next(old)
        assert.deepStrictEqual(data?.["params"], {
          progressToken: 0,
          progress,
          total: 100,
          message: `Completed step ${progress} of 100`,
        })
      }
      assert.property((yield* next(old)).data, "result")
      const now = yield* ask(() =>
        newRequest(at, token, "tools/call", { name: "test_logging_tool" }, { meta: { [`${K}logLevel`]: "info" } }),
      )
      assert.include(now.text, "notifications/message")
      assert.notInclude(now.text, "id: ")
      const quiet = yield* ask(() => newRequest(at, token, "tools/call", { name: "test_logging_tool" }))
      assert.notInclude(quiet.text, "notifications/message")
      yield* ask(() => oldRequest(at, token, "logging/setLevel", { level: "error" }, session))
      const silent = yield* ask(() => oldRequest(at, token, "tools/call", { name: "test_logging_tool" }, session))
      assert.notInclude(silent.text, "notifications/message")
    }),
  )

  it.effect("an old client is asked on its stream and answers with a message of its own", () =>
    Effect.gen(function* () {
      const { at, token } = yield* subject
      const session = yield* ask(() => initialized(at, token, { elicitation: {} }))
      const params = { name: "test_elicitation", arguments: { message: "Who?" } }
      const stream = yield* ask(() => opened(at, token, session, "tools/call", params))
      yield* next(stream)
      const question = (yield* next(stream)).data!
      assert.strictEqual(question["method"], "elicitation/create")
      const answer = { action: "accept", content: { username: "ann", email: "a@example.test" } }
      const bystander = yield* ask(() => initialized(at, token, { elicitation: {} }))
      const say = (to: string, result: object) =>
        ask(() => opened.post(at, token, { jsonrpc: "2.0", id: question["id"], result }, { "mcp-session-id": to }))
      assert.strictEqual((yield* say(bystander, { action: "decline" })).status, 202)
      assert.strictEqual((yield* say(session, answer)).status, 202)
      const { result } = (yield* next(stream)).data as { readonly result: JsonObject }
      assert.include(JSON.stringify(result), "a@example.test")
      const without = yield* ask(() => initialized(at, token))
      // A form can be filled in by people, too; a model is the client's alone.
      const parked = yield* ask(() => oldRequest(at, token, "tools/call", params, without))
      assert.strictEqual(parked.body.result.structuredContent.state, "waiting")
      const sampling = { name: "test_sampling", arguments: { prompt: "Well?" } }
      const refused = yield* ask(() => oldRequest(at, token, "tools/call", sampling, without))
      assert.strictEqual(refused.body.result.isError, true)
      assert.include(refused.body.result.content[0].text, "sampling")
    }),
  )

  it.effect("an old client that hangs up comes back for the result, of its own stream alone", () =>
    Effect.gen(function* () {
      yield* renew
      const { holding: at, token } = yield* subject
      const session = yield* ask(() => initialized(at, token))
      const meta = { progressToken: "p" }
      const tellOne = async () => {
        const line = await Effect.runPromise(Deferred.await(held.begun))
        await Effect.runPromise(line.progress(1))
      }
      const stream = yield* ask(() =>
        opened(at, token, session, "tools/call", { name: "hold", _meta: meta }, {}, tellOne),
      )
      const line = yield* Deferred.await(held.begun)
      yield* next(stream)
      const { id } = yield* next(stream)
      yield* ask(() => stream.close())
      yield* line.progress(2)
      const resumed = yield* ask(() => opened.get(at, token, { "mcp-session-id": session, "last-event-id": id! }))
      assert.deepStrictEqual((yield* next(resumed)).data?.["params"], { progressToken: "p", progress: 2 })
      yield* Deferred.succeed(held.go, undefined)
      assert.include(JSON.stringify((yield* next(resumed)).data), "let go")
      assert.strictEqual(yield* Deferred.await(held.ended), "Success")
      const stranger = yield* ask(() => initialized(at, token))
      const other = yield* ask(() => opened.get(at, token, { "mcp-session-id": stranger, "last-event-id": id! }))
      assert.strictEqual(other.status, 400)
    }),
  )

  it.effect("hanging up cancels in the new era; a notification does in the old one, and only in its session", () =>
    Effect.gen(function* () {
      const { holding: at, token } = yield* subject
      yield* renew
      const meta = { ...envelope(), progressToken: 1 }
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "hold" }
      const stream = yield* ask(() =>
        opened(at, token, undefined, "tools/call", { name: "hold", _meta: meta }, headers, async () => {
          const line = await Effect.runPromise(Deferred.await(held.begun))
          await Effect.runPromise(line.progress(1))
        }),
      )
      yield* next(stream)
      yield* ask(() => stream.close())
      assert.strictEqual(yield* Deferred.await(held.ended), "Failure")

      yield* renew
      const session = yield* ask(() => initialized(at, token))
      const other = yield* ask(() => initialized(at, token))
      const waiting = yield* Effect.forkChild(
        ask(() =>
          opened.post(
            at,
            token,
            { jsonrpc: "2.0", id: 0, method: "tools/call", params: { name: "hold" } },
            { "mcp-session-id": session },
          ),
        ),
      )
      yield* Deferred.await(held.begun)
      const cancel = (id: string) =>
        ask(() =>
          opened.post(
            at,
            token,
            { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 0 } },
            { "mcp-session-id": id },
          ),
        )
      yield* cancel(other)
      assert.isFalse(Deferred.isDoneUnsafe(held.ended))
      yield* cancel(session)
      assert.strictEqual(yield* Deferred.await(held.ended), "Failure")
      // Silence: the stream ends, and there was no answer on it.
      assert.strictEqual((yield* Fiber.join(waiting)).text, "")
    }),
  )

  it.effect("S3-77 an exception is -32603 with an id for the log, and nothing of what broke", () =>
    Effect.gen(function* () {
      const { holding: at, token } = yield* subject
      for (const { body, status, text } of [
        yield* ask(() => oldRequest(at, token, "prompts/get", { name: "break" })),
        yield* ask(() => newRequest(at, token, "prompts/get", { name: "break" })),
      ]) {
        assert.deepStrictEqual([status, body.error.code], [200, -32603])
        assert.match(body.error.data.correlationId, /^[0-9a-f]{32}$/)
        assert.notInclude(text, "secret")
      }
    }),
  )

  it.effect("X-40 a stream ends with the token it was opened with", () =>
    Effect.gen(function* () {
      const { at } = yield* subject
      const { admin } = yield* Guest
      const { id, token } = yield* ask(() => admin.tokens.add({ principal: "admin" }))
      const session = yield* ask(() => initialized(at, token))
      const standing = yield* ask(() => opened.get(at, token, { "mcp-session-id": session }))
      yield* next(standing)
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" }
      const params = { notifications: { toolsListChanged: true }, _meta: envelope() }
      const listening = yield* ask(() => opened(at, token, undefined, "subscriptions/listen", params, headers))
      yield* next(listening)
      yield* ask(() => admin.tokens.revoke(id))
      assert.isTrue(yield* ask(() => standing.ended()))
      assert.property((yield* next(listening)).data, "result")
      assert.isTrue(yield* ask(() => listening.ended()))
    }),
  )

  it.effect("a closing house ends what only listens with its result, and lets a call that runs finish", () =>
    Effect.gen(function* () {
      yield* renew
      const scope = yield* Scope.make()
      const other = yield* Layer.buildWithScope(Layer.fresh(Test), scope)
      const { adminToken, url } = Context.get(other, Guest)
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" }
      const params = { notifications: { toolsListChanged: true }, _meta: envelope() }
      const at = `${url}/mcp/holding`
      const listening = yield* ask(() => opened(at, adminToken, undefined, "subscriptions/listen", params, headers))
      yield* next(listening)
      const running = yield* Effect.forkChild(ask(() => oldRequest(at, adminToken, "tools/call", { name: "hold" })))
      yield* Deferred.await(held.begun)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      assert.property((yield* next(listening)).data, "result")
      assert.isTrue(yield* ask(() => listening.ended()))
      assert.strictEqual((yield* ask(() => oldRequest(at, adminToken, "ping"))).status, 503)
      yield* Deferred.succeed(held.go, undefined)
      assert.strictEqual((yield* Fiber.join(running)).body.result.content[0].text, "let go")
      yield* Fiber.join(closing)
    }),
  )

  it.effect("who listens hears what it asked for, tagged with its request; a standing stream hears of lists", () =>
    Effect.gen(function* () {
      const { at, token } = yield* subject
      const door = yield* MCPDoor
      const session = yield* ask(() => initialized(at, token))
      const standing = yield* ask(() => opened.get(at, token, { "mcp-session-id": session }))
      yield* next(standing)
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" }
      const listen = (notifications: object) =>
        ask(() => opened(at, token, undefined, "subscriptions/listen", { notifications, _meta: envelope() }, headers))
      const tools = yield* listen({ toolsListChanged: true })
      const ack = (yield* next(tools)).data as { readonly method: string; readonly params: JsonObject }
      assert.strictEqual(ack.method, "notifications/subscriptions/acknowledged")
      assert.deepStrictEqual(ack.params["notifications"], { toolsListChanged: true })
      const tag = ack.params["_meta"] as JsonObject
      const nothing = yield* listen({})
      yield* next(nothing)
      assert.property((yield* next(nothing)).data, "result")
      assert.strictEqual(door.streams(), 2)
      yield* ask(() => newRequest(at, token, "tools/call", { name: "test_trigger_prompt_change" }))
      yield* ask(() => newRequest(at, token, "tools/call", { name: "test_trigger_tool_change" }))
      assert.deepStrictEqual((yield* next(tools)).data, {
        jsonrpc: "2.0",
        method: "notifications/tools/list_changed",
        params: { _meta: tag },
      })
      assert.strictEqual((yield* next(standing)).data?.["method"], "notifications/prompts/list_changed")
      assert.strictEqual((yield* next(standing)).data?.["method"], "notifications/tools/list_changed")
      const ended = yield* ask(() =>
        fetch(at, { method: "DELETE", headers: { authorization: `Bearer ${token}`, "mcp-session-id": session } }),
      )
      assert.strictEqual(ended.status, 204)
      assert.isTrue(yield* ask(() => standing.ended()))
      assert.strictEqual((yield* ask(() => oldRequest(at, token, "ping", {}, session))).status, 404)
      yield* ask(() => tools.close())
    }),
  )
})
