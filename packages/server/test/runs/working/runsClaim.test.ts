/** Who is next is claimed, also where somebody held its row when its turn came, and nothing happens afterwards. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Dispatch } from "../../../src/runs/working/Dispatch.ts"
import { ask, Guest } from "../../house.ts"
import { listen } from "../../spaces/spacesGuests.ts"
import { ended, inState, runsHouse, setRules, thinker, until } from "../runsKit.ts"

layer(runsHouse({ store: "postgres" }), { excludeTestServices: true, timeout: 90_000 })("claims on postgres", (it) => {
  it.effect("a run whose row is locked when it may begin begins when the lock is gone, without another event", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { admin } = yield* Guest
      const { working } = yield* Dispatch
      const [bot, other] = [yield* thinker(), yield* thinker()]
      yield* setRules([{ when: {}, say: "done" }])
      yield* ask(() => admin.agents.change(bot.id, { gate: "held" }))
      yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
      const { id } = yield* inState(bot, "queued")
      const [locked, free] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT id FROM runs WHERE id = ${id} FOR UPDATE`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(free)
          }),
        ),
      )
      yield* Deferred.await(locked)
      yield* ask(() => admin.agents.change(bot.id, { gate: "open" }))
      // Another one is claimed and over: this one's turn has come and gone.
      yield* ask(() => admin.agents.trigger(other.id, { text: "go" }))
      yield* ended(other)
      yield* until(Effect.sync(() => (working() === 0 ? true : undefined)))
      for (let looks = 0; looks < 50; looks++) yield* sql`SELECT state FROM runs WHERE id = ${id}`
      assert.strictEqual((yield* inState(bot, "queued")).id, id)
      yield* Deferred.succeed(free, undefined)
      yield* Fiber.join(holding)
      assert.strictEqual((yield* ended(bot))[0]!.state, "completed")
    }),
  )
})

const env = {
  STOA_RUNNER: "cluster",
  STOA_SECRET_KEY: "a-key-of-all-houses",
  STOA_ADMIN_TOKEN: "a-token-of-all-houses",
}

layer(runsHouse({ store: "postgres", env }), { excludeTestServices: true, timeout: 90_000 })("taken over", (it) => {
  it.effect("G-23 what a house that died has shown of a step is taken back before it is shown again, and once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { admin, adminToken } = yield* Guest
      const bot = yield* thinker()
      yield* setRules([
        { when: { step: 1 }, say: "a word", call: [{ tool: "whoami" }] },
        { when: {}, say: "done" },
      ])
      yield* ask(() => admin.agents.change(bot.id, { gate: "held" }))
      const { run } = yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
      const seen: Array<string> = []
      yield* listen({ token: adminToken }, {}, ({ event = "" }) => void seen.push(event))
      yield* sql`UPDATE runs SET state = 'running', owner = 'own_gone', fence = 1, started_at = created_at WHERE id = ${run}`
      assert.deepInclude((yield* ended(bot))[0]!, { state: "completed", step: 2 })
      yield* until(Effect.sync(() => (seen.includes("run.ended") ? true : undefined)))
      assert.deepStrictEqual(
        seen.filter((kind) => kind === "run.restarted" || kind === "run.text"),
        ["run.restarted", "run.text", "run.text"],
      )
    }),
  )
})
