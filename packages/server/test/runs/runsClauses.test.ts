/** What a run carries with it, whom its words wake, where they come from, and that it may say nothing. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { call as request, refused, someone } from "../spaces/spacesGuests.ts"
import { dm, ended, inState, room, runsHouse, runsOf, setRules, stores, thinker, until } from "./runsKit.ts"

const gateway = { toolsets: ["gateway" as const] }
const said = (text: string) => [{ tool: "send_message", input: { text } }]

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(`clauses of runs on ${store}`, (it) => {
    it.effect(
      "S0-05 S0-06 S1-68 two runs of one agent at different depths and places: the same call wakes in one, and not in the other",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ada = yield* someone()
          const shallow = { ...gateway, limits: { depth: 1 } }
          const [bot, other] = [yield* thinker(shallow), yield* thinker(shallow)]
          const [here, there] = [yield* room("private", ada, bot, other), yield* room("private", ada, bot, other)]
          yield* setRules([
            { when: { agent: bot.name, step: 1 }, call: said(`@${other.name} hello`) },
            { when: { agent: other.name, step: 1, text: "start" }, call: said(`@${bot.name} your turn`) },
          ])
          yield* ask(() => ada.client.spaces.post(here.id, { text: `@${bot.name} go` }))
          yield* ended(bot, 1)
          yield* ended(other, 1)
          yield* ask(() => ada.client.spaces.post(there.id, { text: `@${other.name} start` }))
          const runs = yield* ended(bot, 2)
          yield* (yield* Readers).receipt("runs")
          assert.deepStrictEqual(
            runs.map(({ chainDepth }) => chainDepth),
            [0, 1],
          )
          const calls = yield* sql<{ run: string; input: string }>`SELECT run, input FROM calls
            WHERE principal = ${bot.id} AND tool = 'send_message' ORDER BY run`
          assert.strictEqual(calls[0]!.input, calls[1]!.input, "no argument differs")
          // Its run and its space went along: each stands where it was woken, with the run that said it.
          const posts = yield* sql<{ run: string; space: string }>`SELECT run, space FROM messages
            WHERE author = ${bot.id} ORDER BY run`
          assert.deepStrictEqual(
            posts.map(({ run, space }) => [run, space]),
            [
              [runs[0]!.id, here.id],
              [runs[1]!.id, there.id],
            ],
          )
          const woken = (yield* runsOf(other)).map(({ chainDepth }) => chainDepth)
          assert.deepStrictEqual(woken, [1, 0], "the run at depth 0 woke it, the one at the limit did not")
        }),
    )

    it.effect("S1-41 said elsewhere than where its run was woken, a message says what woke it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker(gateway)
        const [from, to] = [yield* room("private", ada, bot), yield* room("private", ada, bot)]
        const wider = yield* room("private", ada, bot, yield* someone())
        yield* setRules([
          {
            when: { agent: bot.name, step: 1 },
            call: [...said("here"), { tool: "enter_space", input: { spaceId: to.id } }, ...said("there")],
          },
          {
            when: { agent: bot.name, step: 2 },
            call: [{ tool: "enter_space", input: { spaceId: wider.id } }, ...said("elsewhere")],
          },
        ])
        const woke = yield* ask(() => ada.client.spaces.post(from.id, { text: `@${bot.name} tell them` }))
        yield* ended(bot)
        const last = Effect.fnUntraced(function* (space: string) {
          return (yield* ask(() => admin.spaces.messages(space))).items.at(-1)!
        })
        const carried = { trigger: "message", space: from.id, spaceName: from.name, sender: ada.name, message: woke.id }
        assert.deepStrictEqual((yield* last(to.id)).origin, carried)
        assert.isNull((yield* last(from.id)).origin)
        // With the names of the toolset, it names the message as the tools do (X-48).
        const named = yield* request(ada, "GET", `/spaces/${to.id}/messages?names=gateway`)
        const { items } = named.body as { readonly items: ReadonlyArray<{ readonly origin: unknown }> }
        assert.deepInclude(items.at(-1)!.origin as object, { message: woke.id.slice("msg_".length) })
        // Whoever does not see the space where it was woken learns neither its name nor who wrote there.
        assert.deepStrictEqual((yield* last(wider.id)).origin, {
          trigger: "message",
          space: null,
          spaceName: null,
          sender: null,
          message: null,
        })
        // A service woke it: there is no message and no sender of one.
        yield* setRules([
          {
            when: { agent: bot.name, step: 1 },
            call: [{ tool: "enter_space", input: { spaceId: to.id } }, ...said("again")],
          },
        ])
        yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
        yield* ended(bot, 2)
        assert.deepInclude((yield* last(to.id)).origin as object, { trigger: "service", space: null, sender: null })
      }),
    )

    it.effect("a message, a memory and a plan name the run that wrote them, also if it waited for an approval", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const ada = yield* someone()
        const bot = yield* thinker(gateway)
        const space = yield* dm(ada, bot)
        const call = (value: string) => [
          ...said("here"),
          { tool: "set_memories", input: { memories: [{ key: "tea", value }] } },
          { tool: "set_plans", input: { plans: [{ name: "tea", instruction: "Make tea.", runAfter: "1 hour" }] } },
        ]
        yield* setRules([
          { when: { agent: bot.name, step: 1, text: "again" }, call: call("black") },
          { when: { agent: bot.name, step: 1 }, call: call("green") },
        ])
        /** Everything of each kind that names its run. */
        const named = Effect.fnUntraced(function* (run: string) {
          const counted = yield* sql<Record<string, number>>`SELECT
            (SELECT count(*) FROM messages WHERE author = ${bot.id} AND run = ${run}) AS messages,
            (SELECT count(*) FROM memory_plans WHERE owner = ${bot.id} AND run = ${run}) AS plans,
            (SELECT count(*) FROM journal WHERE kind = 'memory.written' AND actor = ${bot.id}
              AND body LIKE ${`%"${run}"%`}) AS written`
          return counted[0]
        })
        yield* ask(() => ada.client.spaces.post(space.id, { text: "go" }))
        const [first] = yield* ended(bot)
        assert.deepStrictEqual(yield* named(first!.id), { messages: 1, plans: 1, written: 2 })
        const tools = call("").map(({ tool }) => tool)
        for (const tool of tools)
          yield* ask(() =>
            admin.grants.add({ principal: bot.id, resource: `tools/${tool}`, actions: ["execute"], effect: "ask" }),
          )
        yield* ask(() => ada.client.spaces.post(space.id, { text: "again" }))
        const open = yield* until(
          Effect.map(
            ask(() => admin.decisions.list({ state: "open", limit: 100 })),
            ({ items }) => {
              const own = items.filter((one) => one.askedBy === bot.id)
              return own.length === tools.length ? own : undefined
            },
          ),
        )
        for (const { id } of open) yield* ask(() => admin.decisions.answer(id, { verdict: "approve" }))
        const [, second] = yield* ended(bot, 2)
        assert.deepStrictEqual(yield* named(second!.id), { messages: 1, plans: 1, written: 2 })
      }),
    )

    it.effect("S1-49 one message for one that waits and one that does not: one goes on, one begins, one row", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ada = yield* someone()
        const [asks, answers, third] = [yield* thinker(gateway), yield* thinker(gateway), yield* thinker(gateway)]
        const space = yield* room("private", ada, asks, answers, third)
        yield* setRules([
          {
            when: { agent: asks.name, step: 1 },
            call: [{ tool: "send_message", input: { text: `@${answers.name} well?`, wait: true } }],
          },
          {
            when: { agent: answers.name, step: 1 },
            call: [
              {
                tool: "send_reply",
                input: { text: `@${asks.name} @${third.name} this one`, replyToMessageId: "{{message}}" },
              },
            ],
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${asks.name} start` }))
        const [resumed] = yield* ended(asks)
        const [begun] = yield* ended(third)
        yield* (yield* Readers).receipt("runs")
        const events = yield* (yield* Journal).read({ after: 0, limit: 100_000, kinds: ["run.resumed"] })
        assert.isTrue(events.some(({ body }) => (body as { readonly run: string }).run === resumed!.id))
        assert.strictEqual((yield* runsOf(asks)).length, 1, "it went on, and began nothing")
        const rows = yield* sql<{ id: string }>`SELECT id FROM messages WHERE author = ${answers.id}`
        assert.deepStrictEqual(
          rows.map(({ id }) => id),
          [begun!.triggerMessage],
        )
      }),
    )

    it.effect("S1-76 a visible tool of a gateway: its result is stored and streamed, and the run goes on at once", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const ada = yield* someone()
        const bot = yield* thinker(gateway)
        const space = yield* room("private", ada, bot, yield* someone())
        const service = yield* http((_, response) => {
          response.writeHead(200, { "content-type": "application/json" }).end('{"did":true}')
        })
        const tool = `shown-${store}`
        yield* ask(() =>
          admin.tools.add({
            name: tool,
            description: "Does it.",
            inputSchema: { type: "object" },
            executionType: "gateway",
            execution: { url: service.url },
            visibility: "visible",
          }),
        )
        yield* setRules([
          { when: { agent: bot.name, step: 1 }, call: [{ tool }] },
          { when: { agent: bot.name, step: 2, tool, outcome: "done" }, call: said("done") },
        ])
        const journal = yield* Journal
        const before = yield* journal.end
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} go` }))
        const [run] = yield* ended(bot)
        assert.deepInclude(run!, { state: "completed", step: 3 })
        const [call] = yield* sql<{ id: string; state: string; output: string; settledAt: string }>`SELECT * FROM calls
          WHERE run = ${run!.id} AND step = 1`
        assert.deepStrictEqual([call!.state, JSON.parse(call!.output)], ["done", { did: true }])
        const told = yield* journal.read({ after: before, limit: 1000 })
        const mine = told.filter(({ space: where }) => where === space.id)
        assert.isTrue(
          mine.some(({ kind, body }) => kind === "message.settled" && JSON.stringify(body).includes(call!.id)),
          "whoever watches the space sees the result",
        )
        // Nothing that anybody did stands between the result and the next call.
        const kinds = told
          .filter(({ body }) => (body as { readonly run?: unknown }).run === run!.id)
          .map(({ kind }) => kind)
        assert.notInclude(kinds, "run.waiting")
      }),
    )

    it.effect("S1-96 no agent wakes itself, depth bounds who wakes whom, and an answer to who asked is no loop", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const bounded = { ...gateway, limits: { depth: 3 } }
        const [one, two] = [yield* thinker(bounded), yield* thinker(bounded)]
        const space = yield* room("private", ada, one, two)
        yield* setRules([
          { when: { agent: one.name, step: 1, text: "self" }, call: said(`@${one.name} to myself`) },
          { when: { agent: one.name, step: 1, text: "pair" }, call: said(`@${two.name} a question`) },
          {
            when: { agent: two.name, step: 1 },
            call: [{ tool: "send_reply", input: { text: `@${one.name} an answer`, replyToMessageId: "{{message}}" } }],
          },
          {
            when: { agent: one.name, step: 1 },
            call: [{ tool: "send_reply", input: { text: `@${two.name} and more`, replyToMessageId: "{{message}}" } }],
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${one.name} self` }))
        yield* ended(one)
        yield* (yield* Readers).receipt("runs")
        assert.strictEqual((yield* runsOf(one)).length, 1)
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${one.name} pair` }))
        // A asks B, B answers A, A answers B …: until the depth is reached, and no pair is forbidden.
        yield* ended(one, 3)
        yield* ended(two, 2)
        yield* (yield* Readers).receipt("runs")
        const depths = [...(yield* runsOf(one)), ...(yield* runsOf(two))].map(({ chainDepth }) => chainDepth)
        assert.deepStrictEqual(depths.toSorted(), [0, 0, 1, 2, 3])
        // One that has no limit of its own has ten.
        const { admin } = yield* Guest
        const usual = yield* thinker(gateway)
        assert.strictEqual((yield* ask(() => admin.agents.get(usual.id))).inForce?.depth, 10)
      }),
    )

    it.effect("S1-97 a run has seven states, and what leads nowhere from the one it is in is refused", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker(gateway)
        const space = yield* room("private", ada, bot, yield* someone())
        yield* setRules([
          {
            when: { agent: bot.name, step: 1 },
            call: [{ tool: "send_message", input: { text: `@${ada.name} well?`, wait: true } }],
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} go` }))
        const waits = yield* inState(bot, "waiting_reply")
        assert.strictEqual((yield* refused(() => admin.runs.retry(waits.id, {}))).status, 409, "it has not ended")
        assert.deepInclude(yield* ask(() => admin.runs.cancel(waits.id)), { state: "canceled" })
        assert.strictEqual((yield* refused(() => admin.runs.cancel(waits.id))).status, 409)
        for (const state of [
          "queued",
          "running",
          "waiting_reply",
          "waiting_tool",
          "completed",
          "failed",
          "canceled",
        ] as const)
          assert.isTrue(
            (yield* ask(() => admin.runs.list({ state, limit: 1 }))).items.every((run) => run.state === state),
          )
      }),
    )

    it.effect("X-06 an agent of either face may end without a word, by its tool or without one", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const [office, other] = [yield* thinker({ toolsets: ["office"] }), yield* thinker(gateway)]
        yield* setRules([{ when: { agent: office.name, step: 1 }, call: [{ tool: "do_nothing" }] }])
        for (const bot of [office, other]) {
          const space = yield* dm(ada, bot)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "nothing to say to that" }))
          const [run] = yield* ended(bot)
          assert.strictEqual(run!.state, "completed", run!.failure ?? "")
          const { items } = yield* ask(() => admin.spaces.messages(space.id))
          assert.strictEqual(items.filter(({ author }) => author.id === bot.id).length, 0)
        }
        // The house's own list of seed 001 has thirteen names, and this is none of them.
        const names = yield* ask(() => other.client.tools.list({ set: "gateway" }))
        const own = names.items.filter((tool) => tool.set === "gateway").map(({ name }) => name)
        assert.notInclude(own, "do_nothing")
        assert.strictEqual(own.length, 13)
      }),
    )
  })
