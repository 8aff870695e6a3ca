/** A run that waited has its slot with the ring that ends its wait, where there is room for it; where there is none it waits for its turn. */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { makeRunRecorder } from "../../../src/runs/record/record.ts"
import type { RunRow } from "../../../src/runs/record/rows.ts"
import { Dispatch } from "../../../src/runs/working/Dispatch.ts"
import { Holder } from "../../../src/store/leases/Holder.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../../house.ts"
import { fresh } from "../../spaces/spacesGuests.ts"
import { ended, inState, runsHouse, runsOf, setRules, settled, stores, thinker, until } from "../runsKit.ts"

/** A run of an agent that waits, with nothing open any more: the next ring ends that. */
const waiting = Effect.fnUntraced(function* (bot: { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<Record<string, unknown>>`SELECT * FROM runs WHERE agent = ${bot.id} LIMIT 1`
  const id = `run_${crypto.randomUUID()}`
  const state = { state: "waiting_tool", step: 0, fence: 1, stop: null, owner: null, endedAt: null }
  yield* sql`INSERT INTO runs ${sql.insert({ ...rows[0], id, ...state })}`
  return id
})

/** Rings it, and says what its row is before anybody else can see it. */
const ring = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const { takeSlot } = yield* Dispatch
  yield* (yield* makeRunRecorder).ring([id], takeSlot)
  return (yield* Effect.orDie(sql<RunRow>`SELECT * FROM runs WHERE id = ${id}`))[0]!
})

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(`runs that go on, on ${store}`, (it) => {
    const begun = Effect.gen(function* () {
      const { admin } = yield* Guest
      const bot = yield* thinker()
      yield* setRules([{ when: {}, say: "done" }])
      yield* ask(() => admin.agents.trigger(bot.name, { text: "go" }))
      yield* ended(bot)
      yield* settled
      return bot
    })

    /** Until the house knows that its queue is empty, a run waits for its turn. */
    const withSlot = Effect.fnUntraced(function* (bot: { readonly id: string }) {
      const { transact } = yield* Journal
      for (let tries = 1; tries <= 20; tries++) {
        yield* settled
        const row = yield* transact(ring(yield* waiting(bot)))
        if (row.state === "running") return row
        yield* ended(bot, tries + 1)
      }
      return assert.fail("it never had its slot with the ring")
    })

    it.effect("with room for it, it is claimed with the ring, under a new fence, and ends as every run", () =>
      Effect.gen(function* () {
        const bot = yield* begun
        const row = yield* withSlot(bot)
        assert.deepInclude(row, { fence: 2, resumed: 1 })
        assert.isNotNull(row.owner)
        yield* until(
          Effect.map(runsOf(bot), (rows) => rows.find(({ id, state }) => id === row.id && state === "completed")),
        )
        // On a slow disk its row is there a moment before its events can be read.
        const kinds = yield* until(
          Effect.map((yield* Journal).read({ after: 0, limit: 10_000 }), (events) => {
            const mine = events.filter((event) => "run" in event.body && event.body.run === row.id)
            return mine.some(({ kind }) => kind === "run.ended") ? mine.map(({ kind }) => kind) : undefined
          }),
        )
        assert.deepStrictEqual(kinds, ["run.resumed", "run.stepped", "run.ended"])
      }),
    )

    it.effect("a ring that is not committed leaves the slot to others, and the run waits", () =>
      Effect.gen(function* () {
        const { transact } = yield* Journal
        const { working } = yield* Dispatch
        const bot = yield* begun
        yield* withSlot(bot)
        yield* settled
        const [id, before] = [yield* waiting(bot), (yield* runsOf(bot)).length]
        const undone = yield* Effect.exit(
          transact(
            Effect.gen(function* () {
              // In a transaction within it, which is done: what is around it is not.
              assert.strictEqual((yield* transact(ring(id))).state, "running")
              assert.strictEqual(working(), 1)
              return yield* Effect.fail("no")
            }),
          ),
        )
        assert.isTrue(Exit.isFailure(undone))
        assert.strictEqual(working(), 0)
        assert.strictEqual((yield* inState(bot, "waiting_tool")).id, id)
        // Nobody waits for a slot that was given up.
        yield* transact(ring(id))
        yield* ended(bot, before)
      }),
    )

    it.effect("a run whose ring may have been committed after all is nobody's work for a moment, and goes on", () =>
      Effect.gen(function* () {
        const { transact } = yield* Journal
        const { takeSlot } = yield* Dispatch
        const sql = yield* SqlClient.SqlClient
        const bot = yield* begun
        yield* withSlot(bot)
        yield* settled
        const [id, before] = [yield* waiting(bot), (yield* runsOf(bot)).length]
        const row = (yield* sql<RunRow>`SELECT * FROM runs WHERE id = ${id}`)[0]!
        // As if the answer to the COMMIT were lost: the row is written, and the transaction has failed.
        yield* sql`UPDATE runs SET state = 'running', fence = 2, owner = ${(yield* Holder).id} WHERE id = ${id}`
        const lost = transact(Effect.andThen(takeSlot(row), (slot) => Effect.fail(slot)))
        assert.isDefined(yield* Effect.flip(lost))
        yield* ended(bot, before)
      }),
    )

    it.effect("one that follows another waits for its turn: whether that one is over is known there", () =>
      Effect.gen(function* () {
        const { transact } = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const bot = yield* begun
        const first = yield* withSlot(bot)
        yield* settled
        const [id, before] = [yield* waiting(bot), (yield* runsOf(bot)).length]
        yield* sql`UPDATE runs SET after_run = ${first.id} WHERE id = ${id}`
        assert.deepInclude(yield* transact(ring(id)), { state: "queued", owner: null })
        yield* ended(bot, before)
      }),
    )

    it.effect("while its agent is held or paused it waits for its turn", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { transact } = yield* Journal
        const bot = yield* begun
        yield* withSlot(bot)
        for (const [stop, go] of [
          [() => admin.agents.change(bot.id, { gate: "held" }), () => admin.agents.change(bot.id, { gate: "open" })],
          [() => admin.pauses.set({ subject: `agents/${bot.name}` }), () => admin.pauses.lift(`agents/${bot.name}`)],
        ] as const) {
          yield* settled
          yield* ask<unknown>(stop)
          // A pause ends what waits at that moment.
          yield* (yield* Readers).receipt("runs")
          // A pause ends what waits at that moment.
          yield* (yield* Readers).receipt("runs")
          const [id, before] = [yield* waiting(bot), (yield* runsOf(bot)).length]
          assert.deepInclude(yield* transact(ring(id)), { state: "queued", owner: null, fence: 1 })
          yield* ask<unknown>(go)
          yield* ended(bot, before)
        }
      }),
    )

    it.effect("of two calls it waits for the first answer leaves it where it is, and the second lets it go on", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { working } = yield* Dispatch
        const careful = fresh("careful").replaceAll("-", "_")
        yield* ask(() =>
          admin.tools.add({
            name: careful,
            description: "Does it.",
            inputSchema: { type: "object" },
            executionType: "internal",
            execution: { output: { did: true } },
            requiresApproval: true,
          }),
        )
        const bot = yield* thinker()
        yield* setRules([{ when: { step: 1 }, call: [{ tool: careful }, { tool: careful }] }])
        yield* ask(() => admin.agents.trigger(bot.name, { text: "go" }))
        yield* inState(bot, "waiting_tool")
        const { items } = yield* ask(() => admin.decisions.list({ state: "open" }))
        assert.lengthOf(items, 2)
        const [first, second] = items
        yield* settled
        yield* ask(() => admin.decisions.answer(first!.id, { verdict: "approve" }))
        yield* until(
          Effect.map(
            ask(() => admin.calls.get(first!.call!.id)),
            ({ state }) => (state === "done" ? true : undefined),
          ),
        )
        yield* until(Effect.sync(() => (working() === 0 ? true : undefined)))
        assert.strictEqual((yield* runsOf(bot))[0]!.state, "waiting_tool")
        yield* ask(() => admin.decisions.answer(second!.id, { verdict: "approve" }))
        const [run] = yield* ended(bot)
        assert.deepInclude(run!, { state: "completed", step: 2 })
      }),
    )
  })
