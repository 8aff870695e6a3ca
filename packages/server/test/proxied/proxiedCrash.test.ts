/** kill -9 of a house in the middle of calls to MCP servers: what it held is lost and never run again, what it did not hold goes on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isLong } from "../../../../test/long.ts"
import { told } from "../calls/callsKit.ts"
import { until } from "./proxiedKit.ts"
import { asking, form, made, served, taskIs, text } from "./proxiedServer.ts"
import { ask } from "../house.ts"
import { type Home, homes, kill, look, send, start, token } from "../killedHouse.ts"
import { envelope, newRequest, opened } from "../mcp/mcpKit.ts"

const K = "io.modelcontextprotocol/"
const capabilities = { elicitation: {}, extensions: { [`${K}tasks`]: {} } }

/** An agent, and a server of ours; the server is there at once, and once more after every start. */
const furnish = Effect.fnUntraced(function* (url: string, server: string) {
  yield* send(url, token, "POST", "/principals", { kind: "agent", name: "bot" })
  const issued = yield* send(url, token, "POST", "/tokens", { principal: "bot" })
  const added = yield* send(url, token, "POST", "/mcp-servers", { name: "out", url: server })
  assert.strictEqual(added.status, 201, JSON.stringify(added.body))
  return issued.body["token"] as string
})
const connected = (url: string) =>
  until(() => Effect.map(send(url, token, "GET", "/mcp-servers/out"), ({ body }) => body["status"] === "connected"))
const settled = (url: string, id: string) => Effect.map(send(url, token, "GET", `/calls/${id}?wait=20`), told)
const answer = (url: string, decision: string, body: object) =>
  send(url, token, "POST", `/decisions/${decision}/answer`, body)

/** The rows of a call as a dead house left them. */
const left = (home: Home, id: string) =>
  look(
    home,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [call] = yield* sql<{ state: string; settledAt: string | null }>`SELECT state, settled_at FROM calls
        WHERE id = ${id}`
      const questions = yield* sql<{ holder: string | null; decision: string | null; state: string }>`SELECT holder,
        decision, state FROM call_questions WHERE call = ${id}`
      const decisions = yield* sql<{ state: string }>`SELECT state FROM decisions WHERE call = ${id}`
      const events = yield* sql<{ kind: string }>`SELECT kind FROM journal
        WHERE kind LIKE 'call.%' AND body LIKE ${`%${id}%`} ORDER BY cursor`
      return {
        state: call!.state,
        questions,
        decisions: decisions.map((one) => one.state),
        events: events.map((one) => one.kind),
      }
    }),
  )

