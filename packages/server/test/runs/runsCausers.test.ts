/** Whoever is at the beginning of a chain pays for it: each way to wake an agent, against each budget of who woke it. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Memories } from "../../src/memory/Memories.ts"
import { hasSpent } from "../../src/runs/spend/accounts.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Timers } from "../../src/store/journal/Timers.ts"
import { ask, Guest } from "../house.ts"
import { fresh, refused, someone, type Someone } from "../spaces/spacesGuests.ts"
import { config, dm, ended, room, type Row, runsHouse, runsOf, setRules, stores, thinker, until } from "./runsKit.ts"

const day = 86_400
/** Fewer wakes than anybody else, and a smaller day with all its agents. */
const limits = [
  { principal: "hasty", resource: "wakes", count: 3, seconds: 60 },
  { principal: "landlord", resource: "spend/cents", count: 300, seconds: day, per: "owner" as const },
  ...config.limits,
]

interface CausedRow extends Row {
  readonly causer: string | null
}
/** Who wakes `bot`, and how: what it returns wakes it once more. */
interface Way {
  readonly causer: Someone
  readonly wake: Effect.Effect<unknown, unknown, Guest>
  /** The agent that stands between them: it is stopped before it wakes the other. */
  readonly between?: { readonly id: string }
}

const grant = Effect.fnUntraced(function* (who: { readonly id: string }, bot: { readonly name: string }) {
  const { admin } = yield* Guest
  yield* ask(() => admin.grants.add({ principal: who.id, resource: `agents/${bot.name}`, actions: ["execute"] }))
})

const usage = { in: 1000, out: 100 }
const thinks = (bot: Someone) => ({ when: { agent: bot.name }, say: "heard", usage })

const ways = {
  "a person writes to it": Effect.fnUntraced(function* (bot: Someone) {
    const causer = yield* someone()
    const space = yield* dm(causer, bot)
    yield* setRules([thinks(bot)])
    return { causer, wake: ask(() => causer.client.spaces.post(space.id, { text: "hello" })) } satisfies Way
  }),
  "an agent without a model writes to it": Effect.fnUntraced(function* (bot: Someone) {
    const causer = yield* someone("agent")
    const space = yield* dm(causer, bot)
    yield* setRules([thinks(bot)])
    return { causer, wake: ask(() => causer.client.spaces.post(space.id, { text: "hello" })) } satisfies Way
  }),
  "a service calls it": Effect.fnUntraced(function* (bot: Someone) {
    const causer = yield* someone("service")
    yield* grant(causer, bot)
    yield* setRules([thinks(bot)])
    return { causer, wake: ask(() => causer.client.agents.trigger(bot.id, { text: "hello" })) } satisfies Way
  }),
  "an agent that a person woke writes to it": Effect.fnUntraced(function* (bot: Someone) {
    const [causer, between] = [yield* someone(), yield* thinker()]
    const [here, there] = [yield* dm(causer, between), yield* room("private", between, bot)]
    const input = { space: there.id, text: `@${bot.name} and you?` }
    yield* setRules([
      { when: { agent: between.name, step: 1 }, call: [{ tool: "post_message", input }], usage },
      { when: { agent: between.name }, say: "done", usage },
      thinks(bot),
    ])
    return { causer, between, wake: ask(() => causer.client.spaces.post(here.id, { text: "go" })) } satisfies Way
  }),
  "an agent that a person woke runs it as a sub-agent": Effect.fnUntraced(function* (bot: Someone) {
    const [causer, between] = [yield* someone(), yield* thinker()]
    yield* grant(between, bot)
    const here = yield* dm(causer, between)
    const input = { agent: bot.name, text: "and you?" }
    yield* setRules([
      { when: { agent: between.name, step: 1 }, call: [{ tool: "run_agent", input }], usage },
      { when: { agent: between.name }, say: "done", usage },
      thinks(bot),
    ])
    return { causer, between, wake: ask(() => causer.client.spaces.post(here.id, { text: "go" })) } satisfies Way
  }),
  "a plan that it made when a person had woken it": Effect.fnUntraced(function* (bot: Someone) {
    const causer = yield* someone()
    const space = yield* dm(causer, bot)
    yield* setRules([thinks(bot)])
    yield* ask(() => causer.client.spaces.post(space.id, { text: "plan something" }))
    const [maker] = yield* ended(bot)
    const { transact } = yield* Journal
    const timers = yield* Timers
    const content = JSON.stringify({ name: "mail", instruction: "Look at the mail." })
    const memory = { namespace: "gateway" as const, kind: "plan" as const, key: "mail", content }
    const { record: plan } = yield* Effect.orDie(
      transact((yield* Memories).put(bot.principal, bot.principal.id, memory)),
    )
    const wake = Effect.gen(function* () {
      const now = yield* DateTime.now
      const payload = { plan: plan.id, principal: bot.id, dueAt: DateTime.formatIso(now), run: maker!.id }
      yield* Effect.orDie(transact(timers.set({ purpose: "plan", key: fresh("plan"), dueAt: now, payload })))
    })
    return { causer, wake } satisfies Way
  }),
}

