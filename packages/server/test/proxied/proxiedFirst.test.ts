/** A server's question that its client and the people of the house are asked at once: whoever is first has answered it. */
import { assert, layer } from "@effect/vitest"
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { Fixtures, joined, oldClient, scene, until } from "./proxiedKit.ts"
import { asking, form, served, text } from "./proxiedServer.ts"
import { initialized, newRequest, opened } from "../mcp/mcpKit.ts"

const Test = house({ store: "sqlite", config: { ...roomy, agents: [{ name: "ada" }] } }).pipe(
  Layer.provideMerge(Fixtures.layer),
)

const eras = ["old", "new"] as const
const elicitation = { elicitation: {} }
const person = { username: "person", email: "p@example.org" }
const theirs = `User response: action=accept, content=${JSON.stringify(person)}`
const params = { name: "test_elicitation", arguments: { message: "Who?" } }
const textOf = (result: unknown): string =>
  (result as { readonly content: ReadonlyArray<{ readonly text: string }> }).content[0]!.text

/** The one open question about a tool of this server, once it is there. */
const openOf = Effect.fnUntraced(function* (server: string) {
  const { admin } = yield* Guest
  const find = Effect.map(
    ask(() => admin.decisions.list({ state: "open", limit: 100 })),
    ({ items }) => items.filter((one) => one.call?.tool.startsWith(`${server}/`)),
  )
  yield* until(() => Effect.map(find, (all) => all.length > 0))
  const [one, ...others] = yield* find
  assert.deepStrictEqual(others, [])
  return one!
})
const answered = Effect.fnUntraced(function* (server: string, value: Record<string, string>) {
  const { admin } = yield* Guest
  const { id } = yield* openOf(server)
  yield* ask(() => admin.decisions.answer(id, { verdict: "submit", value }))
})

