/** What is paused is known without asking the database at each call, and is never older than the last pause that was acknowledged. */
import { assert, layer } from "@effect/vitest"
import { Caller } from "@stoa/contract"
import { Deferred, Effect, Fiber, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import pg from "pg"
import { Pauses } from "../../src/access/limits/Pauses.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Calls } from "../../src/calls/Calls.ts"
import { Settings } from "../../src/Settings.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { admin, callsHouse, configure, holding, httpTool, request, stores } from "../calls/callsKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { until } from "../stores.ts"

/** What another process would do: nobody in this one is told. */
const elsewhere = (subject: string) => [
  `INSERT INTO pauses (subject, reason, by_principal, created_at) VALUES ('${subject}', '', NULL, '2026-01-01T00:00:00.000Z')`,
  "UPDATE access_epoch SET epoch = epoch + 1",
]

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`what is paused now, ${store}`, (it) => {
    it.effect("G-12 a pause that was acknowledged is known at once, and so is its end", () =>
      Effect.gen(function* () {
        const pauses = yield* Pauses
        for (let round = 0; round < 10; round++) {
          const subject = `tools/${(yield* configure()).name}`
          assert.isFalse((yield* pauses.now).has(subject))
          assert.strictEqual((yield* request(yield* admin, "POST", "/pauses", { subject })).status, 201)
          assert.isTrue((yield* pauses.now).has(subject))
          yield* request(yield* admin, "DELETE", `/pauses/${encodeURIComponent(subject)}`)
          assert.isFalse((yield* pauses.now).has(subject))
        }
      }),
    )

    it.effect(
      "G-12 what nobody has is not paused, whoever asks the room: a typing error must not pass for a stop",
      () =>
        Effect.gen(function* () {
          const pauses = yield* Pauses
          const { name } = yield* configure()
          const set = (subject: string) =>
            Effect.match(pauses.set({ subject }), {
              onSuccess: (pause) => pause.subject,
              onFailure: ({ issues }) => issues.map(({ message, path }) => `${path}: ${message}`).join(),
            })
          assert.strictEqual(
            yield* set(`tools/${name}x`),
            `subject: nobody has "tools/${name}x"; did you mean "tools/${name}"?`,
          )
          assert.match(yield* set("servers/nobody"), /^subject: nobody has "servers\/nobody"/)
          assert.strictEqual((yield* pauses.now).size, 0)
          assert.strictEqual(yield* set(`tools/${name.toUpperCase()}`), `tools/${name.toUpperCase()}`)
          const { transact } = yield* Journal
          yield* transact(pauses.lift(`tools/${name}`))
        }),
    )

    it.effect("G-12 a call that was let through before a pause, and is written down after it, does not begin", () =>
      Effect.gen(function* () {
        const [calls, pauses, tokens] = [yield* Calls, yield* Pauses, yield* Tokens]
        const { transact } = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const bot = yield* someone("agent")
        const stub = yield* holding
        const { name: tool } = yield* httpTool(stub.url)
        const caller = yield* tokens.authenticate(bot.token)
        assert.strictEqual((yield* pauses.now).size, 0)
        const [held, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // Nothing else is written while this is.
        const pausing = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              if (store === "postgres") yield* sql`SELECT pg_advisory_xact_lock(7461001)`
              yield* pauses.set({ subject: `tools/${tool}` })
              yield* Deferred.succeed(held, undefined)
              yield* Deferred.await(go)
            }),
          ),
        )
        yield* Deferred.await(held)
        const calling = yield* Effect.forkChild(Effect.provideService(calls.call({ tool, input: {} }), Caller, caller))
        // It has come as far as its record: there it waits for the lock, or for the only writer.
        if (store === "postgres")
          yield* until(
            Effect.map(
              sql`SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                WHERE d.datname = current_database() AND l.locktype = ${"advisory"} AND NOT l.granted`,
              (rows) => rows.length > 0,
            ),
          )
        else for (let n = 0; n < 100; n++) yield* Effect.yieldNow
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(pausing)
        const row = yield* Fiber.join(calling)
        assert.deepStrictEqual(
          [row.state, JSON.parse(row.error!).message],
          ["canceled", `Stopped: tools/${tool} was paused`],
        )
        assert.deepStrictEqual(stub.seen, [])
        yield* transact(pauses.lift(`tools/${tool}`))
      }),
    )

    if (store === "sqlite")
      it.effect("there is one process, which knows what it has paused: nothing is asked while rights stand", () =>
        Effect.gen(function* () {
          const { now } = yield* Pauses
          const sql = yield* SqlClient.SqlClient
          const subject = `tools/${fresh("wipe")}`
          yield* now
          for (const statement of elsewhere(subject)) yield* sql.unsafe(statement)
          assert.isFalse((yield* now).has(subject))
          // A change of this process is what makes it look.
          const own = `tools/${(yield* configure()).name}`
          assert.strictEqual((yield* request(yield* admin, "POST", "/pauses", { subject: own })).status, 201)
          assert.deepStrictEqual([...(yield* now).keys()].toSorted(), [subject, own].toSorted())
        }),
      )
    else
      it.effect("G-12 what another process has paused is known as soon as that is committed", () =>
        Effect.gen(function* () {
          const { now } = yield* Pauses
          const { database } = yield* Settings
          const other = new pg.Client({ connectionString: Redacted.value(Option.getOrThrow(database)) })
          yield* Effect.promise(() => other.connect())
          yield* Effect.addFinalizer(() => Effect.promise(() => other.end()))
          for (let round = 0; round < 20; round++) {
            const subject = `tools/${fresh("wipe")}`
            // Asked while it is being written as well: no answer from then is taken for later.
            const asking = yield* Effect.forkChild(Effect.repeat(now, { times: 20 }))
            for (const statement of ["BEGIN", ...elsewhere(subject), "COMMIT"])
              yield* Effect.promise(() => other.query(statement))
            const all = yield* Effect.all([now, now, now], { concurrency: "unbounded" })
            for (const paused of all) assert.isTrue(paused.has(subject))
            yield* Fiber.join(asking)
          }
        }),
      )
  })
