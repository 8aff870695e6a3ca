/** The four cells: clients of both eras, servers of both eras, and a server that asks in the middle of a call. */
import { assert, layer } from "@effect/vitest"
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js"
import { Effect, Layer } from "effect"
import { ask, house, roomy } from "../house.ts"
import { Fixtures, newClient, oldClient, scene, until } from "./proxiedKit.ts"
import { newRequest } from "../mcp/mcpKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }, { name: "bob" }] }
const Test = house({ store: "sqlite", config }).pipe(Layer.provideMerge(Fixtures.layer))

const eras = ["old", "new"] as const
const filled = { username: "ada", email: "ada@example.org" }
const able = { elicitation: {}, sampling: {}, roots: {} }

interface Told {
  readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }>
  readonly structuredContent?: { readonly state?: string; readonly call?: string; readonly decision?: string }
  readonly isError?: boolean
}
const textOf = (result: unknown): string => (result as Told).content.map((one) => one.text).join("\n")

/** Any of the official clients, with a person before it who fills in forms, a model, and a folder. */
const clientOf = (era: "old" | "new", place: string, token: string, asked: Array<string>) => {
  const sampled = {
    role: "assistant",
    content: { type: "text", text: "Paris" },
    model: "m",
    stopReason: "endTurn",
  } as const
  const roots = { roots: [{ uri: "file:///tmp", name: "tmp" }] }
  const heard = <A>(method: string, answer: A): A => (asked.push(method), answer)
  return era === "old"
    ? oldClient(place, token, able, (it) => {
        it.setRequestHandler(ElicitRequestSchema, () =>
          heard("elicitation", { action: "accept" as const, content: filled }),
        )
        it.setRequestHandler(CreateMessageRequestSchema, () => heard("sampling", sampled))
        it.setRequestHandler(ListRootsRequestSchema, () => heard("roots", roots))
      })
    : newClient(place, token, able, (it) => {
        it.setRequestHandler("elicitation/create", () =>
          heard("elicitation", { action: "accept" as const, content: filled }),
        )
        it.setRequestHandler("sampling/createMessage", () => heard("sampling", sampled))
        it.setRequestHandler("roots/list", () => heard("roots", roots))
      })
}

interface Calling {
  readonly callTool: (params: { name: string; arguments: Record<string, unknown> }) => Promise<unknown>
}
const call = (client: unknown, name: string, given: Record<string, unknown> = {}) =>
  ask(() => (client as Calling).callTool({ name, arguments: given }))

const decisionOf = <D extends { readonly call: { readonly tool: string } | null }>(
  all: ReadonlyArray<D>,
  server: string,
) => all.filter((one) => one.call?.tool.startsWith(`${server}/`))

