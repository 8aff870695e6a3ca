/** Runs that wait for people: approvals, forms, cancels, pauses, limits; and what is seen of them. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { ask, Guest } from "../../house.ts"
import { refused, someone } from "../../spaces/spacesGuests.ts"
import { dm, ended, inState, room, runsHouse, runsOf, setRules, stores, thinker, until } from "../runsKit.ts"

const form = (name: string, over: object = {}) => ({
  name,
  description: "Does it.",
  inputSchema: { type: "object", properties: {} },
  executionType: "internal" as const,
  execution: { output: { did: true } },
  ...over,
})

/** The decision a run waits for. */
const decisionOf = (run: { readonly id: string }) =>
  until(
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const { items } = yield* ask(() => admin.decisions.list({ state: "open" }))
      const sql = yield* SqlClient.SqlClient
      const calls = yield* sql<{ id: string }>`SELECT id FROM calls WHERE run = ${run.id} AND state = 'waiting'`
      return items.find(({ call }) => calls.some(({ id }) => id === call?.id))
    }),
  )

const kindsOf = Effect.fnUntraced(function* (run: string) {
  const events = yield* (yield* Journal).read({ after: 0, limit: 100_000 })
  return events
    .filter(({ body, kind }) => kind.startsWith("run.") && (body as { readonly run?: string }).run === run)
    .map(({ kind }) => kind)
})

