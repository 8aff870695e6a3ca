/** What is spent is counted and seen; the first budget that is empty names itself, before anything more is spent. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../src/access/identity/Agents.ts"
import { hasSpent } from "../../src/runs/spend/accounts.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest } from "../house.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { dm, ended, runsHouse, setRules, stores, thinker } from "./runsKit.ts"

for (const store of stores)
  layer(runsHouse({ store, env: { STOA_MONTH_BUDGET: "2" } }), { excludeTestServices: true, timeout: 60_000 })(
    `budgets on ${store}`,
    (it) => {
      /** A tool with a price that says how often it ran. */
      const priced = Effect.fnUntraced(function* (price: number) {
        const { admin } = yield* Guest
        const name = fresh("paid").replaceAll("-", "_")
        yield* ask(() =>
          admin.tools.add({
            name,
            description: "Costs something.",
            inputSchema: { type: "object" },
            executionType: "internal",
            execution: { output: { ok: true } },
            price,
          }),
        )
        return name
      })
      const forget = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM spend`)
      const limit = Effect.fnUntraced(function* (agent: string, limits: object) {
        const { transact } = yield* Journal
        yield* Effect.orDie(transact((yield* Agents).change(agent, { limits })))
      })

      it.effect(
        "S4-112 G-11 a call over budget is refused before it runs; a run, a day and the month each say so",
        () =>
          Effect.gen(function* () {
            yield* forget
            const { admin } = yield* Guest
            const bot = yield* someone("agent")
            const tool = yield* priced(0.4)
            const use = Effect.tryPromise(() => bot.client.tools.call(tool, {}))
            yield* limit(bot.id, { perDay: { cost: 1 } })
            for (const _ of [1, 2]) assert.include(yield* use, { state: "done" })
            const refused = yield* Effect.flip(use)
            assert.include(String(refused.cause), "costs 0.4 USD, and was not run")
            assert.include(String(refused.cause), "has spent 0.80 USD of 1 USD today")
            // Others have their own day; the house has one month.
            const other = yield* someone("agent")
            const theirs = Effect.tryPromise(() => other.client.tools.call(tool, {}))
            for (const _ of [1, 2, 3]) assert.include(yield* theirs, { state: "done" })
            assert.include(
              String((yield* Effect.flip(theirs)).cause),
              "The house has spent 2.00 USD of 2 USD this month",
            )
            const report = yield* ask(() => admin.runs.spend())
            assert.deepStrictEqual([report.month.cost, report.month.limit], [2, 2])
            assert.deepStrictEqual(report.items.map(({ cost }) => cost).toSorted(), [0.8, 1.2])
            // Whoever is neither admin nor owner sees their own.
            const own = yield* ask(() => bot.client.runs.spend({ days: 1 }))
            assert.deepStrictEqual(
              own.items.map(({ cost, principal }) => [principal, cost]),
              [[bot.id, 0.8]],
            )
          }),
      )

      it.effect(
        "a run pays for its tools, and ends by its own budget; the month's ends every run before it thinks",
        () =>
          Effect.gen(function* () {
            yield* forget
            const sql = yield* SqlClient.SqlClient
            const tool = yield* priced(0.4)
            const [pam, bot] = [yield* someone(), yield* thinker({ limits: { cost: 0.5 } })]
            yield* setRules([1, 2, 3].map((step) => ({ when: { step }, call: [{ tool }] })))
            const space = yield* dm(pam, bot)
            const say = (text: string) => ask(() => pam.client.spaces.post(space.id, { text }))
            yield* say("spend")
            const [run] = yield* ended(bot)
            const calls = yield* sql<{ state: string; error: string | null }>`SELECT state, error FROM calls
            WHERE run = ${run!.id} ORDER BY step`
            assert.deepStrictEqual(
              calls.map(({ state }) => state),
              ["done", "refused", "refused"],
            )
            assert.include(calls[1]!.error, "The run has spent 0.40 USD of 0.5 USD so far")
            yield* Effect.andThen(sql`UPDATE spend SET cost_micros = 2000000 WHERE agent = ${bot.id}`, hasSpent(sql))
            yield* say("again")
            const last = (yield* ended(bot, 2)).at(-1)!
            assert.deepStrictEqual([last.stop, last.step], ["budget_spent", 0])
            assert.include(last.failure, "The house has spent 2.00 USD of 2 USD this month")
          }),
      )

      it.effect("an agent's day is spent by all who work for it, and each of them is stopped by it", () =>
        Effect.gen(function* () {
          yield* forget
          const { admin } = yield* Guest
          const tool = yield* priced(0.2)
          const [boss, middle, one, two] = [
            yield* someone("agent"),
            yield* someone("agent"),
            yield* someone("agent"),
            yield* someone("agent"),
          ]
          yield* limit(boss.id, { perDay: { cost: 0.5 } })
          for (const [who, parent] of [
            [middle, boss],
            [one, middle],
            [two, middle],
          ] as const)
            yield* ask(() => admin.agents.change(who.id, { parent: parent.id, limits: { perDay: { cost: 0.5 } } }))
          const pay = (who: typeof one) =>
            Effect.match(
              ask(() => who.client.tools.call(tool, { input: {} })),
              { onFailure: (error) => (error as Error).message, onSuccess: () => "paid" },
            )
          assert.strictEqual(yield* pay(one), "paid")
          assert.strictEqual(yield* pay(two), "paid")
          assert.include(yield* pay(boss), "Its agent has spent 0.40 USD of 0.5 USD today")
          assert.include(
            yield* pay(two),
            `${middle.name}, with all who work for it, has spent 0.40 USD of 0.5 USD today`,
          )
          yield* ask(() => admin.agents.change(middle.id, { limits: {} }))
          assert.include(yield* pay(two), `${boss.name}, with all who work for it, has spent 0.40 USD of 0.5 USD today`)
          // Apart from it, it has its own day.
          yield* ask(() => admin.agents.change(two.id, { parent: null }))
          assert.strictEqual(yield* pay(two), "paid")
          assert.strictEqual(yield* pay(one), "paid")
        }),
      )

      it.effect("what an agent does at another's request counts against the budget of both", () =>
        Effect.gen(function* () {
          yield* forget
          const { admin } = yield* Guest
          const tool = yield* priced(0.3)
          const bot = yield* thinker()
          const boss = yield* someone("agent")
          yield* ask(() =>
            admin.grants.add({ principal: boss.id, resource: `agents/${bot.name}`, actions: ["execute"] }),
          )
          yield* limit(boss.id, { perDay: { cost: 0.5 } })
          yield* setRules([
            { when: { step: 1 }, call: [{ tool }] },
            { when: { step: 2 }, say: "done" },
          ])
          const run = () => boss.client.tools.call("run_agent", { input: { agent: bot.name, text: "work" } })
          yield* Effect.tryPromise(run)
          yield* ended(bot)
          const report = yield* ask(() => admin.runs.spend())
          const of = (who: { readonly id: string }) => report.items.find(({ principal }) => principal === who.id)
          assert.deepStrictEqual([of(bot)?.cost, of(bot)?.caused], [0.3, 0])
          assert.deepStrictEqual([of(boss)?.cost, of(boss)?.caused], [0, 0.3])
          assert.strictEqual(report.month.cost, 0.3)
          yield* Effect.tryPromise(run)
          const last = (yield* ended(bot, 2)).at(-1)!
          const sql = yield* SqlClient.SqlClient
          const calls = yield* sql<{ error: string | null }>`SELECT error FROM calls WHERE run = ${last.id}`
          assert.include(calls[0]!.error, `${boss.name}, for whom it works, has spent 0.30 USD of 0.5 USD today`)
        }),
      )
    },
  )
