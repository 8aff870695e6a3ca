/** What a step may cost is reserved before its model is asked: runs at the same time do not count on the same money. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it as alone, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { pause } from "../../../../test/pause.ts"
import { ask, Guest } from "../house.ts"
import { homes, kill, look, send, start, token } from "../killedHouse.ts"
import { someone } from "../spaces/spacesGuests.ts"
import { cluster, open } from "./houses/housesKit.ts"
import { config, ended, runsHouse, setRules, stores, thinker } from "./runsKit.ts"

/** A step costs 0.40 USD, and no more is possible. */
const price = { in: 0, out: 10 }
const usage = { in: 10, out: 40_000 }
const demo = { provider: "scripted", rules: "rules.json", price, maxOutput: usage.out }
const free = { provider: "scripted", rules: "rules.json", maxOutput: usage.out }
const limits = [
  { principal: "spender", resource: "spend/cents", count: 50, seconds: 86_400 },
  { principal: "talker", resource: "spend/tokens", count: 50_000, seconds: 86_400 },
  ...config.limits,
]
const file = { ...config, limits, models: { demo, free } }
const slow = { when: {}, say: "done", waitMs: 200, usage }
const five = [1, 2, 3, 4, 5]

for (const store of stores)
  layer(runsHouse({ store, config: file }), { excludeTestServices: true, timeout: 90_000 })(
    `reservations on ${store}`,
    (it) => {
      /** Two were asked; the others waited for them, and found nothing left. */
      const checkTwo = (
        rows: ReadonlyArray<{ readonly stop: string | null; readonly failure: string | null }>,
        said: string,
      ) => {
        assert.strictEqual(rows.filter(({ stop }) => stop === "no_tool_call").length, 2)
        const stopped = rows.filter(({ stop }) => stop === "budget_spent")
        assert.lengthOf(stopped, 3)
        for (const { failure } of stopped) assert.include(failure, said)
      }
      const spentBy = Effect.fnUntraced(function* (agents: ReadonlyArray<{ readonly id: string }>) {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ micros: number; reserved: number }>`SELECT
          CAST(sum(cost_micros) AS BIGINT) AS micros, CAST(sum(reserved_micros + reserved_tokens) AS BIGINT) AS reserved
          FROM runs WHERE ${sql.in(
            "agent",
            agents.map(({ id }) => id),
          )}`
        return rows[0]!
      })

      it.effect("G-11 five runs of one agent at once exceed its day by one step at most", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const bot = yield* thinker({ toolsets: ["gateway"], limits: { perDay: { cost: 0.5 } } })
          yield* setRules([slow])
          yield* ask(() => Promise.all(five.map(() => admin.agents.trigger(bot.id, { text: "spend" }))))
          checkTwo(yield* ended(bot, 5), "Its agent has spent 0.80 USD of 0.5 USD today")
          assert.deepEqual(yield* spentBy([bot]), { micros: 800_000, reserved: 0 })
        }),
      )

      for (const [who, model, said] of [
        ["spender", "demo", "spender, who woke it, has spent 0.80 USD of 0.5 USD today"],
        ["talker", "free", "talker, who woke it, has used 80020 of 50000 tokens today"],
      ] as const)
        it.effect(`G-11 five agents that ${who} wakes at once exceed the day of ${who} by one step at most`, () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const service = yield* someone("service", who)
            yield* setRules([slow])
            const bots = yield* Effect.forEach(five, () => thinker())
            for (const bot of bots) {
              yield* ask(() => admin.agents.change(bot.id, { model }))
              yield* ask(() =>
                admin.grants.add({ principal: service.id, resource: `agents/${bot.name}`, actions: ["execute"] }),
              )
            }
            yield* ask(() => Promise.all(bots.map(({ id }) => service.client.agents.trigger(id, { text: "spend" }))))
            const rows = yield* Effect.forEach(bots, (bot) => ended(bot))
            checkTwo(rows.flat(), said)
            assert.strictEqual((yield* spentBy(bots)).reserved, 0)
          }),
        )
    },
  )

for (const [name, home] of homes)
  describe(`reservations and kill -9 on ${name}`, () => {
    alone.live(
      "G-23 what a dead house has reserved is free when its run is taken over",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const rules = (waitMs: number) =>
            writeFileSync(join(at.args[0]!, "rules.json"), JSON.stringify({ rules: [{ ...slow, waitMs }] }))
          rules(60_000)
          let house = yield* start(at, file)
          const sent = (method: string, path: string, body?: object) =>
            Effect.suspend(() => send(house.url, token, method, path, body))
          const states = Effect.map(sent("GET", "/runs?limit=20"), ({ body }) =>
            (body["items"] as ReadonlyArray<{ readonly state: string }>).map(({ state }) => state),
          )
          yield* sent("POST", "/principals", { kind: "agent", name: "bot" })
          yield* sent("PATCH", "/agents/bot", { model: "demo", limits: { perDay: { cost: 0.5 } } })
          yield* sent("POST", "/agents/bot/trigger", { text: "spend" })
          while (!(yield* states).includes("running")) yield* Effect.promise(pause)
          const reserved = Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            return (yield* sql<{ n: number; running: number }>`SELECT CAST(sum(reserved_micros) AS BIGINT) AS n,
              count(CASE WHEN state = 'running' THEN 1 END) AS running FROM runs`)[0]!
          })
          // Its prompt is built in a moment.
          for (let looks = 0; looks < 40; looks++) yield* Effect.promise(pause)
          yield* kill(at, house.child)
          assert.deepEqual(yield* look(at, reserved), { n: 400_000, running: 1 })
          rules(0)
          house = yield* start(at, file)
          // It is asked again; and there is room for one more, as there would not be beside a reservation of the dead.
          yield* sent("POST", "/agents/bot/trigger", { text: "spend" })
          while ((yield* states).filter((state) => state === "completed").length < 2) yield* Effect.promise(pause)
          yield* kill(at, house.child)
          assert.deepEqual(yield* look(at, reserved), { n: 0, running: 0 })
        }),
      60_000,
    )
  })

alone.live(
  "G-11 two houses on one database reserve from the same budget",
  () =>
    Effect.gen(function* () {
      const on = yield* cluster
      on.rules([slow])
      const models = { demo: { ...demo, rules: on.config.models.demo.rules } }
      const both = { ...on, config: { ...on.config, models } }
      const houses = [yield* open(both), yield* open(both)]
      const sent = (at: number, method: string, path: string, body?: object) =>
        send(houses[at]!.url, token, method, path, body)
      yield* sent(0, "POST", "/principals", { kind: "agent", name: "bot", toolsets: ["gateway"] })
      yield* sent(0, "PATCH", "/agents/bot", { model: "demo", limits: { perDay: { cost: 0.5 } } })
      yield* Effect.forEach([...five, 6], (at) => sent(at % 2, "POST", "/agents/bot/trigger", { text: "spend" }), {
        concurrency: "unbounded",
      })
      const runs = Effect.map(
        Effect.suspend(() => sent(0, "GET", "/runs?limit=20")),
        ({ body }) => body["items"] as ReadonlyArray<{ readonly stop: string | null; readonly cost: number }>,
      )
      while ((yield* runs).some(({ stop }) => stop === null)) yield* Effect.promise(pause)
      const all = yield* runs
      assert.lengthOf(all, 6)
      assert.closeTo(
        all.reduce((sum, { cost }) => sum + cost, 0),
        0.8,
        1e-9,
      )
      assert.strictEqual(all.filter(({ stop }) => stop === "budget_spent").length, 4)
      for (const { child } of houses) yield* child.kill
    }),
  60_000,
)