/** How a run ended, as often as that was told; once it was. */
const endsOf = Effect.fnUntraced(function* (run: string) {
  const { read } = yield* Journal
  return yield* until(
    Effect.map(read({ after: 0, limit: 100_000, kinds: ["run.ended"] }), (events) => {
      const states = events.flatMap(({ body }) => {
        const ended = body as { readonly run: string; readonly state: string }
        return ended.run === run ? [ended.state] : []
      })
      return states.length === 0 ? undefined : states
    }),
  )
})

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(`waiting runs on ${store}`, (it) => {
    it.effect("S4-118 X-15 S1-109 a call that needs approval parks its run, and the answer goes on with it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker()
        const space = yield* dm(ada, bot)
        const tool = `risky-${store}`
        yield* ask(() => admin.tools.add(form(tool, { requiresApproval: true })))
        yield* setRules([
          { when: { agent: bot.name, step: 1, text: "yes" }, call: [{ tool }, { tool: "whoami" }] },
          {
            when: { agent: bot.name, step: 2, text: "yes" },
            call: [{ tool: "post_message", input: { space: space.id, text: "done" } }],
          },
          { when: { agent: bot.name, step: 1, text: "no" }, call: [{ tool }] },
          {
            when: { agent: bot.name, step: 2, outcome: "refused" },
            call: [{ tool: "post_message", input: { space: space.id, text: "I was not let" } }],
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "yes" }))
        const waiting = yield* inState(bot, "waiting_tool")
        const decision = yield* decisionOf(waiting)
        // It holds no slot and no mailbox, and says what it waits for.
        const shown = yield* ask(() => admin.runs.get(waiting.id))
        assert.deepStrictEqual(shown.waitsFor, [{ kind: "decision", id: decision.id }])
        const sql = yield* SqlClient.SqlClient
        assert.deepInclude((yield* sql`SELECT owner FROM runs WHERE id = ${waiting.id}`)[0]!, { owner: null })
        yield* ask(() => admin.decisions.answer(decision.id, { verdict: "approve" }))
        const [first] = yield* ended(bot)
        assert.deepInclude(first!, { state: "completed", stop: "end_turn", step: 3 })
        const steps = yield* ask(() => admin.runs.steps(first!.id))
        assert.deepStrictEqual(
          steps.items[0]!.calls.map(({ state }) => state),
          ["done", "done"],
        )
        // Each call says when it was made and whom it waited for.
        const asked = steps.items[0]!.calls.flatMap(({ decisions = [] }) => decisions)
        assert.deepStrictEqual(
          asked.map(({ id }) => id),
          [decision.id],
        )
        assert.isTrue(asked[0]!.endedAt! >= asked[0]!.askedAt)
        assert.isTrue(
          steps.items[0]!.calls.every(({ beganAt = "", endedAt = "" }) => endedAt >= beganAt && beganAt !== ""),
        )
        assert.deepStrictEqual((yield* ask(() => admin.runs.list({ agent: bot.id, state: "live" }))).items, [])
        const tree = yield* ask(() => admin.runs.list({ root: first!.id }))
        assert.deepStrictEqual(
          tree.items.map(({ id }) => id),
          [first!.id],
        )
        assert.deepStrictEqual(yield* kindsOf(first!.id), [
          "run.queued",
          "run.started",
          "run.stepped",
          "run.waiting",
          "run.resumed",
          "run.stepped",
          "run.stepped",
          "run.ended",
        ])
        // A denial is told to the model, which goes on.
        yield* ask(() => ada.client.spaces.post(space.id, { text: "no" }))
        const second = yield* inState(bot, "waiting_tool")
        const denied = yield* decisionOf(second)
        yield* ask(() => admin.decisions.answer(denied.id, { verdict: "deny" }))
        yield* ended(bot, 2)
        const { items } = yield* ask(() => ada.client.spaces.messages(space.id))
        assert.deepStrictEqual(
          items.map(({ text }) => text),
          ["yes", "done", "no", "I was not let"],
        )
      }),
    )

    it.effect("X-49 an approval that takes eight minutes uses up neither the tool's time nor that of the run", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const [ada, bot] = [yield* someone(), yield* thinker({ limits: { minutes: 5 } })]
        const space = yield* dm(ada, bot)
        const tool = `unhurried-${store}`
        yield* ask(() => admin.tools.add(form(tool, { requiresApproval: true })))
        yield* setRules([
          { when: { agent: bot.name, step: 1 }, call: [{ tool }] },
          { when: { agent: bot.name, step: 2 }, say: "It is done." },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "go" }))
        const waiting = yield* inState(bot, "waiting_tool")
        const decision = yield* decisionOf(waiting)
        // As if all of it had begun eight minutes ago.
        const sql = yield* SqlClient.SqlClient
        const ago = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { minutes: 8 }))
        yield* sql`UPDATE calls SET created_at = ${ago} WHERE run = ${waiting.id}`
        yield* sql`UPDATE runs SET created_at = ${ago}, started_at = ${ago} WHERE id = ${waiting.id}`
        yield* ask(() => admin.decisions.answer(decision.id, { verdict: "approve" }))
        const [run] = yield* ended(bot)
        assert.deepInclude(run!, { state: "completed", stop: "end_turn", step: 2 })
        const [call] = yield* sql<{ state: string; output: string }>`SELECT state, output FROM calls
          WHERE run = ${waiting.id}`
        assert.deepStrictEqual([call!.state, JSON.parse(call!.output)], ["done", { did: true }])
      }),
    )

    it.effect("S1-08 S1-77 S1-79 S1-80 a form of people's parks the run until all of them are filled", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker()
        const space = yield* dm(ada, bot)
        const tool = `form-${store}`
        yield* ask(() => admin.tools.add(form(tool, { executionType: "space", execution: {} })))
        yield* setRules([
          { when: { agent: bot.name, step: 1 }, call: [{ tool }, { tool }] },
          { when: { agent: bot.name, step: 2, outcome: "done" }, say: "thanks" },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "ask me" }))
        const waiting = yield* inState(bot, "waiting_tool")
        const sql = yield* SqlClient.SqlClient
        const calls = yield* sql<{ id: string }>`SELECT id FROM calls WHERE run = ${waiting.id} ORDER BY place`
        assert.strictEqual(calls.length, 2)
        // Both stand in the space, where a client shows them to whoever is to fill them in.
        const shown = (yield* ask(() => ada.client.spaces.messages(space.id))).items.flatMap(({ call }) => call ?? [])
        assert.deepStrictEqual(
          shown.map((call) => [call.id, call.tool, "output" in call]),
          calls.map(({ id }) => [id, tool, false]),
        )
        // A result is for a call of that run: with a run that is absent, or another's call, there is none.
        const absent = "run_00000000-0000-7000-8000-000000000000"
        for (const [run, callId] of [
          [absent, calls[0]!.id],
          [waiting.id, "call_00000000-0000-4000-8000-000000000000"],
        ] as const) {
          const missing = yield* refused(() => ada.client.runs.toolResults(run, { callId, result: { one: 0 } }))
          assert.strictEqual(missing.status, 404)
        }
        yield* ask(() => ada.client.runs.toolResults(waiting.id, { callId: calls[0]!.id, result: { one: 1 } }))
        const again = yield* refused(() =>
          ada.client.runs.toolResults(waiting.id, { callId: calls[0]!.id, result: { one: 2 } }),
        )
        assert.strictEqual(again.status, 409)
        assert.deepInclude((yield* runsOf(bot))[0]!, { state: "waiting_tool" })
        yield* ask(() => ada.client.results.submit(calls[1]!.id, { output: { two: 2 } }))
        const [row] = yield* ended(bot)
        assert.deepInclude(row!, { state: "completed", step: 2 })
        const { items } = yield* ask(() => admin.runs.messages(row!.id))
        assert.deepStrictEqual(
          items.filter(({ kind }) => kind === "tool_return_message").map(({ output }) => output),
          [{ one: 1 }, { two: 2 }],
        )
        // It waits for nothing any more, and takes nothing.
        const over = yield* refused(() =>
          ada.client.runs.toolResults(row!.id, { callId: calls[1]!.id, result: { two: 3 } }),
        )
        assert.strictEqual(over.status, 409)
      }),
    )

    it.effect(
      "S0-55 S0-74 S1-52 S1-53 S1-109 a run is stopped while it is queued, works or waits; a late result changes nothing",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker({ toolsets: ["office", "gateway"] })
          const space = yield* dm(ada, bot)
          const tool = `cancel-${store}`
          /** By the agent itself, with its tool. */
          const stop = ({ id }: { readonly id: string }) =>
            ask(() => bot.client.tools.call("stop_run", { input: { runId: id } }))
          yield* ask(() => admin.tools.add(form(tool, { executionType: "space", execution: {} })))
          yield* setRules([
            { when: { agent: bot.name, text: "wait" }, call: [{ tool }] },
            { when: { agent: bot.name, text: "think" }, say: "long", waitMs: 60_000 },
          ])
          yield* ask(() => ada.client.spaces.post(space.id, { text: "wait" }))
          const waiting = yield* inState(bot, "waiting_tool")
          const sql = yield* SqlClient.SqlClient
          const [call] = yield* sql<{ id: string }>`SELECT id FROM calls WHERE run = ${waiting.id}`
          assert.deepInclude(yield* stop(waiting), {
            state: "done",
            output: { success: true, runId: waiting.id.slice(4), status: "canceled" },
          })
          assert.deepInclude(yield* ask(() => admin.runs.get(waiting.id)), { state: "canceled", stop: "cancelled" })
          const late = yield* refused(() => ada.client.results.submit(call!.id, { output: 1 }))
          assert.strictEqual(late.status, 409)
          const [after] = yield* sql<{ state: string; output: string | null }>`SELECT state, output FROM calls
            WHERE id = ${call!.id}`
          assert.deepStrictEqual([after!.state, after!.output], ["canceled", null])
          assert.deepInclude(yield* ask(() => admin.runs.get(waiting.id)), { state: "canceled" })
          assert.strictEqual((yield* refused(() => admin.runs.cancel(waiting.id))).status, 409)
          // One that thinks is interrupted at once, and the one behind it has its turn.
          yield* ask(() => ada.client.spaces.post(space.id, { text: "think" }))
          const running = yield* inState(bot, "running")
          yield* ask(() => ada.client.spaces.post(space.id, { text: "think again" }))
          const queued = yield* inState(bot, "queued")
          assert.deepInclude(yield* stop(queued), { state: "done" })
          yield* ask(() => ada.client.spaces.post(space.id, { text: "think more" }))
          assert.deepInclude(yield* stop(running), { state: "done" })
          // Over HTTP it is the same: what works, and what nobody has begun.
          const next = yield* inState(bot, "running")
          yield* ask(() => ada.client.spaces.post(space.id, { text: "think last" }))
          const behind = yield* inState(bot, "queued")
          assert.deepInclude(yield* ask(() => admin.runs.cancel(behind.id)), { state: "canceled" })
          yield* ask(() => ada.client.spaces.post(space.id, { text: "last" }))
          yield* ask(() => bot.client.runs.cancel(next.id))
          const rows = yield* ended(bot, 6)
          assert.deepStrictEqual(
            rows.map(({ state }) => state),
            ["canceled", "canceled", "canceled", "canceled", "canceled", "completed"],
          )
          assert.deepStrictEqual(yield* endsOf(waiting.id), ["canceled"])
          assert.deepStrictEqual(yield* endsOf(rows.at(-1)!.id), ["completed"])
        }),
    )

    it.effect("G-12 a pause ends what works and waits, keeps what is queued, and claims go on when it is lifted", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker({ toolsets: ["office"] })
        const space = yield* dm(ada, bot)
        yield* setRules([
          { when: { agent: bot.name, text: "think" }, say: "long", waitMs: 60_000 },
          { when: { agent: bot.name }, say: "ok" },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "think" }))
        yield* inState(bot, "running")
        yield* ask(() => ada.client.spaces.post(space.id, { text: "later" }))
        yield* ask(() => admin.pauses.set({ subject: `agents/${bot.name}`, reason: "enough" }))
        const [first] = yield* ended(bot)
        assert.deepInclude(first!, { state: "canceled", stop: "paused" })
        assert.match(first!.failure!, /enough/)
        assert.deepInclude((yield* runsOf(bot))[1]!, { state: "queued" })
        const { items } = yield* ask(() => admin.pauses.list())
        const mine = items.find(({ subject }) => subject.includes(bot.id) || subject.includes(bot.name))!
        yield* ask(() => admin.pauses.lift(mine.subject))
        const [, second] = yield* ended(bot, 2)
        assert.deepInclude(second!, { state: "completed" })
      }),
    )

    it.effect("S0-72 S0-55 X-20 G-11 the first limit that is hit ends the run, with its own reason", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const cases = [
          { limits: { steps: 2 }, stop: "max_steps", step: 2 },
          { limits: { tokens: 150 }, stop: "max_tokens_exceeded", step: 2 },
          { limits: { cost: 0.0005 }, stop: "max_cost", step: 2 },
          { limits: { cost: 0 }, stop: "max_cost", step: 0 },
          { limits: { minutes: 0 }, stop: "max_minutes", step: 0 },
          { limits: { perDay: { tokens: 100 } }, stop: "budget_spent", step: 1 },
          { limits: { perDay: { cost: 0.0003 } }, stop: "budget_spent", step: 1 },
          { limits: { steps: 0 }, stop: "max_steps", step: 0 },
        ]
        const bots = yield* Effect.forEach(cases, ({ limits }) => thinker({ limits }))
        // 100 tokens at 1 and 20 at 10 dollars a million: 300 millionths a step.
        yield* setRules([{ call: [{ tool: "whoami" }], usage: { in: 100, out: 20 } }])
        for (const [at, bot] of bots.entries()) {
          const space = yield* dm(ada, bot)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "loop" }))
          const [row] = yield* ended(bot)
          const { step, stop } = cases[at]!
          assert.deepInclude(row!, { state: "failed", stop, step }, JSON.stringify(cases[at]))
          assert.isString(row!.failure)
        }
        // The office's own: five steps.
        const office = yield* thinker({ toolsets: ["office"] })
        yield* setRules([
          {
            call: [
              { tool: "do_nothing", input: { reason: "x" } },
              { tool: "search_memory", input: { query: "x" } },
            ],
          },
        ])
        const space = yield* dm(ada, office)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "loop" }))
        assert.deepInclude((yield* ended(office))[0]!, { stop: "max_steps", step: 5 })
        // And a tenth of a dollar: at 0.05 a step the second reaches it, at 0.033 not even the third.
        for (const [tokens, step] of [
          [50_000, 2],
          [33_000, 4],
        ] as const) {
          const dear = yield* thinker({ toolsets: ["office"] })
          yield* setRules([{ call: [{ tool: "search_memory", input: { query: "x" } }], usage: { in: tokens, out: 0 } }])
          const where = yield* dm(ada, dear)
          yield* ask(() => ada.client.spaces.post(where.id, { text: "loop" }))
          assert.deepInclude((yield* ended(dear))[0]!, { state: "failed", stop: "max_cost", step })
        }
        // Tools that are not there, three times in a row.
        const lost = yield* thinker()
        yield* setRules([{ call: [{ tool: "nowhere" }] }])
        const there = yield* dm(ada, lost)
        yield* ask(() => ada.client.spaces.post(there.id, { text: "loop" }))
        assert.deepInclude((yield* ended(lost))[0]!, { state: "failed", stop: "invalid_tool_call", step: 3 })
      }),
    )

    it.effect("S0-58 one agent begins and ends its run while another is at work", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const [slow, quick] = [yield* thinker(), yield* thinker()]
        const [one, other] = [yield* dm(ada, slow), yield* dm(ada, quick)]
        yield* setRules([
          { when: { agent: slow.name }, say: "at last", waitMs: 20_000 },
          { when: { agent: quick.name }, say: "at once" },
        ])
        yield* ask(() => ada.client.spaces.post(one.id, { text: "think" }))
        const { id } = yield* inState(slow, "running")
        yield* ask(() => ada.client.spaces.post(other.id, { text: "answer" }))
        assert.strictEqual((yield* ended(quick))[0]!.state, "completed")
        assert.strictEqual((yield* runsOf(slow))[0]!.state, "running")
        yield* ask(() => admin.runs.cancel(id))
        yield* ended(slow)
      }),
    )

    it.effect("S0-62 a message for several makes a run each, one after the other", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const [one, two] = [yield* thinker(), yield* thinker()]
        const space = yield* room("public", ada, one, two)
        yield* setRules([
          {
            when: { step: 1 },
            call: [{ tool: "post_message", input: { space: space.id, text: "said by {{agent}}" } }],
            waitMs: 10,
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${one.name} @${two.name} speak` }))
        const [first] = yield* ended(one)
        const [second] = yield* ended(two)
        const [early, late] = first!.startedAt! < second!.startedAt! ? [first!, second!] : [second!, first!]
        assert.isTrue(early.endedAt! <= late.startedAt!)
        const { items } = yield* ask(() => admin.runs.messages(late.id))
        assert.include(items.find(({ kind }) => kind === "user_message")!.text!, `said by ${early.agent}`)
      }),
    )

    it.effect("retry: a run that has ended is tried again, whole or from a step, and repeats no call before it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker()
        const space = yield* dm(ada, bot)
        yield* setRules([
          {
            when: { agent: bot.name, step: 1 },
            call: [{ tool: "post_message", input: { space: space.id, text: "one" } }],
          },
          { when: { agent: bot.name, step: 2 }, fail: "broken" },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "go" }))
        const [row] = yield* ended(bot)
        assert.deepInclude(row!, { state: "failed", stop: "error", step: 1 })
        yield* setRules([
          {
            when: { agent: bot.name, step: 1 },
            call: [{ tool: "post_message", input: { space: space.id, text: "one" } }],
          },
          {
            when: { agent: bot.name, step: 2 },
            call: [{ tool: "post_message", input: { space: space.id, text: "two" } }],
          },
        ])
        const tried = yield* ask(() => admin.runs.retry(row!.id, { step: 2 }))
        assert.deepInclude(tried, { retryOf: row!.id })
        const [, second] = yield* ended(bot, 2)
        assert.deepInclude(second!, { id: tried.id, state: "completed", step: 3 })
        const said = yield* ask(() => ada.client.spaces.messages(space.id))
        assert.deepStrictEqual(
          said.items.map(({ text }) => text),
          ["go", "one", "two"],
        )
        yield* ask(() => admin.runs.retry(row!.id, {}))
        yield* ended(bot, 3)
        const all = yield* ask(() => ada.client.spaces.messages(space.id))
        assert.deepStrictEqual(
          all.items.map(({ text }) => text),
          ["go", "one", "two", "one", "two"],
        )
        assert.strictEqual((yield* refused(() => admin.runs.retry(row!.id, { step: 9 }))).status, 409)
        const { adminToken, raw } = yield* Guest
        const headers = { authorization: `Bearer ${adminToken}` }
        const bare = yield* ask(() => raw(`/api/v1/runs/${row!.id}/retry`, { method: "POST", headers }))
        assert.strictEqual(bare.status, 201, "without a body: from the beginning")
        yield* ended(bot, 4)
      }),
    )

    it.effect(
      "retry: with the limits of today, not from behind a call that is not over, and a program's run only whole",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const bot = yield* thinker({ limits: { steps: 1 } })
          yield* setRules([{ when: { agent: bot.name, step: 1 }, call: [{ tool: "whoami", input: {} }] }])
          const { run } = yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
          const [row] = yield* ended(bot)
          assert.deepInclude(row!, { id: run, stop: "max_steps", step: 1 })
          const none = yield* refused(() => admin.agents.change(bot.id, { limits: { width: 0 } }))
          assert.strictEqual(none.status, 400, "its runs would wait for ever")
          yield* ask(() => admin.agents.change(bot.id, { limits: { steps: 9 } }))
          const tried = yield* ask(() => admin.runs.retry(run, { step: 2 }))
          const [, second] = yield* ended(bot, 2)
          assert.deepInclude(second!, { id: tried.id, stop: "end_turn", step: 2 })
          // As it stands for a moment after a run was ended from outside.
          yield* sql`UPDATE calls SET state = 'waiting', settled_at = NULL WHERE run = ${run}`
          const open = yield* refused(() => admin.runs.retry(run, { step: 2 }))
          assert.strictEqual(open.status, 409)
          assert.match(open.message, /not come to its end/)
          yield* sql`UPDATE runs SET thinker = 'program' WHERE id = ${run}`
          assert.strictEqual((yield* refused(() => admin.runs.retry(run, { step: 1 }))).status, 409)
          assert.strictEqual((yield* runsOf(bot)).length, 2)
        }),
    )

    it.effect("S1-92 S1-39 a service calls an agent: 202 with its run, once for a key, without a space or in one", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const bot = yield* thinker()
        const space = yield* room("public", bot)
        yield* setRules([{ when: { agent: bot.name }, say: "heard" }])
        const first = yield* ask(() =>
          admin.agents.trigger(bot.name, { text: "a build failed" }, { idempotencyKey: `key-${store}` }),
        )
        const again = yield* ask(() =>
          admin.agents.trigger(bot.name, { text: "a build failed" }, { idempotencyKey: `key-${store}` }),
        )
        assert.strictEqual(again.run, first.run)
        yield* ended(bot)
        const run = yield* ask(() => admin.runs.get(first.run))
        assert.deepInclude(run, { space: null, depth: 0, state: "completed" })
        assert.deepInclude(run.trigger, { kind: "service", summary: "a build failed" })
        const placed = yield* ask(() => admin.agents.trigger(bot.name, { text: "again", space: space.name }))
        yield* ended(bot, 2)
        assert.deepInclude(yield* ask(() => admin.runs.get(placed.run)), { space: space.id })
        const plain = yield* someone("agent")
        const failure = yield* refused(() => admin.agents.trigger(plain.name, { text: "x" }))
        assert.strictEqual(failure.status, 409)
        assert.match(failure.message, /has no model to think with; /)
        const ada = yield* someone()
        assert.strictEqual((yield* refused(() => ada.client.agents.trigger(bot.name, { text: "x" }))).status, 403)
      }),
    )
  })
