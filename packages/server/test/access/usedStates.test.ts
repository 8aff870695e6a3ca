/** What was sealed for a client is taken once: by one process of several, and not again after a restart. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { UsedStates } from "../../src/access/secrets/UsedStates.ts"
import { house } from "../house.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`used states on ${store}`, (it) => {
    it.effect(
      "G-22 of several who take one at the same time, one gets it; it stays taken until long after its end",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          // Two processes on one database, each with a service of its own.
          const services = yield* Effect.all(
            [UsedStates.layer, UsedStates.layer].map((one) => Effect.provide(UsedStates, one, { local: true })),
          )
          const until = DateTime.toEpochMillis(yield* DateTime.now) + 3_600_000
          const taken = yield* Effect.forEach([0, 1, 0, 1, 0, 1], (at) => services[at]!.take("one", until), {
            concurrency: "unbounded",
          })
          assert.lengthOf(
            taken.filter((it) => it),
            1,
          )
          // A clock that is set back an hour or two finds it valid again, and still taken.
          yield* services[0]!.take("ended", until - 3 * 3_600_000)
          assert.isTrue(yield* services[0]!.take("another", until))
          assert.isFalse(yield* services[1]!.take("ended", until - 3 * 3_600_000))
          yield* services[0]!.take("old", until - 26 * 3_600_000)
          yield* services[0]!.take("next", until)
          assert.lengthOf(yield* sql`SELECT id FROM used_states WHERE id = 'old'`, 0)
        }),
    )
  })
