/** Runs by tools and by both thinkers: run_agent, stop_run, bursts, the same approval of a model and of a program; budgets. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { doctorReport } from "../../src/operations/Doctor.ts"
import { ask, Guest } from "../house.ts"
import { fresh, refused, someone } from "../spaces/spacesGuests.ts"
import { answersOf, programmed, setProgram, turnsOf } from "../team/teamKit.ts"
import { config, dm, ended, inState, room, runsHouse, runsOf, setRules, stores, thinker, until } from "./runsKit.ts"

const limits = [
  { principal: "*", resource: "tools/owned", count: 3, seconds: 3600, per: "owner" as const },
  ...config.limits,
]
const tool = (name: string, more: object = {}) => ({
  name,
  description: "Does it.",
  inputSchema: { type: "object" },
  executionType: "internal" as const,
  execution: { output: { did: true } },
  ...more,
})

for (const store of stores)
  layer(
    runsHouse({ store, config: { ...config, limits, tools: [tool("owned")] }, env: { STOA_PROGRAMS: "unisolated" } }),
    { excludeTestServices: true, timeout: 90_000 },
  )(`faces of runs on ${store}`, (it) => {
    const openDecision = until(
      Effect.gen(function* () {
        const { admin } = yield* Guest
        return (yield* ask(() => admin.decisions.list({ state: "open" }))).items[0]
      }),
    )

    it.effect(
      "X-16 the same approval under both thinkers: a model's call is completed when it is answered, a program is told at once and gets the result in its next turn",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const ada = yield* someone()
          const careful = fresh("careful").replaceAll("-", "_")
          yield* ask(() => admin.tools.add(tool(careful, { requiresApproval: true })))

          const model = yield* thinker()
          yield* setRules([{ when: { agent: model.name, step: 1 }, call: [{ tool: careful }] }])
          const mine = yield* dm(ada, model)
          yield* ask(() => ada.client.spaces.post(mine.id, { text: "go" }))
          const waits = yield* inState(model, "waiting_tool")
          const { id } = yield* openDecision
          yield* ask(() => admin.decisions.answer(id, { verdict: "approve" }))
          const [run] = yield* ended(model)
          assert.strictEqual(run!.id, waits.id)
          // One call, one result: completed where it stood, and its run went on in the next step.
          const calls = yield* sql<{
            state: string
            step: number
          }>`SELECT state, step FROM calls WHERE run = ${run!.id}`
          assert.deepStrictEqual(calls, [{ state: "done", step: 1 }])
          assert.deepInclude(run!, { state: "completed", step: 2 })

          const program = yield* programmed({ toolsets: ["team", "stoa"] })
          yield* setProgram([
            { when: { agent: program.name, text: careful }, say: "I have seen it." },
            { when: { agent: program.name }, call: [{ tool: careful }], say: "I wait." },
          ])
          const theirs = yield* dm(ada, program)
          yield* ask(() => ada.client.spaces.post(theirs.id, { text: "go" }))
          yield* inState(program, "waiting_tool")
          const asked = yield* openDecision
          // Its call was answered at once, though nobody had decided.
          assert.deepInclude((yield* answersOf(program, careful))[0]!, { state: "waiting" })
          assert.lengthOf(yield* turnsOf(program), 1)
          yield* ask(() => admin.decisions.answer(asked.id, { verdict: "approve" }))
          yield* ended(program)
          const turns = yield* turnsOf(program)
          assert.lengthOf(turns, 2)
          assert.include(turns[1], careful)
          assert.include(turns[1], "did")
        }),
    )

    it.effect(
      "run_agent starts a run and follows it, for who may; its end is the call's, and its text the answer",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [ada, bot] = [yield* someone(), yield* thinker()]
          const caller = yield* someone("agent")
          yield* setRules([{ when: { agent: bot.name, step: 1 }, say: "forty-two" }])
          /** To its end: the call waits for the run, and whoever made it follows it. */
          const use = async () => {
            const input = { agent: bot.name, text: "how much?" }
            const made = await caller.client.tools.call("run_agent", { input })
            if (!("id" in made)) throw new Error("it was not made")
            return caller.client.calls.get(made.id, { wait: 60 })
          }
          const no = yield* ask(use)
          assert.deepInclude(no, { state: "failed" })
          assert.include(
            JSON.stringify(no),
            `You may not execute agents/${bot.name}`,
            "a grant on that agent is needed",
          )
          yield* ask(() =>
            admin.grants.add({
              principal: caller.id,
              actions: ["execute"],
              resource: `agents/${bot.name}`,
              effect: "allow",
            }),
          )
          const answer = yield* ask(use)
          assert.deepInclude(answer, { state: "done" })
          assert.include(JSON.stringify(answer), "forty-two")
          const [run] = yield* runsOf(bot)
          assert.deepInclude(run!, { state: "completed" })
          // One that fails is the call's failure.
          yield* setRules([{ when: { agent: bot.name, step: 1 }, fail: "no thought" }])
          const failed = yield* ask(use)
          assert.deepInclude(failed, { state: "failed" })
          assert.include(JSON.stringify(failed), "no thought")
          assert.strictEqual(
            (yield* refused(() => ada.client.runs.get(run!.id))).status,
            404,
            "nobody else learns of it",
          )
        }),
    )

    it.effect(
      "S1-52 X-61 stop_run ends a run of its own agent's, also the one that calls it; no other's, and none that has ended",
      () =>
        Effect.gen(function* () {
          const ada = yield* someone()
          const [bot, other] = [yield* thinker({ toolsets: ["gateway"] }), yield* thinker({ toolsets: ["gateway"] })]
          const space = yield* room("private", ada, bot, other)
          yield* setRules([
            {
              when: { step: 1, text: "wait" },
              call: [{ tool: "send_message", input: { text: `@${ada.name} well?`, wait: true } }],
            },
          ])
          for (const one of [bot, other])
            yield* ask(() => ada.client.spaces.post(space.id, { text: `@${one.name} wait` }))
          const [mine, theirs] = [yield* inState(bot, "waiting_reply"), yield* inState(other, "waiting_reply")]
          yield* setRules([
            {
              when: { agent: bot.name, step: 1 },
              call: [
                ...[mine.id, theirs.id, mine.id, "{{run}}"].map((runId) => ({ tool: "stop_run", input: { runId } })),
                { tool: "send_message", input: { text: "one word more" } },
              ],
            },
            { when: { agent: bot.name, step: 2 }, call: [{ tool: "send_message", input: { text: "and another" } }] },
          ])
          const here = yield* dm(ada, bot)
          yield* ask(() => ada.client.spaces.post(here.id, { text: "stop them" }))
          const rows = yield* ended(bot, 2)
          assert.deepInclude(
            rows.find(({ id }) => id === mine.id)!,
            { state: "canceled", stop: "cancelled" },
          )
          assert.deepInclude((yield* runsOf(other))[0]!, { state: "waiting_reply" })
          const sql = yield* SqlClient.SqlClient
          // A run that is stopped is over a moment before its calls are.
          const calls = yield* until(
            Effect.map(
              sql<{
                state: string
                error: string | null
              }>`SELECT state, error FROM calls WHERE tool = 'stop_run' AND principal = ${bot.id} ORDER BY place`,
              (made) => (made.some(({ state }) => state === "running") ? undefined : made),
            ),
          )
          assert.deepStrictEqual(
            calls.map(({ state }) => state),
            ["done", "failed", "failed", "canceled"],
          )
          assert.include(calls[3]!.error, "Its run was stopped")
          const own = rows.find(({ id }) => id !== mine.id)!
          assert.deepInclude(own, { state: "canceled", stop: "cancelled", step: 1 }, "it ended with that call")
          // Neither what was asked for beside it nor another step came after it.
          yield* (yield* Readers).receipt("runs")
          assert.deepStrictEqual(yield* sql`SELECT id FROM calls WHERE run = ${own.id} AND tool = 'send_message'`, [])
          assert.strictEqual((yield* ask(() => ada.client.spaces.messages(here.id))).items.length, 1)
        }),
    )

    it.effect("G-07 what comes in a burst before it has begun is one run, with every message in it, each once", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const [ada, bot] = [yield* someone(), yield* thinker()]
        const space = yield* dm(ada, bot)
        yield* setRules([])
        // It cannot begin while it is paused.
        yield* ask(() => admin.pauses.set({ subject: `agents/${bot.id}` }))
        const sent = []
        for (const text of ["one", "two", "three"])
          sent.push(yield* ask(() => ada.client.spaces.post(space.id, { text })))
        yield* (yield* Readers).receipt("runs")
        yield* ask(() => admin.pauses.lift(`agents/${bot.id}`))
        const [run] = yield* ended(bot)
        assert.lengthOf(yield* runsOf(bot), 1)
        const triggers = yield* sql<{
          message: string
        }>`SELECT message FROM triggers WHERE run = ${run!.id} ORDER BY at`
        assert.deepStrictEqual(
          triggers.map(({ message }) => message),
          sent.map(({ id }) => id),
        )
        const { items } = yield* ask(() => admin.runs.messages(run!.id))
        const told = items.find(({ kind }) => kind === "user_message")!.text!
        for (const { id } of sent) assert.include(told, id)
      }),
    )

    it.effect(
      "S4-112 tools' costs are counted; without a word of anybody a run has 1 USD, a session 5, a day 25, the month 200",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const { transact } = yield* Journal
          const ada = yield* someone()
          const paid = fresh("paid").replaceAll("-", "_")
          yield* ask(() => admin.tools.add(tool(paid, { price: 0.6 })))
          const bot = yield* thinker()
          yield* setRules([1, 2].map((step) => ({ when: { agent: bot.name, step }, call: [{ tool: paid }] })))
          const errorOf = Effect.fnUntraced(function* (run: string) {
            const rows = yield* sql<{ state: string; error: string | null }>`SELECT state, error FROM calls
              WHERE run = ${run} ORDER BY step`
            return rows.map(({ error, state }) =>
              error === null ? state : (JSON.parse(error) as { message: string }).message,
            )
          })
          const go = Effect.fnUntraced(function* (count: number) {
            const { run } = yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
            yield* ended(bot, count)
            return run
          })
          const first = yield* go(1)
          const [one, two] = yield* errorOf(first)
          assert.strictEqual(one, "done")
          assert.include(two, "The run has spent 0.60 USD of 1 USD so far")
          assert.deepInclude((yield* ask(() => admin.runs.get(first))).limits, { cost: 1, perDay: { cost: 25 } })
          assert.strictEqual((yield* ask(() => admin.runs.spend())).month.limit, 200)

          const spent = (micros: number) =>
            transact(Effect.orDie(sql`UPDATE spend SET cost_micros = ${micros} WHERE agent = ${bot.id}`))
          yield* spent(24_500_000)
          assert.include((yield* errorOf(yield* go(2)))[0], "Its agent has spent 24.50 USD of 25 USD today")
          yield* spent(199_500_000)
          yield* ask(() => admin.agents.change(bot.id, { limits: { cost: 2, perDay: { cost: 1000 } } }))
          assert.include((yield* errorOf(yield* go(3)))[0], "The house has spent 199.50 USD of 200 USD this month")
          yield* spent(0)

          const session = yield* ask(() => ada.client.chatSessions.add({ agent: bot.name }))
          const say = Effect.fnUntraced(function* (count: number) {
            yield* ask(() => ada.client.chatSessions.post(session.id, { text: "go" }))
            return (yield* ended(bot, count)).find(({ id }) => id > first && !earlier.has(id))!
          })
          const earlier = new Set((yield* runsOf(bot)).map(({ id }) => id))
          const inSession = yield* say(4)
          assert.deepStrictEqual(yield* errorOf(inSession.id), ["done", "done"])
          yield* transact(Effect.orDie(sql`UPDATE runs SET cost_micros = 4500000 WHERE id = ${inSession.id}`))
          earlier.add(inSession.id)
          const next = yield* say(5)
          assert.include((yield* errorOf(next.id))[0], "This chat session has spent 4.50 USD of 5 USD so far")
        }),
    )

    it.effect("G-10 an owner and all agents of theirs are counted together, and another owner's are not", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const owned = Effect.fnUntraced(function* (owner: string) {
          const name = fresh("owned")
          yield* ask(() => admin.principals.add({ kind: "agent", name, owner }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
          return as(token)
        })
        const [ada, ben] = [yield* someone(), yield* someone()]
        const [one, two, other] = [yield* owned(ada.id), yield* owned(ada.id), yield* owned(ben.id)]
        const use = (client: typeof one) => ask(() => client.tools.call("owned", {}))
        for (const client of [one, two, one]) assert.deepInclude(yield* use(client), { state: "done" })
        for (const client of [one, two, ada.client]) {
          const no = yield* refused(() => client.tools.call("owned", {}))
          assert.strictEqual(no.status, 429)
        }
        assert.deepInclude(yield* use(other), { state: "done" })
      }),
    )

    it.effect(
      "a limit that is looser than its toolset's changes nothing, and both the answer and the doctor say so",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const bot = yield* thinker({ toolsets: ["office"] })
          const answer = yield* ask(() => admin.agents.change(bot.id, { limits: { steps: 50, depth: 2, cost: 0.05 } }))
          const note = "steps is 50, and its toolset office allows 5: its runs have 5."
          assert.deepStrictEqual(answer.notes, [note])
          assert.deepStrictEqual((yield* ask(() => admin.agents.get(bot.id))).notes, [note])
          const said = (yield* doctorReport).findings.find(({ check }) => check === "agents")!
          assert.strictEqual(said.state, "warn")
          assert.include(JSON.stringify(said), `${bot.name}: ${note}`)
          yield* setRules([{ when: { agent: bot.name }, call: [{ tool: "do_nothing" }] }])
          yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
          const [run] = yield* ended(bot)
          assert.deepInclude(run!, { stop: "max_steps", step: 5 })
          assert.isUndefined((yield* ask(() => admin.agents.change(bot.id, { limits: { steps: 5 } }))).notes)
        }),
    )
  })
