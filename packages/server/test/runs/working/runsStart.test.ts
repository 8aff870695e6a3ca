/** A run that somebody asks for is claimed with its row where there is room for it, and waits for its turn where there is none. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../../src/access/identity/Principals.ts"
import { houseViewer } from "../../../src/access/rights/Viewer.ts"
import { Dispatch } from "../../../src/runs/working/Dispatch.ts"
import { Triggers } from "../../../src/runs/waking/Triggers.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { times } from "../../../../../test/long.ts"
import { pause } from "../../../../../test/pause.ts"
import { ask, Guest } from "../../house.ts"
import { ended, inState, runsHouse, setRules, settled, stores, thinker, until } from "../runsKit.ts"

/** Asks for a run, and looks at its row the moment that is answered: nobody has had time to claim it since. */
const asked = Effect.fnUntraced(function* ({ id }: { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  const by = houseViewer(yield* (yield* Principals).get("admin"))
  const run = yield* (yield* Triggers).start(id, { text: "go", space: null, key: undefined, run: undefined }, by)
  const rows = yield* sql<{ fence: number; startedAt: string | null }>`SELECT * FROM runs WHERE id = ${run}`
  return { run, isClaimed: rows[0]!.startedAt !== null && rows[0]!.fence === 1 }
})

/** More of them meet at the wrong moment by chance. */
const rounds = times(24, 400)
const later = (milliseconds: number) =>
  milliseconds === 0 ? Effect.void : Effect.promise(() => new Promise<void>((go) => void setTimeout(go, milliseconds)))

/** Asks until one is claimed with its row: the house has just begun, or has just ended another. */
const isClaimedAtOnce = Effect.fnUntraced(function* (bot: { readonly id: string }) {
  for (let tries = 0; tries < 20; tries++) {
    yield* settled
    if ((yield* asked(bot)).isClaimed) return true
    yield* ended(bot, tries + 1)
  }
  return false
})

for (const store of stores)
  layer(runsHouse({ store, env: { STOA_SLOTS: "2" } }), { excludeTestServices: true, timeout: 90_000 })(
    `runs that are asked for, on ${store}`,
    (it) => {
      it.effect("with room for it, a run is queued, claimed and begun with one commit, and ends as every run", () =>
        Effect.gen(function* () {
          const bot = yield* thinker()
          yield* setRules([{ when: {}, say: "done" }])
          assert.isTrue(yield* isClaimedAtOnce(bot))
          yield* settled
          const { run } = yield* asked(bot)
          const journal = yield* Journal
          // The row of the run may be read a moment before this process knows of the events written with it.
          const events = yield* until(
            Effect.map(journal.read({ after: 0, limit: 10_000 }), (all) => {
              const own = all.filter((event) => "run" in event.body && event.body.run === run)
              return own.some(({ kind }) => kind === "run.ended") ? own : undefined
            }),
          )
          assert.deepStrictEqual(
            events.map(({ kind }) => kind),
            ["run.queued", "run.started", "run.stepped", "run.ended"],
          )
          // One write: nothing can stand between the two.
          assert.strictEqual(events[1]!.cursor - events[0]!.cursor, 1)
          assert.strictEqual(String(events[1]!.at), String(events[0]!.at))
          assert.deepInclude(events[3]!.body, { stop: "no_tool_call", whole: true })
        }),
      )

      it.effect(
        "it waits while its agent is held or paused, everything is paused, its mailbox or the slots are full",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const sql = yield* SqlClient.SqlClient
            yield* setRules([{ when: {}, say: "done" }])
            const waits = Effect.fnUntraced(function* (
              why: string,
              bot: { readonly id: string },
              begin: Effect.Effect<unknown, never, Guest>,
              end: Effect.Effect<unknown, never, Guest>,
            ) {
              assert.isTrue(yield* isClaimedAtOnce(bot), why)
              yield* settled
              const before = (yield* sql`SELECT id FROM runs WHERE agent = ${bot.id}`).length
              yield* begin
              const { isClaimed } = yield* asked(bot)
              assert.isFalse(isClaimed, why)
              yield* inState(bot, "queued")
              yield* end
              yield* ended(bot, before + 1)
            })
            const held = yield* thinker()
            yield* waits(
              "held",
              held,
              ask(() => admin.agents.change(held.id, { gate: "held" })),
              ask(() => admin.agents.change(held.id, { gate: "open" })),
            )
            for (const subject of ["agent", "everything"] as const) {
              const bot = yield* thinker()
              const paused = subject === "agent" ? `agents/${bot.name}` : subject
              yield* waits(
                subject,
                bot,
                ask(() => admin.pauses.set({ subject: paused })),
                ask(() => admin.pauses.lift(paused)),
              )
            }
          }),
      )

      it.effect(
        "S0-57 requests for one agent that come at once, with keys and without, never work two at a time, and all end",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            yield* setRules([{ when: {}, say: "done", waitMs: 3 }])
            const bot = yield* thinker()
            const { start } = yield* Triggers
            const by = houseViewer(yield* (yield* Principals).get("admin"))
            let most = 0
            const look = Effect.gen(function* () {
              const rows = yield* sql`SELECT id FROM runs WHERE agent = ${bot.id} AND state = 'running'`
              most = Math.max(most, rows.length)
              yield* Effect.promise(pause)
            })
            const looking = yield* Effect.forkChild(Effect.forever(look))
            const asks = (key: string | undefined, delay: number) =>
              Effect.andThen(later(delay), start(bot.id, { text: "go", space: null, key, run: undefined }, by))
            for (let round = 1; round <= rounds; round++) {
              yield* settled
              // The one with a key takes several statements: the other is asked for, and written, in between.
              const both = [asks(`${bot.id} ${round}`, 0), asks(undefined, round % 12)]
              yield* Effect.all(both, { concurrency: "unbounded" })
              yield* ended(bot, round * 2)
            }
            yield* Fiber.interrupt(looking)
            assert.strictEqual(most, 1)
          }),
      )

      it.effect(
        "S0-57 a second run of a mailbox that takes one waits for the first; so does a third where two slots are taken",
        () =>
          Effect.gen(function* () {
            yield* setRules([{ when: {}, say: "done" }])
            const [one, two, three] = [yield* thinker(), yield* thinker(), yield* thinker()]
            assert.isTrue(yield* isClaimedAtOnce(one))
            yield* settled
            // Long enough for what is asked for meanwhile.
            yield* setRules([{ when: {}, say: "done", waitMs: 2000 }])
            yield* asked(one)
            yield* inState(one, "running")
            assert.isFalse((yield* asked(one)).isClaimed, "its mailbox takes one")
            yield* settled
            yield* asked(two)
            yield* asked(one)
            yield* inState(one, "running")
            yield* inState(two, "running")
            assert.isFalse((yield* asked(three)).isClaimed, "two slots")
            yield* ended(three)
          }),
      )
    },
  )

