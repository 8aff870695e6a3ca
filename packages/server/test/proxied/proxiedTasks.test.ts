/** Tasks as their clients see them: who listens hears of every change, and what is cancelled ends at the server too. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { joined, newClient, oldClient, until } from "./proxiedKit.ts"
import { form, made, refused, served, taskIs, text } from "./proxiedServer.ts"
import { envelope, newRequest, opened, type Stream } from "../mcp/mcpKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }, { name: "bob" }] }
const Test = house({ store: "sqlite", config })
const K = "io.modelcontextprotocol/"
const capabilities = { elicitation: {}, extensions: { [`${K}tasks`]: {} } }

interface Shown {
  readonly taskId: string
  readonly status: string
  readonly inputRequests?: object
  readonly result?: { readonly content: ReadonlyArray<{ readonly text: string }> }
}

const listening = (place: string, token: string, taskIds: ReadonlyArray<string>, able: object = capabilities) =>
  ask(() =>
    opened(
      place,
      token,
      undefined,
      "subscriptions/listen",
      { notifications: { taskIds }, _meta: envelope(able) },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
    ),
  )
const next = (stream: Stream) =>
  Effect.map(
    ask(() => stream.next()),
    // oxlint-disable-next-line typescript/no-explicit-any
    ({ data }) => data as any,
  )

/** A call that became a task. */
const begun = Effect.fnUntraced(function* (place: string, token: string, name: string) {
  const params = { name, arguments: {} }
  const { body } = yield* ask(() => newRequest(place, token, "tools/call", params, { capabilities }))
  assert.strictEqual(body.result.resultType, "task", JSON.stringify(body))
  return body.result.taskId as string
})
const decisionOf = Effect.fnUntraced(function* (task: string) {
  const { admin } = yield* Guest
  const find = Effect.map(
    ask(() => admin.decisions.list({ state: "open", limit: 100 })),
    ({ items }) => items.find((one) => one.call?.id === task),
  )
  yield* until(() => Effect.map(find, (one) => one !== undefined))
  return (yield* find)!.id
})