layer(Test, { excludeTestServices: true, timeout: 60_000 })("whoever answers first", (it) => {
  for (const serverEra of eras) {
    it.effect(
      `old client, ${serverEra} server: a person is first, the form is taken back and the result is there at once`,
      () =>
        Effect.gen(function* () {
          const { admin, name, place, token } = yield* scene(serverEra)
          const shown = yield* Deferred.make<void>()
          const withdrawn = yield* Deferred.make<void>()
          const it = yield* oldClient(place, token, elicitation, (one) =>
            one.setRequestHandler(
              ElicitRequestSchema,
              (_, { signal }) =>
                new Promise((resolve) => {
                  Deferred.doneUnsafe(shown, Effect.void)
                  // Nobody ever fills it in.
                  signal.addEventListener("abort", () => {
                    Deferred.doneUnsafe(withdrawn, Effect.void)
                    resolve({ action: "cancel" })
                  })
                }),
            ),
          )
          const calling = yield* Effect.forkScoped(ask(() => it.callTool(params)))
          yield* Deferred.await(shown)
          yield* answered(name, person)
          assert.strictEqual(textOf(yield* Fiber.join(calling)), theirs)
          yield* Deferred.await(withdrawn)
          const { items } = yield* ask(() => admin.calls.list({ tool: `${name}/${params.name}` }))
          assert.deepStrictEqual(
            items.map(({ state }) => state),
            ["done"],
          )
        }),
    )

    it.effect(`on the wire, ${serverEra} server: the question, its withdrawal by its id, the result, and no more`, () =>
      Effect.gen(function* () {
        const { name, place, token } = yield* scene(serverEra)
        const session = yield* ask(() => initialized(place, token, elicitation))
        const stream = yield* ask(() => opened(place, token, session, "tools/call", params))
        assert.isUndefined((yield* ask(() => stream.next())).data)
        const question = (yield* ask(() => stream.next())).data!
        assert.strictEqual(question["method"], "elicitation/create")
        yield* answered(name, person)
        const back = (yield* ask(() => stream.next())).data!
        assert.strictEqual(back["method"], "notifications/cancelled")
        assert.deepInclude(back["params"], { requestId: question["id"] })
        const last = (yield* ask(() => stream.next())).data!
        assert.strictEqual(textOf(last["result"]), theirs)
        assert.isTrue(yield* ask(() => stream.ended()))
        // An answer that comes all the same is nobody's.
        const late = { jsonrpc: "2.0", id: question["id"], result: { action: "decline" } }
        const heard = yield* ask(() => opened.post(place, token, late, { "mcp-session-id": session }))
        assert.strictEqual(heard.status, 202)
      }),
    )

    it.effect(`old client, ${serverEra} server: what it cancels while it is asked is canceled, question and call`, () =>
      Effect.gen(function* () {
        const { admin, name, place, server, token } = yield* scene(serverEra)
        const session = yield* ask(() => initialized(place, token, elicitation))
        const stream = yield* ask(() => opened(place, token, session, "tools/call", params))
        yield* ask(() => stream.next())
        assert.strictEqual((yield* ask(() => stream.next())).data!["method"], "elicitation/create")
        const { call, id } = yield* openOf(name)
        const one = (yield* ask(() => admin.calls.get(call!.id))).state
        assert.strictEqual(one, "waiting")
        const sent = opened.sent()
        const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: sent } }
        yield* ask(() => opened.post(place, token, cancel, { "mcp-session-id": session }))
        yield* until(() =>
          Effect.map(
            ask(() => admin.calls.get(call!.id)),
            ({ state }) => state === "canceled",
          ),
        )
        assert.strictEqual((yield* ask(() => admin.decisions.get(id))).state, "canceled")
        // The old server waits on its stream, and is told; the new one has ended long ago.
        if (serverEra === "old")
          yield* until(() => server.heard.some(({ body }) => body.method === "notifications/cancelled"))
      }),
    )

    it.effect(
      `new client, ${serverEra} server: answered meanwhile, it goes on whatever the client comes back with`,
      () =>
        Effect.gen(function* () {
          for (const said of [
            { action: "decline" },
            { action: "cancel" },
            { action: "accept", content: { username: "me", email: "me@example.org" } },
            { action: "nonsense" },
            undefined,
          ]) {
            const { name, place, token } = yield* scene(serverEra)
            const call = (more: object) =>
              ask(() => newRequest(place, token, "tools/call", { ...params, ...more }, { capabilities: elicitation }))
            const first = (yield* call({})).body.result
            assert.strictEqual(first.resultType, "input_required")
            const [key] = Object.keys(first.inputRequests as object)
            yield* answered(name, person)
            const { requestState } = first
            const again = yield* call({
              requestState,
              ...(said === undefined ? {} : { inputResponses: { [key!]: said, other: { action: "accept" } } }),
            })
            assert.strictEqual(textOf(again.body.result), theirs, JSON.stringify(said))
          }
        }),
    )
  }

  it.effect("what the client has answered by then counts, and only the rest was a person's", () =>
    Effect.gen(function* () {
      const { name, place, token } = yield* scene("new")
      const heard: Array<string> = []
      const shown = yield* Deferred.make<void>()
      const it = yield* oldClient(place, token, { elicitation: {}, sampling: {}, roots: {} }, (one) => {
        one.setRequestHandler(ElicitRequestSchema, () => {
          Deferred.doneUnsafe(shown, Effect.void)
          return new Promise<never>(() => {})
        })
        one.setRequestHandler(CreateMessageRequestSchema, () => {
          heard.push("sampling")
          return { role: "assistant", content: { type: "text", text: "Good day" }, model: "m" }
        })
        one.setRequestHandler(ListRootsRequestSchema, () => {
          heard.push("roots")
          return { roots: [] }
        })
      })
      const calling = yield* Effect.forkScoped(
        ask(() => it.callTool({ name: "test_input_required_result_multiple_inputs", arguments: {} })),
      )
      yield* Deferred.await(shown)
      yield* until(() => heard.length === 2)
      // The last answer has reached the house when the client has an answer to something it asked after it.
      yield* ask(() => it.ping())
      yield* answered(name, { name: "Ada" })
      assert.strictEqual(textOf(yield* Fiber.join(calling)), "All three are here")
      assert.deepStrictEqual(heard.toSorted(), ["roots", "sampling"])
    }),
  )

  it.effect("an answer to a question that is over is no answer to the next one of the same name", () =>
    Effect.gen(function* () {
      const server = yield* served("new", {
        twice: ({ params: { inputResponses, requestState } }) => {
          const before = requestState === undefined ? [] : (JSON.parse(requestState as string) as ReadonlyArray<string>)
          const word = requestState === undefined ? undefined : (inputResponses.word.content.word as string)
          const all = word === undefined ? before : [...before, word]
          return all.length === 2
            ? text(all.join(" "))
            : asking({ word: form(`Word ${all.length + 1}?`, "word") }, JSON.stringify(all))
        },
      })
      const { name, place, token } = yield* joined(server.url)
      const call = (more: object) =>
        ask(() =>
          newRequest(
            place,
            token,
            "tools/call",
            { name: "twice", arguments: {}, ...more },
            { capabilities: elicitation },
          ),
        )
      const answer = (word: string) => ({ inputResponses: { word: { action: "accept", content: { word } } } })
      const first = (yield* call({})).body.result
      const { id } = yield* openOf(name)
      yield* answered(name, { word: "person" })
      yield* until(() => Effect.map(openOf(name), (now) => now.id !== id))
      const second = (yield* call({ requestState: first.requestState, ...answer("stale") })).body.result
      assert.strictEqual(second.resultType, "input_required")
      assert.strictEqual(second.inputRequests.word.params.message, "Word 2?")
      const done = yield* call({ requestState: second.requestState, ...answer("client") })
      assert.strictEqual(textOf(done.body.result), "person client")
    }),
  )
})