for (const [name, home] of homes)
  describe(`MCP servers and kill -9 on ${name}`, () => {
    it.live(
      "a call on an old server is lost with the stream the house held, parked or not: failed, outcome unknown, never run again",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const server = yield* served("old", {
            who: async (it) =>
              text(JSON.stringify(await it.ask("elicitation/create", form("Who?", "name")["params"] as {}))),
            hang: () => new Promise(() => {}),
          })
          const first = yield* start(at)
          const bot = yield* furnish(first.url, server.url)
          const call = (url: string, tool: string) =>
            ask(() =>
              newRequest(
                `${url}/mcp/servers/out`,
                bot,
                "tools/call",
                { name: tool, arguments: {} },
                { meta: { "stoa/idempotencyKey": `once-${tool}` } },
              ),
            )
          const { body } = yield* call(first.url, "who")
          const parked = body.result.structuredContent as { readonly call: string; readonly decision: string }
          const running = told(
            yield* send(first.url, bot, "POST", "/tools/out%2Fhang/call", { input: {}, wait: 0 }, "once-hang"),
          )
          yield* until(() => server.sent("tools/call").length === 2)
          yield* kill(at, first.child)
          const before = yield* left(at, parked.call)
          assert.deepInclude(before, { state: "waiting", decisions: ["open"] })
          assert.isString(before.questions[0]!.holder)
          assert.strictEqual((yield* left(at, running.id)).state, "running")

          const second = yield* start(at)
          yield* connected(second.url)
          for (const id of [parked.call, running.id]) {
            const end = yield* settled(second.url, id)
            assert.deepStrictEqual([end.state, end.error?.tag], ["failed", "ToolExecutionError"])
            assert.match(end.error!.message, /The house stopped while this ran\. Whether it had an effect is not known/)
          }
          const late = yield* answer(second.url, parked.decision, { verdict: "submit", value: { name: "Ada" } })
          assert.strictEqual(late.status, 409)
          // A retry with the same key finds the call that failed.
          const again = (yield* call(second.url, "who")).body.result
          assert.isTrue(again.isError)
          assert.strictEqual(again.structuredContent.error.call, parked.call)
          assert.lengthOf(server.sent("tools/call"), 2)
          yield* kill(at, second.child)
          assert.deepStrictEqual(yield* left(at, parked.call), {
            state: "failed",
            questions: [],
            decisions: ["canceled"],
            events: ["call.received", "call.waiting", "call.settled"],
          })
        }),
    )

    it.live(
      "a call that waits for an approval or for an answer of the new era is there after the kill, and runs once",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const server = yield* served("new", {
            plain: () => text("ran"),
            who: ({ params: { inputResponses } }) =>
              inputResponses === undefined
                ? asking({ who: form("Who?", "name") }, "asked")
                : text(JSON.stringify(inputResponses.who)),
          })
          const first = yield* start(at)
          const bot = yield* furnish(first.url, server.url)
          const granted = yield* send(first.url, token, "POST", "/grants", {
            principal: "bot",
            resource: "tools/out/plain",
            actions: ["execute"],
            effect: "ask",
          })
          assert.strictEqual(granted.status, 201, JSON.stringify(granted.body))
          const call = (tool: string) =>
            Effect.map(
              ask(() => newRequest(`${first.url}/mcp/servers/out`, bot, "tools/call", { name: tool, arguments: {} })),
              ({ body }) => body.result.structuredContent as { readonly call: string; readonly decision: string },
            )
          const approval = yield* call("plain")
          const question = yield* call("who")
          assert.lengthOf(server.sent("tools/call"), 1)
          yield* kill(at, first.child)
          for (const { call: id } of [approval, question])
            assert.deepInclude(yield* left(at, id), { state: "waiting", decisions: ["open"] })
          assert.isNull((yield* left(at, question.call)).questions[0]!.holder)

          const second = yield* start(at)
          for (const { call: id } of [approval, question])
            assert.strictEqual(told(yield* send(second.url, bot, "GET", `/calls/${id}`)).state, "waiting")
          yield* connected(second.url)
          assert.strictEqual((yield* answer(second.url, approval.decision, { verdict: "approve" })).status, 200)
          const submitted = { verdict: "submit", value: { name: "Ada" } }
          assert.strictEqual((yield* answer(second.url, question.decision, submitted)).status, 200)
          assert.deepInclude(yield* settled(second.url, approval.call), { state: "done", output: text("ran") })
          const said = JSON.stringify({ action: "accept", content: { name: "Ada" } })
          assert.deepInclude(yield* settled(second.url, question.call), { state: "done", output: text(said) })
          const sent = server.sent("tools/call").map(({ params }) => params.name as string)
          // The question once, its answer once, and what was approved once.
          assert.deepStrictEqual(sent.toSorted(), ["plain", "who", "who"])
          const keys = new Set(
            server
              .sent("tools/call")
              .filter(({ params }) => params.name === "who")
              .map(({ params }) => params._meta["stoa/idempotencyKey"] as string),
          )
          assert.strictEqual(keys.size, 1)
          yield* kill(at, second.child)
          for (const { call: id } of [approval, question])
            assert.deepStrictEqual(yield* left(at, id), {
              state: "done",
              questions: [],
              decisions: ["answered"],
              events: ["call.received", "call.waiting", "call.settled"],
            })
        }),
    )

    it.live(
      "a task that its server wants something for is a task after the kill too: answered, told to who listens, run once",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          let answers: { readonly ok?: object } = {}
          const server = yield* served(
            "new",
            { job: () => made("t-1") },
            {
              "tasks/get": () =>
                answers.ok === undefined
                  ? taskIs("t-1", "input_required", { inputRequests: { ok: form("Really?", "ok") } })
                  : taskIs("t-1", "completed", { result: text(JSON.stringify(answers.ok)) }),
              "tasks/update": ({ params }) => {
                answers = params.inputResponses as typeof answers
                return {}
              },
            },
          )
          const first = yield* start(at)
          const bot = yield* furnish(first.url, server.url)
          const asked = (url: string, method: string, params: Record<string, unknown>) =>
            Effect.map(
              ask(() => newRequest(`${url}/mcp/servers/out`, bot, method, params, { capabilities })),
              ({ body }) => body.result,
            )
          const begun = yield* asked(first.url, "tools/call", { name: "job", arguments: {} })
          assert.strictEqual(begun.resultType, "task")
          const taskId = begun.taskId as string
          const status = (url: string) =>
            Effect.map(asked(url, "tasks/get", { taskId }), (task) => task.status as string)
          yield* until(() => Effect.map(status(first.url), (now) => now === "input_required"))
          yield* kill(at, first.child)
          const parked = yield* left(at, taskId)
          assert.deepInclude(parked, { state: "waiting", decisions: ["open"] })
          assert.deepInclude(JSON.parse(parked.questions[0]!.state), { task: "t-1" })

          const second = yield* start(at)
          yield* connected(second.url)
          assert.strictEqual(yield* status(second.url), "input_required")
          const stream = yield* ask(() =>
            opened(
              `${second.url}/mcp/servers/out`,
              bot,
              undefined,
              "subscriptions/listen",
              { notifications: { taskIds: [taskId] }, _meta: envelope(capabilities) },
              { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
            ),
          )
          const said = { action: "accept", content: { ok: "yes" } }
          yield* asked(second.url, "tasks/update", { taskId, inputResponses: { ok: said } })
          for (;;) {
            const { data } = yield* ask(() => stream.next())
            const task = data!["params"] as { readonly status?: string; readonly result?: object }
            if (task.status !== "completed") continue
            assert.deepInclude(task.result, text(JSON.stringify(said)))
            break
          }
          yield* ask(() => stream.close())
          assert.lengthOf(server.sent("tools/call"), 1)
          assert.lengthOf(server.sent("tasks/update"), 1)
          yield* kill(at, second.child)
          assert.deepInclude(yield* left(at, taskId), { state: "done", questions: [], decisions: ["answered"] })
        }),
    )

    // One era on each database; both on both by `npm run test:long`.
    for (const era of isLong ? (["old", "new"] as const) : name === "sqlite" ? (["old"] as const) : (["new"] as const))
      it.live(
        `a task that a server of the ${era} era is at work on is looked after again after the kill: one call, and its result`,
        () =>
          Effect.gen(function* () {
            const at = yield* home
            let ready = false
            const task = (status: string, more: object = {}) => {
              const { pollIntervalMs, ttlMs, ...rest } = taskIs("t-1", status)
              return era === "new"
                ? taskIs("t-1", status, more as {})
                : { ...rest, ttl: ttlMs, pollInterval: pollIntervalMs }
            }
            const server = yield* served(
              era,
              {
                job: ({ params }) => {
                  // A client without tasks would have been refused.
                  const able = params._meta?.[`${K}clientCapabilities`]?.extensions?.[`${K}tasks`]
                  assert.isDefined(era === "new" ? able : params.task)
                  return era === "new" ? made("t-1") : { task: task("working") }
                },
              },
              {
                ...(era === "new"
                  ? {}
                  : {
                      "tools/list": () => ({
                        tools: [
                          {
                            name: "job",
                            description: "works",
                            inputSchema: { type: "object" },
                            execution: { taskSupport: "required" },
                          },
                        ],
                      }),
                    }),
                "tasks/get": () =>
                  ready ? task("completed", era === "new" ? { result: text("made") } : {}) : task("working"),
                "tasks/result": () => text("made"),
                "tasks/cancel": () => ({}),
              },
            )
            const first = yield* start(at)
            const bot = yield* furnish(first.url, server.url)
            const begun = yield* send(first.url, bot, "POST", "/tools/out%2Fjob/call", { input: {}, wait: 0 })
            const { id } = told(begun)
            yield* until(() => server.sent("tasks/get").length > 1)
            yield* kill(at, first.child)
            const before = yield* left(at, id)
            assert.strictEqual(before.state, "running")
            assert.deepInclude(JSON.parse(before.questions[0]!.state), { task: "t-1" })

            const second = yield* start(at)
            const looked = server.sent("tasks/get").length
            yield* until(() => server.sent("tasks/get").length > looked)
            yield* kill(at, second.child)
            ready = true
            const third = yield* start(at)
            assert.deepInclude(yield* settled(third.url, id), { state: "done", output: text("made") })
            assert.lengthOf(server.sent("tools/call"), 1)
            assert.lengthOf(server.sent("tasks/cancel"), 0)
            yield* kill(at, third.child)
            const events = ["call.received", "call.settled"]
            assert.deepStrictEqual(yield* left(at, id), { state: "done", questions: [], decisions: [], events })
          }),
      )
  })