layer(Test, { excludeTestServices: true, timeout: 60_000 })("tasks", (it) => {
  it.effect(
    "a tool that is only a task serves a client that has never heard of any, and is refused to one that has",
    () =>
      Effect.gen(function* () {
        let looks = 0
        const server = yield* served(
          "new",
          {
            job: ({ params }) => {
              const able = params._meta[`${K}clientCapabilities`]?.extensions?.[`${K}tasks`] !== undefined
              if (able) return made("t-1")
              return refused(-32_021, "Tasks needed", {
                requiredCapabilities: { extensions: { [`${K}tasks`]: {} } },
              })
            },
          },
          {
            "tasks/get": () =>
              ++looks < 3 ? taskIs("t-1", "working") : taskIs("t-1", "completed", { result: text("made") }),
          },
        )
        const { place, token } = yield* joined(server.url)
        const old = yield* oldClient(place, token)
        const { content } = yield* ask(() => old.callTool({ name: "job", arguments: {} }))
        assert.deepStrictEqual(content, text("made")["content"])
        const params = { name: "job", arguments: {} }
        const { body } = yield* ask(() => newRequest(place, token, "tools/call", params, { capabilities: {} }))
        assert.strictEqual(body.error?.code, -32_021, JSON.stringify(body))
      }),
  )

  it.effect("whoever listens to a task hears how it stands and of each change, as tasks/get would tell it", () =>
    Effect.gen(function* () {
      const answers = new Map<unknown, unknown>()
      let jobs = 0
      const server = yield* served(
        "new",
        { who: () => made(`t-${++jobs}`) },
        {
          "tasks/get": ({ params: { taskId } }) =>
            answers.has(taskId)
              ? taskIs(taskId as string, "completed", { result: text(JSON.stringify(answers.get(taskId))) })
              : taskIs(taskId as string, "input_required", { inputRequests: { name: form("Who?", "name") } }),
          "tasks/update": ({ params: { inputResponses, taskId } }) => {
            answers.set(taskId, inputResponses)
            return {}
          },
        },
      )
      const { admin, place, token } = yield* joined(server.url)
      const task = yield* begun(place, token, "who")
      const other = yield* begun(place, token, "who")
      const decisions = [yield* decisionOf(other), yield* decisionOf(task)]
      const stream = yield* listening(place, token, [task, "call_nowhere"])
      const ack = yield* next(stream)
      assert.strictEqual(ack.method, "notifications/subscriptions/acknowledged")
      assert.deepStrictEqual(ack.params.notifications, { taskIds: [task] })
      const subscription = ack.params._meta[`${K}subscriptionId`] as number
      const told = Effect.gen(function* () {
        const { method, params } = yield* next(stream)
        assert.strictEqual(method, "notifications/tasks")
        const { _meta, ...shown } = params as Shown & { readonly _meta: object }
        assert.deepStrictEqual(_meta, { [`${K}subscriptionId`]: subscription })
        assert.strictEqual(shown.taskId, task)
        return shown
      })
      const first = yield* told
      assert.strictEqual(first.status, "input_required")
      assert.lengthOf(Object.keys(first.inputRequests!), 1)
      // What becomes of another is not told here.
      for (const id of decisions)
        yield* ask(() => admin.decisions.answer(id, { verdict: "submit", value: { name: "Ada" } }))
      let last = yield* told
      if (last.status === "working") last = yield* told
      assert.strictEqual(last.status, "completed")
      assert.include(last.result!.content[0]!.text, '"name":"Ada"')
      const { body } = yield* ask(() => newRequest(place, token, "tasks/get", { taskId: task }, { capabilities }))
      const { _meta, resultType: _, ...got } = body.result
      assert.deepStrictEqual(last, got)
      yield* ask(() => stream.close())
      // Over before anybody listens: that is told, too.
      const late = yield* listening(place, token, [task])
      yield* next(late)
      assert.strictEqual((yield* next(late)).params.status, "completed")
      yield* ask(() => late.close())
    }),
  )

  it.effect(
    "an approval's task is told when it is refused; one's own only, and only to a client that knows tasks",
    () =>
      Effect.gen(function* () {
        const { admin, url } = yield* Guest
        const { token } = yield* ask(() => admin.tokens.add({ principal: "ada" }))
        const { token: bob } = yield* ask(() => admin.tokens.add({ principal: "bob" }))
        yield* ask(() =>
          admin.tools.add({
            name: "asks-first",
            description: "Asks first.",
            inputSchema: { type: "object" },
            executionType: "gateway",
            // Refused in this test: nothing is ever sent there.
            execution: { url: "http://127.0.0.1:9/never", method: "POST" },
            requiresApproval: true,
          }),
        )
        const place = `${url}/mcp`
        const task = yield* begun(place, token, "asks-first")
        const theirs = yield* listening(place, bob, [task])
        assert.deepStrictEqual((yield* next(theirs)).params.notifications, {})
        assert.strictEqual((yield* next(theirs)).result.resultType, "complete")
        const unknowing = yield* listening(place, token, [task], {})
        assert.strictEqual(unknowing.status, 400)
        // The official client, which passes on what it does not know.
        const heard: Array<Shown> = []
        const mine = yield* newClient(place, token, capabilities, (one) => {
          one.fallbackNotificationHandler = async ({ method, params }) => {
            if (method === "notifications/tasks") heard.push(params as never)
          }
        })
        yield* ask(() => mine.listen({ taskIds: [task] } as never))
        yield* until(() => heard.length === 1)
        assert.strictEqual(heard[0]!.status, "working")
        const id = yield* decisionOf(task)
        yield* ask(() => admin.decisions.answer(id, { verdict: "deny", note: "not today" }))
        yield* until(() => heard.at(-1)!.status === "completed")
        assert.include(JSON.stringify(heard.at(-1)!.result), "not today")
      }),
  )

  for (const asksFirst of [false, true])
    for (const way of ["tasks/cancel", "cancel_call", "HTTP"] as const)
      it.effect(
        `${way} of a call that waits ${asksFirst ? "for an answer" : "for its end"} in a server's task cancels that task too, once`,
        () =>
          Effect.gen(function* () {
            const server = yield* served(
              "new",
              { job: () => made("t-1") },
              {
                "tasks/get": () =>
                  asksFirst
                    ? taskIs("t-1", "input_required", { inputRequests: { ok: form("Really?", "ok") } })
                    : taskIs("t-1", "working"),
                "tasks/cancel": () => ({}),
              },
            )
            const { admin, name, place, token, url } = yield* joined(server.url)
            const id = yield* begun(place, token, "job")
            const shown = Effect.map(
              ask(() => newRequest(place, token, "tasks/get", { taskId: id }, { capabilities })),
              ({ body }) => body.result as Shown,
            )
            if (asksFirst) yield* until(() => Effect.map(shown, ({ status }) => status === "input_required"))
            yield* until(() => server.sent("tasks/get").length > 0)
            const decision = asksFirst ? yield* decisionOf(id) : undefined
            if (way === "tasks/cancel")
              yield* ask(() => newRequest(place, token, "tasks/cancel", { taskId: id }, { capabilities }))
            else if (way === "HTTP") yield* ask(() => admin.calls.cancel(id as never))
            else {
              const params = { name: "cancel_call", arguments: { call: id } }
              const { body } = yield* ask(() => newRequest(`${url}/mcp/stoa`, token, "tools/call", params))
              assert.isUndefined(body.result.isError, JSON.stringify(body))
            }
            yield* until(() => server.sent("tasks/cancel").length > 0)
            assert.strictEqual((yield* shown).status, "cancelled")
            if (decision !== undefined)
              assert.strictEqual((yield* ask(() => admin.decisions.get(decision))).state, "canceled")
            // A second time is no second end, and the server hears nothing more of it.
            yield* ask(() => newRequest(place, token, "tasks/cancel", { taskId: id }, { capabilities }))
            assert.deepStrictEqual(
              server.sent("tasks/cancel").map(({ params }) => params.taskId as string),
              ["t-1"],
            )
            const journal = yield* Journal
            const settled = (yield* journal.read({ after: 0, limit: 1000, kinds: ["call.settled"] })).filter(
              (event) => (event.body as { readonly call: string }).call === id,
            )
            assert.deepStrictEqual(
              settled.map(({ body }) => (body as { readonly state: string }).state),
              ["canceled"],
            )
            const { items } = yield* ask(() => admin.calls.list({ tool: `${name}/job` }))
            assert.deepStrictEqual(
              items.map(({ state }) => state),
              ["canceled"],
            )
          }),
      )
})