layer(Test, { excludeTestServices: true, timeout: 60_000 })("the four cells", (it) => {
  for (const client of eras)
    for (const serverEra of eras) {
      it.effect(
        `${client} client, ${serverEra} server: a form is filled in through the client, and the decision is closed`,
        () =>
          Effect.gen(function* () {
            const { admin, name, place, server, token } = yield* scene(serverEra)
            const asked: Array<string> = []
            const it = yield* clientOf(client, place, token, asked)
            const result = yield* call(it, "test_elicitation", { message: "Who?" })
            assert.strictEqual(textOf(result), `User response: action=accept, content=${JSON.stringify(filled)}`)
            assert.deepStrictEqual(asked, ["elicitation"])
            const { items } = yield* ask(() => admin.decisions.list({ limit: 100 }))
            const [decision, ...others] = decisionOf(items, name)
            assert.deepStrictEqual(others, [])
            assert.deepInclude(decision, {
              kind: "elicitation",
              state: "answered",
              verdict: "submit",
              question: "Who?",
              value: filled,
            })
            const called = server.heard.filter(({ body }) => body.method === "tools/call")
            // The old era is answered on its stream, the new one is asked again.
            assert.strictEqual(called.length, serverEra === "old" ? 1 : 2)
            for (const { body, headers } of called) {
              assert.notInclude(JSON.stringify(headers), token)
              assert.strictEqual(
                body.params._meta["stoa/idempotencyKey"],
                called[0]!.body.params._meta["stoa/idempotencyKey"],
              )
            }
          }),
      )

      it.effect(`${client} client, ${serverEra} server: its model and its folders are lent, where it has them`, () =>
        Effect.gen(function* () {
          const { place, token } = yield* scene(serverEra)
          const asked: Array<string> = []
          const it = yield* clientOf(client, place, token, asked)
          const sampled = yield* call(it, "test_sampling", { prompt: "Capital?" })
          assert.strictEqual(textOf(sampled), "LLM response: Paris")
          const listed = yield* call(it, "test_input_required_result_list_roots", {})
          assert.include(textOf(listed), "file:///tmp")
          assert.deepStrictEqual(asked, ["sampling", "roots"])
          const poor = yield* (client === "old" ? oldClient : newClient)(place, token)
          const refused = yield* Effect.exit(call(poor, "test_sampling", { prompt: "Capital?" }))
          const text = JSON.stringify(refused)
          assert.match(text, /isError|32021|capabilit/i)
        }),
      )

      it.effect(
        `${client} client, ${serverEra} server: without a client that could, a person of the house answers`,
        () =>
          Effect.gen(function* () {
            const { admin, name, place, token } = yield* scene(serverEra)
            const it = yield* (client === "old" ? oldClient : newClient)(place, token)
            const result = yield* call(it, "test_elicitation", { message: "Who?" })
            const { call: id, decision, state } = (result as Told).structuredContent!
            assert.strictEqual(state, "waiting")
            const { items } = yield* ask(() => admin.decisions.list({ state: "open", limit: 100 }))
            const [open] = decisionOf(items, name)
            assert.deepStrictEqual([open!.id, open!.kind, open!.question], [decision, "elicitation", "Who?"])
            assert.deepStrictEqual(Object.keys((open!.schema as { properties: object }).properties), [
              "username",
              "email",
            ])
            const wrong = yield* Effect.flip(
              ask(() => admin.decisions.answer(open!.id, { verdict: "submit", value: { username: 1 } })),
            )
            assert.deepInclude(wrong, { status: 400 })
            yield* ask(() => admin.decisions.answer(open!.id, { verdict: "submit", value: filled }))
            const done = yield* ask(() => admin.calls.get(id! as never, { wait: 10 }))
            assert.strictEqual(done.state, "done")
            assert.strictEqual(textOf(done.output), `User response: action=accept, content=${JSON.stringify(filled)}`)
          }),
      )
    }

  for (const serverEra of eras)
    it.effect(
      `new client, ${serverEra} server: the first answer counts, and a state is good once and for its owner`,
      () =>
        Effect.gen(function* () {
          const { admin, name, place, token } = yield* scene(serverEra)
          const capabilities = { elicitation: {} }
          const params = { name: "test_elicitation", arguments: { message: "Who?" } }
          const first = yield* ask(() => newRequest(place, token, "tools/call", params, { capabilities }))
          assert.strictEqual(first.body.result.resultType, "input_required")
          const [[key, request]] = Object.entries(first.body.result.inputRequests) as [
            [string, { readonly method: string }],
          ]
          assert.strictEqual(request.method, "elicitation/create")
          const { items } = yield* ask(() => admin.decisions.list({ state: "open", limit: 100 }))
          const [open] = decisionOf(items, name)
          const person = { username: "person", email: "p@example.org" }
          yield* ask(() => admin.decisions.answer(open!.id, { verdict: "submit", value: person }))
          const again = {
            ...params,
            requestState: first.body.result.requestState,
            inputResponses: { [key]: { action: "accept", content: filled } },
          }
          const { token: bob } = yield* ask(() => admin.tokens.add({ principal: "bob" }))
          const stolen = yield* ask(() => newRequest(place, bob, "tools/call", again, { capabilities }))
          assert.strictEqual(stolen.body.error.code, -32_602)
          const late = yield* ask(() => newRequest(place, token, "tools/call", again, { capabilities }))
          assert.strictEqual(
            textOf(late.body.result),
            `User response: action=accept, content=${JSON.stringify(person)}`,
          )
          const replayed = yield* ask(() => newRequest(place, token, "tools/call", again, { capabilities }))
          assert.strictEqual(replayed.body.error.code, -32_602)
        }),
    )

  it.effect(
    "new client that knows tasks, old server: what asks only after a while is a task, and is answered there",
    () =>
      Effect.gen(function* () {
        const { place, token } = yield* scene("old")
        const capabilities = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
        const quick = { name: "test_elicitation", arguments: { message: "Who?" } }
        const first = yield* ask(() => newRequest(place, token, "tools/call", quick, { capabilities }))
        assert.strictEqual(first.body.result.resultType, "input_required")
        const params = { name: "confirm_delete", arguments: { filename: "notes.txt" } }
        const made = yield* ask(() => newRequest(place, token, "tools/call", params, { capabilities }))
        assert.strictEqual(made.body.result.resultType, "task")
        const { taskId } = made.body.result as { readonly taskId: string }
        const get = ask(() => newRequest(place, token, "tasks/get", { taskId }, { capabilities }))
        yield* until(() => Effect.map(get, ({ body }) => body.result.status === "input_required"))
        const shown = yield* get
        const [key] = Object.keys(shown.body.result.inputRequests as object)
        const inputResponses = { [key!]: { action: "accept", content: { confirm: true } } }
        yield* ask(() => newRequest(place, token, "tasks/update", { taskId, inputResponses }, { capabilities }))
        for (;;) {
          const { body } = yield* get
          if (body.result.status === "working") continue
          assert.strictEqual(body.result.status, "completed")
          assert.strictEqual(textOf(body.result.result), "Deleted")
          break
        }
      }),
  )
})
