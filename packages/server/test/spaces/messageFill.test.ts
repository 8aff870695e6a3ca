/** Messages from before the index are put into it while the house runs: a step at a time, going on where it was cut off. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerMessageFill } from "../../src/spaces/messages/MessageFill.ts"
import { until } from "../stores.ts"
import { ask, Guest, house } from "../house.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`message fill on ${store}`, (it) => {
    it.effect(
      "older messages are found like new ones, in their order, and what was half done is finished",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { admin } = yield* Guest
          const space = yield* ask(() => admin.spaces.add({ name: "old", kind: "public" }))
          const said = []
          for (let n = 0; n < 130; n++)
            said.push(yield* ask(() => admin.spaces.post("old", { text: `turn ${n}: the word${n} of many` })))
          const placed = sql<{ ref: string }>`SELECT i.ref FROM search_index i JOIN search_scopes s ON s.id = i.scope
            WHERE s.name = ${`space:${space.id}`} ORDER BY i.place`
          const before = yield* placed
          assert.deepStrictEqual(
            before.map(({ ref }) => ref),
            said.map(({ id }) => id),
          )
          // As a house was before it had the index, but for what was done when it was killed: the newest hundred.
          const old = said.slice(0, 30).map(({ id }) => id)
          yield* sql`DELETE FROM search_index WHERE ${sql.in("ref", old)}`
          yield* sql`UPDATE search_fills SET done_at = NULL, reached = ${said[30]!.id} WHERE name = 'messages 2'`
          const live = yield* ask(() => admin.spaces.post("old", { text: "said while it fills" }))
          yield* Layer.build(Layer.fresh(layerMessageFill))
          const done = sql`SELECT name FROM search_fills WHERE name = 'messages 2' AND done_at IS NOT NULL`
          yield* until(Effect.map(done, (rows) => rows.length === 1))
          assert.deepStrictEqual(
            (yield* placed).map(({ ref }) => ref),
            [...said, live].map(({ id }) => id),
          )
          const { items } = yield* ask(() => admin.messages.search({ q: "word7" }))
          assert.strictEqual(items[0]?.id, said[7]!.id)
        }).pipe(Effect.scoped),
      120_000,
    )
  })