layer(runsHouse({ store: "postgres" }), { excludeTestServices: true, timeout: 90_000 })(
  "while the claim of a run is on its way",
  (it) => {
    /** As long as the end of the journal is held, what is asked for stays on its way. */
    const begun = Effect.fnUntraced(function* <E, R>(
      bot: { readonly id: string },
      meanwhile: (before: string) => Effect.Effect<unknown, E, R>,
    ) {
      const sql = yield* SqlClient.SqlClient
      const { working } = yield* Dispatch
      assert.isTrue(yield* isClaimedAtOnce(bot))
      yield* settled
      const [held, free] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT pg_advisory_xact_lock(7461001)`
            yield* Deferred.succeed(held, undefined)
            yield* Deferred.await(free)
          }),
        ),
      )
      yield* Deferred.await(held)
      const asking = yield* Effect.forkChild(asked(bot))
      yield* until(Effect.sync(() => (working() === 1 ? true : undefined)))
      yield* meanwhile((yield* ended(bot))[0]!.id)
      yield* Deferred.succeed(free, undefined)
      yield* Fiber.join(holding)
      return yield* Fiber.join(asking)
    })

    it.effect("S0-57 nobody claims another of its mailbox", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { queueing } = yield* Dispatch
        const bot = yield* thinker()
        yield* setRules([{ when: {}, say: "done", waitMs: 300 }])
        yield* begun(bot, (old) =>
          Effect.gen(function* () {
            const rows = yield* sql<Record<string, unknown>>`SELECT * FROM runs WHERE id = ${old}`
            const fresh = { ...rows[0], id: `run_${crypto.randomUUID()}`, state: "queued", fence: 0, step: 0 }
            const queued = { ...fresh, stop: null, owner: null, startedAt: null, endedAt: null }
            yield* queueing(sql`INSERT INTO runs ${sql.insert(queued)}`)
            // Whoever would claim it has had the time.
            yield* later(100)
          }),
        )
        yield* ended(bot, 3)
        const runs = yield* sql<{ startedAt: string; endedAt: string }>`SELECT started_at, ended_at FROM runs
          WHERE agent = ${bot.id} AND started_at IS NOT NULL ORDER BY started_at, ended_at`
        const overlaps = runs.map((run, at) =>
          at === 0 ? 0 : Date.parse(runs[at - 1]!.endedAt) - Date.parse(run.startedAt),
        )
        // A claim says when it was begun: what ends in that moment is no overlap.
        assert.isBelow(Math.max(...overlaps), 150)
      }),
    )

    it.effect("its agent is held: it waits", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { admin } = yield* Guest
        const bot = yield* thinker()
        yield* setRules([{ when: {}, say: "done" }])
        const { run } = yield* begun(bot, () =>
          // What is remembered of an agent is asked for again after two seconds.
          Effect.andThen(sql`UPDATE agents SET gate = 'held' WHERE principal = ${bot.id}`, later(2100)),
        )
        yield* until(
          Effect.map(
            ask(() => admin.runs.get(run)),
            ({ state }) => (state === "running" ? undefined : true),
          ),
        )
        assert.strictEqual((yield* ask(() => admin.runs.get(run))).state, "queued")
        yield* ask(() => admin.agents.change(bot.id, { gate: "open" }))
        yield* until(
          Effect.map(
            ask(() => admin.runs.get(run)),
            ({ state }) => (state === "completed" ? true : undefined),
          ),
        )
      }),
    )
  },
)
