/** What time does to a run that waits for people. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, Guest } from "../../house.ts"
import { someone } from "../../spaces/spacesGuests.ts"
import { until } from "../../stores.ts"
import { dm, runsHouse, runsOf, setRules, stores, thinker } from "../runsKit.ts"

for (const store of stores)
  layer(runsHouse({ store }), { timeout: 60_000 })(`time of runs on ${store}`, (it) => {
    it.effect("S1-83 a run waits for a form that nobody fills: after ten minutes it goes on, and is told", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const [ada, bot] = [yield* someone(), yield* thinker()]
        const space = yield* dm(ada, bot)
        yield* ask(() =>
          admin.tools.add({
            name: "slow_form",
            description: "People fill it in.",
            inputSchema: { type: "object" },
            executionType: "space",
            execution: {},
          }),
        )
        yield* setRules([
          { when: { agent: bot.name, step: 1 }, call: [{ tool: "slow_form" }] },
          { when: { agent: bot.name, step: 2, outcome: "failed" }, call: [{ tool: "whoami" }] },
        ])
        const began = DateTime.toEpochMillis(yield* DateTime.now)
        const minutes = Effect.map(DateTime.now, (now) => (DateTime.toEpochMillis(now) - began) / 60_000)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "go" }))
        const isIn = (state: string) => Effect.map(runsOf(bot), ([run]) => run?.state === state)
        yield* until(isIn("waiting_tool"))
        yield* TestClock.adjust({ minutes: 9 })
        assert.isTrue(yield* isIn("waiting_tool"))
        // Half a minute at a time: the timer may have looked at the clock just before it was moved.
        yield* until(Effect.andThen(TestClock.adjust({ seconds: 30 }), isIn("completed")))
        assert.isAtLeast(yield* minutes, 10)
        const [run] = yield* runsOf(bot)
        const calls = yield* sql<{ state: string; error: string | null }>`SELECT state, error FROM calls
          WHERE run = ${run!.id} ORDER BY step`
        assert.deepStrictEqual(
          calls.map(({ state }) => state),
          ["expired", "done"],
        )
        const { items } = yield* ask(() => admin.runs.messages(run!.id))
        assert.match(JSON.stringify(items), /expired|in time|nobody/i, "its model was told so")
      }),
    )
  })
