/** Runs from end to end: somebody writes, an agent on the scripted model thinks, acts and answers. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { someone } from "../spaces/spacesGuests.ts"
import { dm, ended, room, runsHouse, runsOf, setRules, stores, thinker } from "./runsKit.ts"

const texts = (page: { readonly items: ReadonlyArray<{ readonly text: string }> }) => page.items.map(({ text }) => text)

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`runs on ${store}`, (it) => {
    it.effect(
      "S0-13 S0-55 S0-56 S0-59 S0-49 S0-50 S1-39 a person writes, the agent calls a tool and answers there",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker()
          const space = yield* dm(ada, bot)
          yield* setRules([
            {
              when: { agent: bot.name, step: 1, text: "hello" },
              say: "I look first.",
              call: [{ tool: "whoami" }],
              usage: { in: 100, out: 20 },
            },
            {
              when: { agent: bot.name, step: 2, tool: "whoami", outcome: "done" },
              call: [{ tool: "post_message", input: { space: "{{space}}", text: "Hello, Ada." } }],
            },
          ])
          const asked = yield* ask(() => ada.client.spaces.post(space.id, { text: "hello there" }))
          const [row] = yield* ended(bot)
          const run = yield* ask(() => admin.runs.get(row!.id))
          assert.deepInclude(run, {
            agent: bot.id,
            state: "completed",
            stop: "end_turn",
            step: 3,
            depth: 0,
            space: space.id,
            root: row!.id,
            tokens: { in: 100, out: 20 },
            cost: 0.0003,
          })
          assert.deepInclude(run.trigger, { kind: "message", message: asked.id, space: space.id })
          assert.isTrue(run.createdAt <= run.startedAt! && run.startedAt! <= run.endedAt!)
          assert.deepStrictEqual(texts(yield* ask(() => ada.client.spaces.messages(space.id))), [
            "hello there",
            "Hello, Ada.",
          ])
          const { items } = yield* ask(() => admin.runs.messages(row!.id))
          assert.deepStrictEqual(
            items.map(({ kind, tool }) => [kind, tool]),
            [
              ["system_message", undefined],
              ["user_message", undefined],
              ["assistant_message", undefined],
              ["tool_call_message", "whoami"],
              ["tool_return_message", "whoami"],
              ["tool_call_message", "post_message"],
              ["tool_return_message", "post_message"],
            ],
          )
          const steps = yield* ask(() => admin.runs.steps(row!.id))
          assert.deepStrictEqual(
            steps.items.map(({ calls, number, text }) => [number, text, calls.map(({ state, tool }) => [tool, state])]),
            [
              [1, "I look first.", [["whoami", "done"]]],
              [2, "", [["post_message", "done"]]],
              [3, "", []],
            ],
          )
          // The agent sees its own run, its owner and admins do; nobody else learns of it.
          assert.strictEqual((yield* ask(() => bot.client.runs.get(row!.id))).id, row!.id)
          const failure = yield* Effect.flip(ask(() => ada.client.runs.get(row!.id)))
          assert.strictEqual((failure as { readonly status: number }).status, 404)
          assert.deepStrictEqual((yield* ask(() => ada.client.runs.list())).items, [])
          const listed = yield* ask(() => admin.runs.list({ agent: bot.name, state: "completed", space: space.id }))
          assert.deepStrictEqual(
            listed.items.map(({ id }) => id),
            [row!.id],
          )
          // Where there are more than two, nobody is woken who is not named.
          const third = yield* someone()
          for (const kind of ["public", "private"] as const) {
            const other = yield* room(kind, ada, bot, third)
            yield* ask(() => ada.client.spaces.post(other.id, { text: "hello there" }))
          }
          yield* (yield* Readers).receipt("runs")
          assert.lengthOf(yield* runsOf(bot), 1)
        }),
    )

    it.effect("S0-49 S0-50 every call of a run is one call and one return, also if it fails or is refused", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker()
        const space = yield* dm(ada, bot)
        yield* ask(() =>
          admin.grants.add({ principal: bot.id, resource: "tools/recall", actions: ["execute"], effect: "deny" }),
        )
        const input = { space: space.id, text: "Hello." }
        const calls = [
          { tool: "post_message", input },
          { tool: "post_message", input: { ...input, space: "nowhere" } },
          { tool: "post_message", input: { space: space.id } },
          { tool: "recall", input: {} },
          { tool: "foo", input: { a: [1] } },
        ]
        yield* setRules([
          { when: { agent: bot.name, step: 1 }, call: calls },
          { when: { agent: bot.name }, say: "That is all." },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "try" }))
        const [row] = yield* ended(bot)
        const { items } = yield* ask(() => admin.runs.messages(row!.id))
        const made = items.filter(({ kind }) => kind === "tool_call_message")
        const returns = items.filter(({ kind }) => kind === "tool_return_message")
        assert.deepStrictEqual<unknown>(
          made.map(({ input: given, tool }) => ({ tool, input: given })),
          calls,
        )
        assert.deepStrictEqual(
          returns.map(({ call, tool }) => [call, tool]),
          made.map(({ call, tool }) => [call, tool]),
        )
        assert.strictEqual(new Set(made.map(({ call }) => call)).size, calls.length)
        const posted = (yield* ask(() => ada.client.spaces.messages(space.id))).items[1]!
        assert.deepStrictEqual(
          returns.map(({ error, output, state }) => [state, error?.tag ?? (output as { readonly id: string }).id]),
          [
            ["done", posted.id],
            ["failed", "ToolExecutionError"],
            ["refused", "ToolValidationError"],
            ["refused", "ToolAuthorizationError"],
            ["refused", "ToolNotFoundError"],
          ],
        )
        for (const { error } of returns.slice(1)) assert.isNotEmpty(error?.message)
      }),
    )

    it.effect("S0-20 S0-55 S1-90 a run whose model only speaks posts nothing, and is completed", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const bot = yield* thinker()
        const space = yield* dm(ada, bot)
        yield* setRules([{ when: { agent: bot.name }, say: "Only to myself." }])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
        const [row] = yield* ended(bot)
        assert.deepInclude(row!, { state: "completed", stop: "no_tool_call", step: 1 })
        assert.deepStrictEqual(texts(yield* ask(() => ada.client.spaces.messages(space.id))), ["hello"])
      }),
    )

    it.effect("S1-93 S0-60 in a channel those who are mentioned are woken; an agent without a model is not", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const [one, two] = [yield* thinker(), yield* thinker()]
        const plain = yield* someone("agent")
        const space = yield* room("private", ada, one, two, plain)
        yield* setRules([])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${one.name} and @${plain.name}, look` }))
        yield* ended(one)
        yield* (yield* Readers).receipt("runs")
        assert.strictEqual((yield* runsOf(two)).length, 0)
        assert.strictEqual((yield* runsOf(plain)).length, 0)
        // Each has a run of its own, one for each message, and is told all that was said.
        const text = `@${one.name}, @${two.name} and once more @${one.name}: look at this, and at nothing else`
        const both = yield* ask(() => ada.client.spaces.post(space.id, { text }))
        const [[, second], [first]] = [yield* ended(one, 2), yield* ended(two)]
        const sql = yield* SqlClient.SqlClient
        const told = yield* sql`SELECT agent, run, text FROM triggers WHERE message = ${both.id} ORDER BY agent`
        assert.sameDeepMembers(
          [...told],
          [
            { agent: one.id, run: second!.id, text },
            { agent: two.id, run: first!.id, text },
          ],
        )
        assert.deepStrictEqual([(yield* runsOf(one)).length, (yield* runsOf(two)).length], [2, 1])
      }),
    )

    it.effect("S0-76 S1-112 an unknown tool and one that fails are told to the model, which goes on", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker()
        const space = yield* dm(ada, bot)
        yield* setRules([
          { when: { agent: bot.name, step: 1 }, call: [{ tool: "foo" }, { tool: "post_message", input: "no json" }] },
          {
            when: { agent: bot.name, step: 2, outcome: "refused" },
            call: [{ tool: "post_message", input: { space: "nowhere", text: "hi" } }],
          },
          {
            when: { agent: bot.name, step: 3, outcome: "failed" },
            call: [{ tool: "post_message", input: { space: space.id, text: "after all" } }],
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
        const [row] = yield* ended(bot)
        assert.deepInclude(row!, { state: "completed", stop: "end_turn", step: 4 })
        const steps = yield* ask(() => admin.runs.steps(row!.id))
        assert.deepStrictEqual(
          steps.items.map(({ calls }) => calls.map(({ state }) => state)),
          [["refused", "refused"], ["failed"], ["done"], []],
        )
        assert.deepStrictEqual(texts(yield* ask(() => ada.client.spaces.messages(space.id))), ["hello", "after all"])
      }),
    )

    it.effect(
      "S0-73 a tool that fails fails its call alone; behind a run that fails the next in the queue starts",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker({ toolsets: ["office"] })
          const space = yield* dm(ada, bot)
          const broken = `broken-${store}`
          yield* ask(() =>
            admin.tools.add({
              name: broken,
              description: "Reaches what cannot be reached.",
              inputSchema: { type: "object" },
              executionType: "gateway",
              execution: { url: "http://127.0.0.1:9/" },
            }),
          )
          yield* setRules([
            { when: { agent: bot.name, text: "use", step: 1 }, call: [{ tool: broken }] },
            { when: { agent: bot.name, text: "use", outcome: "failed" }, say: "It failed." },
            { when: { agent: bot.name, text: "bad" }, fail: "it fell over" },
            { when: { agent: bot.name }, say: "fine" },
          ])
          // All three are queued before the first begins.
          yield* ask(() => admin.pauses.set({ subject: `agents/${bot.id}` }))
          for (const text of ["use it", "bad", "good"]) yield* ask(() => ada.client.spaces.post(space.id, { text }))
          yield* (yield* Readers).receipt("runs")
          yield* ask(() => admin.pauses.lift(`agents/${bot.id}`))
          const rows = yield* ended(bot, 3)
          assert.deepStrictEqual(
            rows.map(({ state, step }) => [state, step]),
            [
              ["completed", 2],
              ["failed", 0],
              ["completed", 1],
            ],
          )
          const { items } = yield* ask(() => admin.runs.steps(rows[0]!.id))
          assert.deepStrictEqual(
            items.map(({ calls, text }) => [text, calls.map(({ state }) => state)]),
            [
              ["", ["failed"]],
              ["It failed.", []],
            ],
          )
        }),
    )

    it.effect("S0-55 S0-73 X-20 a failing model fails its own run, says why, and the next run starts", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const bot = yield* thinker()
        const space = yield* dm(ada, bot)
        yield* setRules([
          { when: { agent: bot.name, text: "bad" }, fail: "it fell over" },
          { when: { agent: bot.name }, say: "fine" },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "bad" }))
        const [first] = yield* ended(bot)
        assert.deepInclude(first!, { state: "failed", stop: "error" })
        assert.match(first!.failure!, /The model demo failed: it fell over/)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "good" }))
        const [, second] = yield* ended(bot, 2)
        assert.deepInclude(second!, { state: "completed" })
      }),
    )

    it.effect("S0-57 S1-104 X-18 an agent's runs are worked on one at a time, in order, and none is lost", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ada = yield* someone()
        const bot = yield* thinker({ toolsets: ["office"] })
        const space = yield* dm(ada, bot)
        yield* setRules([{ when: { agent: bot.name }, say: "done", waitMs: 20 }])
        yield* Effect.forEach(
          Array.from({ length: 6 }),
          (_, at) => ask(() => ada.client.spaces.post(space.id, { text: `message ${at}` })),
          { concurrency: "unbounded" },
        )
        const rows = yield* ended(bot, 6)
        const order = yield* sql<{ id: string }>`SELECT id FROM messages WHERE space = ${space.id} ORDER BY seq`
        assert.deepStrictEqual(
          rows.map(({ triggerMessage }) => triggerMessage),
          order.map(({ id }) => id),
        )
        for (const [at, row] of rows.entries())
          if (at > 0) assert.isTrue(rows[at - 1]!.endedAt! <= row.startedAt!, "two of them overlapped")
      }),
    )
  })
