/** The house stops while a server's question waits: what was held is lost and never run again, what was not goes on. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ask, Guest, house, roomy } from "../house.ts"
import { behind, Fixtures, oldClient, until } from "./proxiedKit.ts"
import { asking, form, made, served, taskIs, text } from "./proxiedServer.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { tempDatabase } from "../stores.ts"

const config = { ...roomy, agents: [{ name: "ada" }] }
const keys = { STOA_ADMIN_TOKEN: "an-admin-token-of-tests", STOA_SECRET_KEY: "a-secret-key-of-tests-that-is-long" }

/** A house on this database: each build is a start, and the end of its scope a stop. */
const start = (url: Redacted.Redacted, scope: Scope.Scope) =>
  Effect.map(
    Layer.buildWithScope(
      house({ store: "sqlite", config, env: { ...keys, DATABASE_URL: Redacted.value(url) } }),
      scope,
    ),
    (context) => Context.get(context, Guest),
  )

const filled = { username: "ada", email: "ada@example.org" }
const textOf = (output: unknown) => (output as { content: ReadonlyArray<{ text: string }> }).content[0]!.text

for (const era of ["old", "new"] as const)
  it.effect(
    era === "old"
      ? "an old server's stream is gone with the house: failed, outcome unknown"
      : "a new server is asked again by the next house",
    () =>
      Effect.gen(function* () {
        const { url: database } = yield* tempDatabase
        // The server behind lives on while the house in front of it stops.
        const fixtures = Context.get(yield* Layer.build(Fixtures.layer), Fixtures)
        const server = yield* behind(fixtures.url, era, fixtures.token)
        const first = yield* Scope.make()
        const one = yield* start(database, first)
        yield* ask(() => one.admin.mcpServers.add({ name: "asks", url: server.url }))
        const { token } = yield* ask(() => one.admin.tokens.add({ principal: "ada" }))
        const params = { name: "test_elicitation", arguments: { message: "Who?" } }
        const { body } = yield* ask(() => newRequest(`${one.url}/mcp/servers/asks`, token, "tools/call", params))
        const { call, decision } = body.result.structuredContent as { readonly call: string; readonly decision: string }
        const calls = () => server.heard.filter((it) => it.body.method === "tools/call").length
        assert.strictEqual(calls(), 1)
        yield* Scope.close(first, Exit.void)
        const second = yield* start(database, yield* Effect.scope)
        const after = yield* ask(() => second.admin.calls.get(call as never))
        if (era === "old") {
          assert.strictEqual(after.state, "failed")
          assert.match(after.error!.message, /not known/)
          const closed = yield* ask(() => second.admin.decisions.get(decision as never))
          assert.strictEqual(closed.state, "canceled")
          const late = yield* Effect.exit(
            ask(() => second.admin.decisions.answer(decision as never, { verdict: "submit", value: filled })),
          )
          assert.isTrue(Exit.isFailure(late))
          assert.strictEqual(calls(), 1)
        } else {
          assert.strictEqual(after.state, "waiting")
          yield* ask(() => second.admin.decisions.answer(decision as never, { verdict: "submit", value: filled }))
          const done = yield* ask(() => second.admin.calls.get(call as never, { wait: 20 }))
          assert.strictEqual(textOf(done.output), `User response: action=accept, content=${JSON.stringify(filled)}`)
          assert.strictEqual(calls(), 2)
        }
      }).pipe(Effect.scoped, TestClock.withLive),
    60_000,
  )

it.effect(
  "a server's task goes on while the house stops and starts: it is not cancelled, and its result is the call's",
  () =>
    Effect.gen(function* () {
      const { url: database } = yield* tempDatabase
      let ready = false
      const server = yield* served(
        "new",
        { job: () => made("t-1") },
        {
          "tasks/get": () => (ready ? taskIs("t-1", "completed", { result: text("made") }) : taskIs("t-1", "working")),
          "tasks/cancel": () => ({}),
        },
      )
      const first = yield* Scope.make()
      const one = yield* start(database, first)
      yield* ask(() => one.admin.mcpServers.add({ name: "works", url: server.url }))
      const { token } = yield* ask(() => one.admin.tokens.add({ principal: "ada" }))
      // A client of the old era has never heard of tasks: it holds the line, and goes away with the house.
      const client = yield* oldClient(`${one.url}/mcp/servers/works`, token)
      const called = yield* Effect.forkChild(Effect.exit(ask(() => client.callTool({ name: "job", arguments: {} }))))
      yield* until(() => server.sent("tasks/get").length > 1)
      const { items } = yield* ask(() => one.admin.calls.list({ limit: 1 }))
      yield* Scope.close(first, Exit.void)
      yield* Fiber.join(called)
      ready = true
      const second = yield* start(database, yield* Effect.scope)
      const done = yield* ask(() => second.admin.calls.get(items[0]!.id, { wait: 20 }))
      assert.deepStrictEqual([done.state, textOf(done.output)], ["done", "made"])
      assert.lengthOf(server.sent("tools/call"), 1)
      assert.lengthOf(server.sent("tasks/cancel"), 0)
    }).pipe(Effect.scoped, TestClock.withLive),
  60_000,
)

