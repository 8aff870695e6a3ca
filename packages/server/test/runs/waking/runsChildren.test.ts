/** Sub-agents, decisions inside them, approvals for a run, plans, and what is shown live. */
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Memories } from "../../../src/memory/Memories.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { Timers } from "../../../src/store/journal/Timers.ts"
import { ask, Guest } from "../../house.ts"
import { listen, someone, type Frame } from "../../spaces/spacesGuests.ts"
import { dm, ended, inState, runsHouse, runsOf, setRules, stores, thinker, until } from "../runsKit.ts"

const form = (name: string, over: object) => ({
  name,
  description: "Does it.",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  executionType: "gateway" as const,
  ...over,
})

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(`sub-agents on ${store}`, (it) => {
    it.effect(
      "S1-06 S1-27 a sub-agent is a run that a call waits for: it answers, fails, or is given up with its call",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker()
          const helper = yield* thinker()
          const space = yield* dm(ada, bot)
          const [knows, blind] = [`knows-${store}`, `blind-${store}`]
          const agentConfig = { agent: helper.name, persona: "You look things up.", tools: ["whoami"] }
          yield* ask(() => admin.tools.add(form(knows, { execution: { agentConfig, includeContext: true } })))
          yield* ask(() => admin.tools.add(form(blind, { execution: { agentConfig, timeout: 60_000 } })))
          yield* setRules([
            {
              when: { agent: bot.name, step: 1, text: "both" },
              call: [
                { tool: knows, input: { text: "find it" } },
                { tool: blind, input: { text: "find it" } },
              ],
            },
            { when: { agent: bot.name, step: 2 }, say: "done" },
            {
              when: { agent: helper.name, step: 1, text: "find it" },
              call: [{ tool: "whoami" }, { tool: "list_spaces" }],
            },
            { when: { agent: helper.name, step: 2 }, say: "It is under the stone." },
            { when: { agent: bot.name, step: 1, text: "bad" }, call: [{ tool: blind, input: { text: "break" } }] },
            { when: { agent: helper.name, text: "break" }, fail: "no idea" },
            { when: { agent: bot.name, step: 1, text: "stop" }, call: [{ tool: blind, input: { text: "long" } }] },
            { when: { agent: helper.name, text: "long" }, say: "late", waitMs: 60_000 },
          ])
          yield* ask(() => ada.client.spaces.post(space.id, { text: "both" }))
          const [first] = yield* ended(bot)
          const { items } = yield* ask(() => admin.runs.messages(first!.id))
          const returns = items.filter(({ kind }) => kind === "tool_return_message")
          assert.deepStrictEqual(
            returns.map(({ output }) => (output as { readonly text: string }).text),
            ["It is under the stone.", "It is under the stone."],
          )
          const children = yield* ended(helper, 2)
          for (const child of children) {
            const shown = yield* ask(() => admin.runs.get(child.id))
            assert.deepInclude(shown, { root: first!.id, state: "completed", agent: helper.id })
            assert.isString(shown.parent)
            // What it was not given it does not have, at calling neither.
            const steps = yield* ask(() => admin.runs.steps(child.id))
            assert.deepStrictEqual(
              steps.items[0]!.calls.map(({ state }) => state),
              ["done", "refused"],
            )
          }
          const told = yield* Effect.forEach(children, ({ id }) => ask(() => admin.runs.messages(id)))
          for (const { items: all } of told) {
            const faults = all.flatMap(({ error }) => (error === undefined ? [] : [error.message]))
            assert.deepStrictEqual(faults, ['You do not have the tool "list_spaces" here. You have: whoami'])
          }
          const users = told.map(({ items: all }) => all.find(({ kind }) => kind === "user_message")!.text!)
          assert.strictEqual(users.filter((text) => text.includes("Whoever called you was told this")).length, 1)
          const systems = told.map(({ items: all }) => all.find(({ kind }) => kind === "system_message")!.text!)
          assert.isTrue(systems.every((text) => text.includes("You look things up.")))

          yield* ask(() => ada.client.spaces.post(space.id, { text: "bad" }))
          const [, second] = yield* ended(bot, 2)
          const failed = yield* ask(() => admin.runs.messages(second!.id))
          assert.match(failed.items.find(({ kind }) => kind === "tool_return_message")!.error!.message, /no idea/)

          yield* ask(() => ada.client.spaces.post(space.id, { text: "stop" }))
          const parent = yield* inState(bot, "waiting_tool")
          yield* inState(helper, "running")
          yield* ask(() => admin.runs.cancel(parent.id))
          const rows = yield* ended(helper, 4)
          assert.deepInclude(rows.at(-1)!, { state: "canceled" })
        }),
    )

    it.effect("S1-27 a sub-agent is told what was said in the space only with includeContext", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const ada = yield* someone()
        const bot = yield* thinker()
        const space = yield* dm(ada, bot)
        // Without the name of an agent, the caller works for itself, and sees its space.
        const agentConfig = { persona: "You look things up." }
        for (const includeContext of [true, false]) {
          const tool = `context-${includeContext}-${store}`
          yield* ask(() => admin.tools.add(form(tool, { execution: { agentConfig, includeContext } })))
          yield* setRules([{ when: { text: "quince", step: 1 }, call: [{ tool, input: { text: "find it" } }] }])
          yield* ask(() => ada.client.spaces.post(space.id, { text: "No quince today." }))
          yield* ended(bot, includeContext ? 2 : 4)
        }
        const children = yield* sql<{ id: RunId }>`SELECT id FROM runs
          WHERE agent = ${bot.id} AND parent_call IS NOT NULL ORDER BY id`
        const told = yield* Effect.forEach(children, ({ id }) => ask(() => admin.runs.messages(id)))
        const [knows, blind] = told.map(({ items }) => items.find(({ kind }) => kind === "user_message")!.text!)
        assert.include(knows, "quince")
        assert.notInclude(blind, "quince")
        assert.include(blind, "find it")
      }),
    )

    it.effect("a sub-agent's question shows on the outermost run, and an approval for the run holds in all of it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const [bot, helper] = [yield* thinker(), yield* thinker()]
        const space = yield* dm(ada, bot)
        const [risky, sub] = [`careful-${store}`, `sub-${store}`]
        yield* ask(() =>
          admin.tools.add({
            name: risky,
            description: "Careful.",
            inputSchema: { type: "object", properties: {} },
            executionType: "internal",
            execution: { output: 1 },
            requiresApproval: true,
          }),
        )
        yield* ask(() => admin.tools.add(form(sub, { execution: { agentConfig: { agent: helper.name } } })))
        yield* setRules([
          { when: { agent: bot.name, step: 1 }, call: [{ tool: sub, input: { text: "go" } }] },
          { when: { agent: bot.name, step: 2 }, call: [{ tool: risky }] },
          { when: { agent: helper.name, step: 1 }, call: [{ tool: risky }] },
          { when: { agent: helper.name, step: 2 }, call: [{ tool: risky }] },
          { when: { agent: helper.name, step: 3 }, say: "twice" },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "start" }))
        yield* inState(helper, "waiting_tool")
        const root = yield* inState(bot, "waiting_tool")
        const decision = yield* until(
          Effect.map(
            ask(() => admin.runs.get(root.id)),
            ({ waitsFor = [] }) => waitsFor.find(({ kind }) => kind === "decision"),
          ),
        )
        const { options } = yield* ask(() => admin.decisions.get(decision.id))
        assert.deepStrictEqual(options?.reaches, ["once", "run", "always"])
        yield* ask(() => admin.decisions.answer(decision.id, { verdict: "approve", reach: "run" }))
        const [run] = yield* ended(bot)
        assert.deepInclude(run!, { state: "completed", step: 3 })
        const sql = yield* SqlClient.SqlClient
        const calls = yield* sql<{ state: string; rule: string }>`SELECT state, rule FROM calls WHERE tool = ${risky}`
        assert.deepStrictEqual(
          calls.map(({ state }) => state),
          ["done", "done", "done"],
        )
        // The next run asks again.
        yield* ask(() => ada.client.spaces.post(space.id, { text: "again" }))
        yield* inState(helper, "waiting_tool")
        yield* ask(async () => {
          for (const one of (await admin.runs.list({ agent: bot.name, state: "waiting_tool" })).items)
            await admin.runs.cancel(one.id)
        })
      }),
    )

    it.effect(
      "S1-60 S1-39 S0-75 X-38 a plan that is due wakes its agent once, with no space; the office's wait five minutes",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const bot = yield* thinker({ toolsets: ["office"] })
          yield* setRules([{ when: { agent: bot.name }, say: "planned" }])
          const { transact } = yield* Journal
          const timers = yield* Timers
          const memories = yield* Memories
          const plan = Effect.fnUntraced(function* (name: string, of = bot) {
            const content = JSON.stringify({ name, instruction: "Look at the mail." })
            const { record } = yield* transact(
              memories.put(of.principal, of.principal.id, { namespace: "gateway", kind: "plan", key: name, content }),
            )
            const now = yield* DateTime.now
            const payload = { plan: record.id, principal: of.id, dueAt: DateTime.formatIso(now) }
            // Fired twice for the same time, it wakes once.
            for (const key of ["a", "b"])
              yield* transact(timers.set({ purpose: "plan", key: `${name} ${key} ${of.id}`, dueAt: now, payload }))
          })
          yield* plan("mail")
          const [row] = yield* ended(bot)
          assert.deepInclude(yield* ask(() => admin.runs.get(row!.id)), { space: null, depth: 0 })
          const { items } = yield* ask(() => admin.runs.messages(row!.id))
          assert.include(items.find(({ kind }) => kind === "user_message")!.text!, "Look at the mail.")
          const sql = yield* SqlClient.SqlClient
          const timesOf = (of: typeof bot) =>
            sql<{ at: number }>`SELECT ready_at AS at FROM runs WHERE agent = ${of.id} ORDER BY ready_at`
          // Each waits for the one before it, not for the first alone.
          for (const [name, count] of [
            ["more mail", 2],
            ["the last mail", 3],
          ] as const) {
            yield* plan(name)
            const times = yield* until(Effect.map(timesOf(bot), (rows) => (rows.length === count ? rows : undefined)))
            assert.isAtLeast(times[count - 1]!.at - times[count - 2]!.at, 300_000)
          }
          // Neither another agent's plans nor what else has woken it count.
          const ada = yield* someone()
          const other = yield* thinker({ toolsets: ["office"] })
          yield* setRules([{ when: { agent: other.name }, say: "answered" }])
          const space = yield* dm(ada, other)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
          yield* ended(other)
          yield* plan("mail", other)
          const [answered, planned] = yield* until(
            Effect.map(timesOf(other), (rows) => (rows.length === 2 ? rows : undefined)),
          )
          assert.isBelow(planned!.at - answered!.at, 60_000)
          yield* (yield* Readers).receipt("runs")
          assert.deepStrictEqual([(yield* timesOf(bot)).length, (yield* timesOf(other)).length], [3, 2])
        }),
    )

    it.effect("X-38 S1-60 only the office's plans wait five minutes: another agent's are run when they are due", () =>
      Effect.gen(function* () {
        const bot = yield* thinker({ toolsets: ["gateway"] })
        yield* setRules([{ when: { agent: bot.name }, say: "planned" }])
        const { transact } = yield* Journal
        const timers = yield* Timers
        const memories = yield* Memories
        for (const name of ["first", "second"]) {
          const content = JSON.stringify({ name, instruction: "Look at the mail." })
          const { record } = yield* transact(
            memories.put(bot.principal, bot.principal.id, { namespace: "gateway", kind: "plan", key: name, content }),
          )
          const now = yield* DateTime.now
          const payload = { plan: record.id, principal: bot.id, dueAt: DateTime.formatIso(now) }
          yield* transact(timers.set({ purpose: "plan", key: name, dueAt: now, payload }))
        }
        yield* until(Effect.map(runsOf(bot), (rows) => (rows.length === 2 ? true : undefined)))
        const sql = yield* SqlClient.SqlClient
        const times = yield* sql<{
          at: number
        }>`SELECT ready_at AS at FROM runs WHERE agent = ${bot.id} ORDER BY ready_at`
        assert.isBelow(times[1]!.at - times[0]!.at, 60_000)
        assert.lengthOf(yield* ended(bot, 2), 2)
      }),
    )

    it.effect(
      "S1-73 what a model streams for two calls of one step is told apart, by the ids that their messages have",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker()
          const space = yield* dm(ada, bot)
          const tool = `shown-${store}`
          const execution = { operation: "evaluate" as const, expression: "input.text" }
          yield* ask(() => admin.tools.add(form(tool, { visibility: "visible", execution })))
          const texts = ["the first of two", "and here is another one"]
          yield* setRules([
            { when: { agent: bot.name, step: 1 }, call: texts.map((text) => ({ tool, input: { text } })) },
            { when: { agent: bot.name, step: 2 }, say: "done" },
          ])
          const stream = yield* listen(ada, { path: `/spaces/${space.id}/events?names=gateway` })
          yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
          const streamed = new Map<string, string>()
          const kept = new Map<string, unknown>()
          while (kept.size < texts.length) {
            const { data, event } = yield* stream.next
            const body = data?.body as unknown as {
              readonly call: string
              readonly delta: string
              readonly message: { readonly call: { readonly id: string; readonly output: unknown } }
            }
            if (event === "tool-input-delta") streamed.set(body.call, (streamed.get(body.call) ?? "") + body.delta)
            if (event === "tool-call.complete") kept.set(body.message.call.id, body.message.call.output)
          }
          assert.deepStrictEqual([...kept.values()].toSorted(), texts.toSorted())
          for (const [id, text] of kept) assert.deepStrictEqual(JSON.parse(streamed.get(id)!), { text })
        }).pipe(Effect.scoped),
    )

    it.effect(
      "S1-69 S1-70 S1-72 S1-73 a run's visible call begins, has its input, and ends once, on every stream",
      () =>
        Effect.gen(function* () {
          const { admin, adminToken } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker()
          const space = yield* dm(ada, bot)
          const tool = `ordered-${store}`
          const failing = `failing-${store}`
          const visible = (name: string, expression: string) =>
            admin.tools.add(
              form(name, { visibility: "visible", execution: { operation: "evaluate" as const, expression } }),
            )
          yield* ask(() => visible(tool, "input.text"))
          yield* ask(() => visible(failing, "input.text.nothing.here"))
          const input = { text: "a few words, in several pieces" }
          const calls = [tool, failing].map((name) => ({ tool: name, input }))
          yield* setRules([
            // Written, broken off, written again, and never made.
            { when: { agent: bot.name, text: "broken" }, call: calls, fail: "cut" },
            { when: { agent: bot.name, step: 1 }, call: calls },
          ])
          const streams = yield* Effect.forEach(
            [
              { who: ada, path: `/spaces/${space.id}/events?names=gateway` },
              { who: ada, path: `/spaces/${space.id}/events` },
              { who: { token: adminToken }, path: "/events?names=gateway" },
              { who: bot, path: "/events" },
            ],
            Effect.fnUntraced(function* ({ path, who }) {
              const frames: Array<Frame> = []
              yield* listen(who, { path }, (frame) => void frames.push(frame))
              return { frames, path }
            }),
          )
          yield* ask(() => ada.client.spaces.post(space.id, { text: "broken" }))
          yield* ended(bot)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
          yield* ended(bot, 2)
          const plain = {
            "message.created": "tool-call.start",
            "call.input": "tool-input-delta",
            "message.settled": "tool-call.settled",
          } as const
          type Told = {
            readonly call?: string
            readonly delta?: string
            readonly message?: { call: { id: string; error?: object } | null }
          }
          for (const { frames, path } of streams) {
            const told = () => {
              const seen = new Map<string, Array<string>>()
              for (const { data, event } of frames) {
                const body = data?.["body"] as unknown as Told | undefined
                const id = body?.message?.call?.id ?? (event!.includes("input") ? body?.call : undefined)
                if (id === undefined) continue
                const end = body?.message?.call?.error === undefined ? "complete" : "error"
                const name = (plain[event as keyof typeof plain] ?? event!).replace("settled", end)
                const piece = body?.delta === undefined ? "" : ` ${body.delta}`
                seen.set(id, [...(seen.get(id) ?? []), `${name}${piece}`])
              }
              return [...seen.values()]
            }
            yield* until(
              Effect.sync(() =>
                told()
                  .flat()
                  .filter((one) => /complete|error/.test(one)).length < 2
                  ? undefined
                  : true,
              ),
            )
            const written = JSON.stringify(input)
            assert.deepStrictEqual(
              told(),
              ["complete", "error"].map((end) => [
                "tool-call.start",
                `tool-input-delta ${written}`,
                `tool-call.${end}`,
              ]),
              path,
            )
          }
          // What the model wrote is shown to those who see its run, as its output.
          const own = streams[3]!.frames.filter(({ event }) => event === "run.call" || event === "run.restarted")
          assert.isAbove(own.filter(({ event }) => event === "run.restarted").length, 0)
          const last = own.slice(own.findLastIndex(({ event }) => event === "run.restarted") + 1)
          const text = last.map(({ data }) => (data as never as { body: { text: string } }).body.text).join("")
          assert.strictEqual(text, `${JSON.stringify(input)}${JSON.stringify(input)}`)
          for (const { frames } of streams.slice(0, 2)) assert.isFalse(frames.some(({ event }) => event === "run.call"))
        }).pipe(Effect.scoped),
    )

    it.effect(
      "S1-15 of what a model calls result-only its space is told the result alone, of what is hidden nothing",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker()
          const space = yield* dm(ada, bot)
          const execution = { operation: "evaluate" as const, expression: "input.text" }
          const tools = (["hidden", "result-only", "visible"] as const).map((visibility) => ({
            visibility,
            tool: `${visibility}-15-${store}`,
          }))
          for (const { tool, visibility } of tools)
            yield* ask(() => admin.tools.add(form(tool, { executionType: "gateway", visibility, execution })))
          yield* setRules([
            {
              when: { agent: bot.name, step: 1 },
              call: tools.map(({ tool }) => ({ tool, input: { text: "a few words" } })),
            },
            { when: { agent: bot.name, step: 2 }, say: "done" },
          ])
          const stream = yield* listen(ada, { path: `/spaces/${space.id}/events?names=gateway` })
          yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
          const told = new Map<string, Set<string>>()
          while (told.get(tools[2]!.tool)?.has("tool-call.complete") !== true) {
            const { data, event } = yield* stream.next
            const body = data?.body as unknown as {
              readonly tool?: string
              readonly message?: { readonly call: { readonly tool: string } | null }
            }
            const tool = body.tool ?? body.message?.call?.tool
            if (tool !== undefined) told.set(tool, (told.get(tool) ?? new Set()).add(event!))
          }
          assert.deepStrictEqual(
            tools.map(({ tool }) => [...(told.get(tool) ?? [])].toSorted()),
            [[], ["tool-call.complete"], ["tool-call.complete", "tool-call.start", "tool-input-delta"]],
          )
        }).pipe(Effect.scoped),
    )

    it.effect(
      "S1-74 S1-73 S1-109 S0-69 S0-70 text goes to who rules the house and to the agent, never to the space; names of the seeds",
      () =>
        Effect.gen(function* () {
          const { admin, adminToken } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker()
          const space = yield* dm(ada, bot)
          const seen = (frames: Array<Frame>) => (frame: Frame) => void frames.push(frame)
          const [mine, theirs, office, gateway]: Array<Array<Frame>> = [[], [], [], []]
          yield* listen({ token: adminToken }, {}, seen(mine!))
          yield* listen(ada, {}, seen(theirs!))
          yield* listen(ada, { path: `/spaces/${space.id}/events?names=office` }, seen(office!))
          yield* listen(ada, { path: `/spaces/${space.id}/events?names=gateway` }, seen(gateway!))
          yield* setRules([
            { when: { agent: bot.name, text: "again" }, say: "Fine." },
            {
              when: { agent: bot.name, step: 1 },
              reason: "Let me think of this for a while.",
              say: "A thought that is mine alone.",
              call: [{ tool: "whoami" }],
            },
            { when: { agent: bot.name, step: 2 }, fail: "over" },
          ])
          yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
          yield* ended(bot)
          const names = (frames: ReadonlyArray<Frame>) => frames.map(({ event }) => event)
          yield* until(
            Effect.sync(() =>
              names(office!).includes("agent_done") &&
              names(gateway!).includes("agent.inactive") &&
              names(mine!).includes("run.ended")
                ? true
                : undefined,
            ),
          )
          const said = mine!
            .filter(({ event }) => event === "run.text")
            .map(({ data }) => (data as never as { body: { text: string } }).body.text)
          assert.strictEqual(said.join(""), "A thought that is mine alone.")
          assert.isAbove(said.length, 1)
          assert.isTrue(names(mine!).includes("run.reasoning"))
          assert.isFalse(JSON.stringify([theirs, office, gateway]).includes("mine alone"))
          for (const frames of [theirs, office, gateway])
            for (const name of ["run.text", "run.reasoning", "run.stepped"])
              assert.notInclude(names(frames!), name, "text and thoughts are not for a space")
          assert.deepStrictEqual(
            names(office!).filter((name) => name?.startsWith("agent_")),
            ["agent_typing", "agent_done"],
          )
          assert.deepStrictEqual(
            names(gateway!).filter((name) => name?.startsWith("agent.")),
            ["agent.active", "agent.inactive"],
          )
          // That run failed; those that complete are told in the same way, whatever woke them.
          const again = yield* ask(() => ada.client.spaces.post(space.id, { text: "again" }))
          yield* ended(bot, 2)
          yield* ask(() => admin.agents.trigger(bot.id, { text: "again", space: space.id }))
          assert.deepStrictEqual(
            (yield* ended(bot, 3)).map(({ state }) => state),
            ["failed", "completed", "completed"],
          )
          yield* ask(() => ada.client.messages.react(again.id, "👍"))
          yield* until(Effect.sync(() => (names(office!).includes("reaction_added") ? true : undefined)))
          assert.deepStrictEqual(
            names(office!).filter((name) => name?.startsWith("agent_")),
            [1, 2, 3].flatMap(() => ["agent_typing", "agent_done"]),
          )
          const ends = yield* (yield* Journal).read({ after: 0, limit: 100_000, kinds: ["run.ended"] })
          assert.deepStrictEqual(
            ends.flatMap(({ body }) => {
              const { principal, state } = body as { readonly principal: string; readonly state: string }
              return principal === bot.id ? [state] : []
            }),
            ["failed", "completed", "completed"],
          )
        }),
    )
  })