for (const store of stores)
  layer(runsHouse({ store, config: { ...config, limits } }), { excludeTestServices: true, timeout: 90_000 })(
    `who pays on ${store}`,
    (it) => {
      const runs = (bot: { readonly id: string }) =>
        runsOf(bot) as Effect.Effect<ReadonlyArray<CausedRow>, never, SqlClient.SqlClient>
      const wokenBy = Effect.fnUntraced(function* (who: { readonly id: string }) {
        const { admin } = yield* Guest
        const { items } = yield* ask(() => admin.runs.spend({ days: 1 }))
        return items.find(({ principal }) => principal === who.id)?.woken ?? { cost: 0, tokens: 0 }
      })
      /** As if it had caused that much today. */
      const caused = Effect.fnUntraced(function* (who: { readonly id: string }, wokenMicros: number, wokenTokens = 0) {
        const sql = yield* SqlClient.SqlClient
        const today = DateTime.formatIso(yield* DateTime.now).slice(0, 10)
        const none = { tokensIn: 0, tokensOut: 0, costMicros: 0, causedMicros: 0 }
        yield* sql`DELETE FROM spend WHERE agent = ${who.id}`
        yield* sql`INSERT INTO spend ${sql.insert({ agent: who.id, day: today, ...none, wokenMicros, wokenTokens })}`
        yield* hasSpent(sql)
      })
      const otherWakes = Effect.fnUntraced(function* (bot: Someone, before: number) {
        const other = yield* someone()
        const space = yield* dm(other, bot)
        yield* setRules([thinks(bot)])
        yield* ask(() => other.client.spaces.post(space.id, { text: "and me?" }))
        const last = (yield* ended(bot, before + 1)).at(-1)!
        assert.strictEqual(last.state, "completed", "somebody else still wakes it")
      })

      for (const [name, way] of Object.entries(ways))
        it.effect(`G-11 ${name}: the first cause pays, is stopped by its own day, and nobody else is`, () =>
          Effect.gen(function* () {
            const bot = yield* thinker()
            const { between, causer, wake }: Way = yield* way(bot)
            const had = (yield* runs(bot)).length
            const before = yield* wokenBy(causer)
            yield* wake
            yield* ended(bot, had + 1)
            if (between !== undefined) yield* ended(between)
            assert.strictEqual((yield* runs(bot)).at(-1)!.causer, causer.id)
            const after = yield* wokenBy(causer)
            const steps = between === undefined ? 1 : 3
            assert.strictEqual(after.tokens - before.tokens, steps * (usage.in + usage.out))
            assert.closeTo(after.cost - before.cost, (steps * (usage.in + 10 * usage.out)) / 1e6, 1e-9)

            for (const [micros, tokens, said] of [
              [10_000_000, 0, "has spent 10.00 USD of 10 USD today"],
              [0, 50_000_000, "has used 50000000 of 50000000 tokens today"],
            ] as const) {
              const known = (yield* runs(bot)).length
              const stopped = between ?? bot
              const ofStopped = (yield* runs(stopped)).length
              yield* caused(causer, micros, tokens)
              yield* wake
              const last = (yield* ended(stopped, ofStopped + 1)).at(-1)!
              assert.deepStrictEqual([last.stop, last.step], ["budget_spent", 0])
              assert.include(last.failure, `${causer.name}, who woke it, ${said}`)
              assert.include(last.failure, "An admin can raise it")
              if (between !== undefined) assert.lengthOf(yield* runs(bot), known, "it was not woken at all")
              yield* otherWakes(bot, (yield* runs(bot)).length)
            }
          }),
        )

      it.effect("G-11 an owner's agents spend the owner's day together, however many there are", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const landlord = yield* someone("person", "landlord")
          const bot = yield* thinker()
          yield* setRules([thinks(bot)])
          const tenants = yield* Effect.forEach([1, 2], () =>
            Effect.gen(function* () {
              const { id } = yield* ask(() =>
                admin.principals.add({ kind: "agent", name: fresh("tenant"), owner: landlord.name }),
              )
              yield* grant({ id }, bot)
              const { token } = yield* ask(() => admin.tokens.add({ principal: id }))
              return { id, client: (yield* Guest).as(token) }
            }),
          )
          yield* caused(tenants[0]!, 2_000_000)
          yield* caused(tenants[1]!, 1_000_000)
          yield* ask(() => tenants[1]!.client.agents.trigger(bot.id, { text: "hello" }))
          const [last] = yield* ended(bot)
          assert.strictEqual(last!.stop, "budget_spent")
          assert.include(
            last!.failure,
            "landlord, with all agents that belong to them, has spent 3.00 USD of 3 USD today",
          )
          const { needs } = yield* ask(() => admin.house.figures({}))
          const need = needs.find(({ subject }) => subject === "landlord")
          assert.deepInclude(need, { kind: "budgetNear", urgent: true })
          assert.include(need?.detail, "has spent 3.00 USD of 3 USD today")
          yield* otherWakes(bot, 1)
        }),
      )

      it.effect("G-11 S3-66 mail for which nobody can pay comes along in nobody else's run, however much it is", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [pam, bot] = [yield* someone(), yield* thinker({ toolsets: ["team"] })]
          yield* setRules([thinks(bot)])
          const space = yield* dm(pam, bot)
          yield* caused(pam, 10_000_000)
          // More than one run takes.
          yield* Effect.forEach(
            Array.from({ length: 105 }, (_, n) => n),
            (n) => ask(() => pam.client.spaces.post(space.id, { text: `junk ${n}` })),
            { concurrency: 8, discard: true },
          )
          const failed = until(
            Effect.map(runs(bot), (rows) =>
              rows.length > 0 && rows.every(({ state }) => state === "failed") ? rows : undefined,
            ),
          )
          yield* (yield* Readers).receipt("runs")
          yield* failed
          // The end of a run may begin another.
          yield* (yield* Readers).receipt("runs")
          const all = yield* failed
          yield* otherWakes(bot, all.length)
          const last = (yield* runs(bot)).at(-1)!
          const { items } = yield* ask(() => admin.runs.messages(last.id))
          assert.notInclude(JSON.stringify(items), "junk")
        }),
      )

      it.effect("G-10 who wakes agents too often is told so at the door, and once a minute by a run", () =>
        Effect.gen(function* () {
          const hasty = yield* someone("person", "hasty")
          const [bot, other] = [yield* thinker(), yield* thinker()]
          yield* setRules([thinks(bot), thinks(other)])
          const space = yield* dm(hasty, bot)
          for (let times = 1; times <= 6; times++) {
            yield* ask(() => hasty.client.spaces.post(space.id, { text: `hello ${times}` }))
            yield* ended(bot, Math.min(times, 4))
          }
          const all = yield* runs(bot)
          assert.deepStrictEqual(
            all.map(({ stop }) => stop),
            ["no_tool_call", "no_tool_call", "no_tool_call", "budget_spent"],
          )
          assert.include(all.at(-1)!.failure, 'The limit of 3 in 60 s for agents woken by hasty ("wakes") is used up.')
          yield* grant(hasty, other)
          const { status } = yield* refused(() => hasty.client.agents.trigger(other.id, { text: "hello" }))
          assert.strictEqual(status, 429)
          yield* otherWakes(bot, 4)
        }),
      )

      it.effect("G-11 the month says who has used it", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const [pam, bot] = [yield* someone("person", "spender"), yield* thinker()]
          yield* setRules([thinks(bot)])
          yield* caused(pam, 9_000_000)
          yield* sql`UPDATE spend SET cost_micros = 200000000 WHERE agent = ${pam.id}`
          yield* hasSpent(sql)
          yield* ask(() => admin.agents.trigger(bot.id, { text: "hello" }))
          const [last] = yield* ended(bot)
          assert.strictEqual(last!.stop, "budget_spent")
          assert.include(last!.failure, "The house has spent")
          assert.include(last!.failure, "Most of it was caused by")
          assert.include(last!.failure, "spender 9.00")
          yield* sql`DELETE FROM spend WHERE agent = ${pam.id}`
          yield* hasSpent(sql)
        }),
      )
    },
  )