const word = (message: string) => ({ word: form(message, "word") })
const thought = (message: string) => ({
  word: {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: message } }], maxTokens: 10 },
  },
})
/** Two questions each, which differ in one thing only: the decision about them, the server's state, the words. */
const pairs = {
  again: [word("Word?"), word("Word?")],
  state: [thought("Word?"), thought("Word?")],
  words: [thought("First?"), thought("Second?")],
}

it.effect(
  "G-22 a state that a client has brought back is used up, also for the next house; the one after it is not",
  () =>
    Effect.gen(function* () {
      const { url: database } = yield* tempDatabase
      const said: Record<string, Array<string>> = { again: [], state: [], words: [] }
      type Said = { readonly content: { readonly word?: string; readonly text?: string } }
      const hear = (name: string, { word: { content } }: { readonly word: Said }) =>
        said[name]!.push(content.word ?? content.text!)
      const tools = ["again", "state", "words"] as const
      // Those that became tasks have the same state throughout.
      const server = yield* served(
        "new",
        {
          again: () => made("again"),
          words: () => made("words"),
          state: ({ params: { inputResponses } }) => {
            if (inputResponses !== undefined) hear("state", inputResponses)
            const question = pairs.state[said["state"]!.length]
            return question === undefined ? text(said["state"]!.join(" ")) : asking(question)
          },
        },
        {
          "tasks/get": ({ params: { taskId } }) => {
            const inputRequests = pairs[taskId as "again" | "words"][said[taskId]!.length]
            return inputRequests === undefined
              ? taskIs(taskId, "completed", { result: text(said[taskId]!.join(" ")) })
              : taskIs(taskId, "input_required", { inputRequests })
          },
          "tasks/update": ({ params: { inputResponses, taskId } }) => {
            hear(taskId, inputResponses)
            return {}
          },
        },
      )
      const first = yield* Scope.make()
      const one = yield* start(database, first)
      yield* ask(() => one.admin.mcpServers.add({ name: "asks", url: server.url }))
      const { token } = yield* ask(() => one.admin.tokens.add({ principal: "ada" }))
      const call = ({ url }: { readonly url: string }, name: string, state?: string, said = "") => {
        const answer =
          name === "again"
            ? { action: "accept", content: { word: said } }
            : { role: "assistant", content: { type: "text", text: said }, model: "m" }
        const more = state === undefined ? {} : { requestState: state, inputResponses: { word: answer } }
        const capabilities = { elicitation: {}, sampling: {} }
        return Effect.map(
          ask(() =>
            newRequest(
              `${url}/mcp/servers/asks`,
              token,
              "tools/call",
              { name, arguments: {}, ...more },
              { capabilities },
            ),
          ),
          ({ body }) => body,
        )
      }
      const given = yield* Effect.forEach(tools, (name) =>
        Effect.gen(function* () {
          const { requestState: used } = (yield* call(one, name)).result
          const { requestState: next } = (yield* call(one, name, used, "one")).result
          return { name, used, next }
        }),
      )
      yield* Scope.close(first, Exit.void)
      const second = yield* start(database, yield* Effect.scope)
      // It connects to its servers while it answers already.
      yield* until(() =>
        Effect.map(
          ask(() => second.admin.tools.list({ set: "upstream" })),
          ({ items }) => items.length === tools.length,
        ),
      )
      for (const { name, next, used } of given) {
        assert.include((yield* call(second, name, used, "stale")).error.message, "used before", name)
        assert.strictEqual(textOf((yield* call(second, name, next, "two")).result), "one two", name)
      }
    }).pipe(Effect.scoped, TestClock.withLive),
  60_000,
)
