/** Nothing waits for ever, nothing is lost in silence, nothing is kept for ever: the watchdog, dead letters, retention. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Watchdog } from "../../src/runs/upkeep/Watchdog.ts"
import { newId } from "../../src/store/journal/Correlation.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { call, someone } from "../spaces/spacesGuests.ts"
import { quiet } from "../stores.ts"
import { dm, ended, inState, room, runsHouse, runsOf, setRules, stores, thinker } from "./runsKit.ts"

const past = "2020-01-01T00:00:00.000Z"

for (const store of stores)
  layer(Layer.provideMerge(runsHouse({ store }), quiet), { excludeTestServices: true, timeout: 60_000 })(
    `upkeep of runs on ${store}`,
    (it) => {
      const say = (who: { readonly client: import("@stoa/sdk").Stoa }, space: { readonly id: string }, text: string) =>
        ask(() => who.client.spaces.post(space.id, { text }))

      it.effect("G-24 an event that cannot be handled is a dead letter: it is listed, tried again, put away", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const [pam, bot] = [yield* someone(), yield* thinker()]
          yield* setRules([{ call: [{ tool: "whoami" }], when: { step: 1 } }])
          const space = yield* dm(pam, bot)
          // Poison: what this message would wake cannot be written.
          const guard =
            store === "sqlite"
              ? [
                  sql`CREATE TRIGGER poison BEFORE INSERT ON triggers WHEN NEW.text = 'poison' BEGIN SELECT RAISE(ABORT, 'poisoned'); END`,
                  sql`DROP TRIGGER poison`,
                ]
              : [
                  sql`ALTER TABLE triggers ADD CONSTRAINT poison CHECK (text <> 'poison')`,
                  sql`ALTER TABLE triggers DROP CONSTRAINT poison`,
                ]
          yield* guard[0]!
          yield* say(pam, space, "poison")
          yield* say(pam, space, "after it")
          // The reader went on.
          assert.strictEqual((yield* ended(bot)).length, 1)
          const letters = yield* ask(() => admin.deadLetters.list())
          assert.strictEqual(letters.items.length, 1)
          const [letter] = letters.items
          assert.deepStrictEqual([letter!.kind, letter!.tried, letter!.state], ["message.created", 3, "open"])
          // Poisoned still: it stays, and says why.
          const again = yield* Effect.flip(Effect.tryPromise(() => admin.deadLetters.retry(letter!.id)))
          assert.include(String(again.cause), "failed again")
          assert.strictEqual((yield* ask(() => admin.deadLetters.list())).items[0]!.tried, 4)
          assert.strictEqual(
            (yield* ask(() => admin.house.doctor())).findings.find(({ check }) => check === "runs")?.state,
            "warn",
          )
          yield* guard[1]!
          assert.strictEqual((yield* ask(() => admin.deadLetters.retry(letter!.id))).state, "retried")
          assert.strictEqual((yield* ended(bot, 2)).length, 2)
          assert.deepStrictEqual((yield* ask(() => admin.deadLetters.list())).items, [])
          const twice = yield* Effect.flip(Effect.tryPromise(() => admin.deadLetters.dismiss(letter!.id)))
          assert.include(String(twice.cause), "retried already")
          // Nobody else looks at what others did.
          const other = yield* call(pam, "GET", "/runs/dead-letters")
          assert.strictEqual(other.status, 403)
        }),
      )

      it.effect("G-24 the watchdog ends what waits for nothing, for somebody who is gone, and past its time", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { look } = yield* Watchdog
          const [pam, bot] = [yield* someone(), yield* thinker({ toolsets: ["gateway"] })]
          const other = yield* someone("agent")
          const space = yield* room("private", pam, bot, other)
          yield* setRules([
            {
              when: { step: 1 },
              call: [{ tool: "send_message", input: { text: `@${other.name} well?`, wait: true } }],
            },
          ])
          assert.deepStrictEqual(yield* look, {})
          // As if its deadline's timer had been lost.
          const waits = Effect.gen(function* () {
            yield* say(pam, space, `@${bot.name} ask`)
            const run = yield* inState(bot, "waiting_reply")
            yield* sql`DELETE FROM timers WHERE purpose = 'wait'`
            return run
          })
          yield* waits
          yield* sql`UPDATE waits SET deadline_at = ${past} WHERE state = 'open'`
          assert.deepStrictEqual(yield* look, { "a wait past its time": 1 })
          assert.strictEqual((yield* ended(bot)).at(-1)!.stop, "end_turn")

          // As if the ring had been lost: the call has settled, and the run was not told.
          const run = yield* waits
          yield* sql`UPDATE calls SET state = 'done', output = '{}' WHERE run = ${run.id}`
          yield* sql`UPDATE waits SET state = 'resolved' WHERE run = ${run.id}`
          assert.deepStrictEqual(yield* look, { "a run that waits for nothing": 1 })
          assert.strictEqual((yield* ended(bot, 2)).length, 2)

          // A wait that nobody holds any more.
          const third = yield* waits
          yield* sql`UPDATE runs SET state = 'failed', stop = 'error', ended_at = ${past} WHERE id = ${third.id}`
          assert.deepStrictEqual(yield* look, { "a wait of a run that is over": 1 })
          const open = yield* sql`SELECT 1 FROM waits WHERE state = 'open'`
          assert.strictEqual(open.length, 0)
          const noted = yield* sql<{ times: number }>`SELECT times FROM repairs ORDER BY name`
          assert.deepStrictEqual(
            noted.map(({ times }) => times),
            [1, 1, 1],
          )
        }),
      )

      it.effect("a run of this house that nobody works on is taken up again", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { look } = yield* Watchdog
          const [pam, bot] = [yield* someone(), yield* thinker()]
          yield* setRules([{ say: "done" }])
          yield* say(pam, yield* dm(pam, bot), "work")
          const [run] = yield* ended(bot)
          const [me] = yield* sql<{ id: string }>`SELECT id FROM holders`
          // As if its fiber had been lost.
          yield* sql`UPDATE runs SET state = 'running', stop = NULL, ended_at = NULL, owner = ${me!.id} WHERE id = ${run!.id}`
          yield* look
          assert.deepStrictEqual(yield* look, { "a run of this house that nobody works on": 1 })
          yield* ended(bot)
        }),
      )

      it.effect("runs go when their days are over, with all that is theirs; the young and the working stay", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const journal = yield* Journal
          const [pam, bot] = [yield* someone(), yield* thinker()]
          yield* setRules([{ when: { step: 1 }, call: [{ tool: "whoami" }] }])
          const space = yield* dm(pam, bot)
          yield* say(pam, space, "old")
          const [old] = yield* ended(bot)
          yield* say(pam, space, "young")
          yield* ended(bot, 2)
          yield* sql`UPDATE runs SET ended_at = ${past} WHERE id = ${old!.id}`
          yield* journal.transact(
            journal.append({
              kind: "timer.fired",
              body: { timer: newId("tmr"), purpose: "run-retention", payload: null },
            }),
          )
          yield* (yield* Readers).receipt("run-retention")
          assert.strictEqual((yield* runsOf(bot)).length, 1)
          for (const table of ["steps", "run_messages", "triggers"])
            assert.strictEqual((yield* sql`SELECT 1 FROM ${sql(table)} WHERE run = ${old!.id}`).length, 0)
        }),
      )
    },
  )
