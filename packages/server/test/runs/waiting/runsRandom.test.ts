/** Agents that ask each other at random and wait: none waits for ever. Two that always answer each other come to an end. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { Timers } from "../../../src/store/journal/Timers.ts"
import { ask } from "../../house.ts"
import { someone } from "../../spaces/spacesGuests.ts"
import { room, runsHouse, runsOf, setRules, stores, thinker, until } from "../runsKit.ts"

const gateway = { toolsets: ["gateway" as const], limits: { depth: 2 } }

/** The same numbers for the same seed. */
const dice = (seed: number) => () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648

for (const store of stores)
  layer(runsHouse({ store, env: { STOA_SLOTS: "2" } }), { excludeTestServices: true, timeout: 120_000 })(
    `agents at random on ${store}`,
    (it) => {
      const openRuns = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ state: string }>`SELECT state FROM runs WHERE ended_at IS NULL`,
      )
      /** The time of all who wait is over. */
      const timePasses = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { transact } = yield* Journal
        const timers = yield* Timers
        const open = yield* sql<{ id: string }>`SELECT id FROM waits WHERE state = 'open'`
        const dueAt = yield* DateTime.now
        for (const { id } of open)
          yield* transact(timers.set({ purpose: "wait", key: id, dueAt, payload: { wait: id } }))
        return open.length
      })

      for (const seed of [7, 42])
        it.effect(`random agents with random sync messages leave no wait open (${seed})`, () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const next = dice(seed)
            const pam = yield* someone()
            const bots = yield* Effect.forEach([1, 2, 3], () => thinker(gateway))
            const space = yield* room("private", pam, ...bots)
            const any = () => bots[Math.floor(next() * bots.length)]!
            const asks = () => ({
              tool: "send_message",
              input: { text: `@${any().name} well?`, ...(next() < 0.7 ? { wait: true } : {}) },
            })
            yield* setRules(
              bots.flatMap((bot) =>
                [1, 2].map((step) => ({
                  when: { agent: bot.name, step },
                  call: next() < 0.3 ? [{ tool: "whoami" }] : [asks()],
                })),
              ),
            )
            yield* ask(() => pam.client.spaces.post(space.id, { text: bots.map(({ name }) => `@${name}`).join(" ") }))
            yield* (yield* Readers).receipt("runs")
            for (;;) {
              const open = yield* openRuns
              if (open.length === 0) break
              // Nobody works, all wait: so time goes by.
              if (open.every(({ state }) => state.startsWith("waiting"))) yield* timePasses
              yield* Effect.sleep(10)
            }
            yield* (yield* Readers).receipt("runs")
            assert.strictEqual((yield* sql`SELECT 1 FROM waits WHERE state = 'open'`).length, 0)
            assert.strictEqual(
              (yield* sql`SELECT 1 FROM calls WHERE state IN ('received', 'waiting', 'running')`).length,
              0,
            )
          }),
        )

      it.effect("two agents that always answer each other stop at the limit, and what they wait for says why", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const pam = yield* someone()
          const [one, two] = [yield* thinker(gateway), yield* thinker(gateway)]
          const space = yield* room("private", pam, one, two)
          yield* setRules(
            [
              [one, two],
              [two, one],
            ].map(([from, to]) => ({
              when: { agent: from!.name, step: 1 },
              call: [{ tool: "send_message", input: { text: `@${to!.name} and you?`, wait: true } }],
            })),
          )
          yield* ask(() => pam.client.spaces.post(space.id, { text: `@${one.name} begin` }))
          const both = Effect.map(Effect.all([runsOf(one), runsOf(two)]), (all) => all.flat())
          // The last is told that nobody answers. Whoever was asked anew instead waits on for a reply, until its
          // time is over.
          yield* until(
            Effect.map(both, (rows) =>
              rows.some(({ state }) => state === "completed") &&
              rows.every(({ state }) => state === "completed" || state === "waiting_reply")
                ? true
                : undefined,
            ),
          )
          yield* timePasses
          yield* until(
            Effect.map(both, (rows) => (rows.every(({ state }) => state === "completed") ? true : undefined)),
          )
          const runs = yield* both
          assert.isAtMost(Math.max(...runs.map(({ chainDepth }) => chainDepth)), 10)
          assert.isTrue(runs.every(({ state }) => state === "completed"))
          // Nobody's time was over: the last was told that nobody answers, and so were those before it.
          const waits = yield* sql<{ state: string; outcome: string }>`SELECT w.state, w.outcome FROM waits w
            JOIN runs r ON r.id = w.run WHERE w.space = ${space.id} ORDER BY r.chain_depth`
          assert.strictEqual(waits.at(-1)!.state, "silent")
          assert.include(waits.at(-1)!.outcome, '"ended":"silent"')
        }),
      )
    },
  )
