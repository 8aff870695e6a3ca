/** Names that people would take for each other, of principals and spaces, on both databases. */
import { randomUUID } from "node:crypto"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest, house } from "../house.ts"
import { refused } from "../spaces/spacesGuests.ts"
import { migrations } from "../../src/Migrations.ts"
import { migrate } from "../../src/store/Schemas.ts"
import type { Store } from "../../src/store/database/Store.ts"
import { places } from "../stores.ts"

/** Of a name that begins with `Bo`: other cases, widths, marks, and letters of other scripts. */
const disguises: ReadonlyArray<(name: string) => string> = [
  (name) => name.toUpperCase(),
  (name) => name.replace("o", "о"),
  (name) => name.replace("B", "В"),
  (name) => name.replace("B", "Β"),
  (name) => name.replace("o", "ｏ"),
  (name) => name.replace("o", "ö"),
  (name) => name.replace("B", "𝐁"),
]
/** What shows nothing, or changes what is around it. */
const unseen = [
  "\u200b",
  "\u200e",
  "\u202e",
  "\u2066",
  "\u0000",
  "\u0007",
  "\u3164",
  "\uffa0",
  "\u115f",
  "\ufeff",
  "\u00ad",
]
const fresh = () => `Bo${randomUUID().slice(0, 8)}`

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`names that read alike on ${store}`, (it) => {
    const add = Effect.fnUntraced(function* (name: string) {
      const { admin } = yield* Guest
      return yield* ask(() => admin.principals.add({ kind: "agent", name }))
    })

    it.effect("a principal cannot be given a name that reads like another's, until that one is retired", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const name = fresh()
        const bob = yield* add(name)
        const other = yield* add(fresh())
        for (const disguise of disguises) {
          const given = disguise(name)
          for (const taken of [
            yield* refused(() => admin.principals.add({ kind: "person", name: given })),
            yield* refused(() => admin.principals.change(other.id, { name: given })),
          ]) {
            assert.strictEqual(taken.tag, "NameTaken", given)
            assert.match(taken.message, /[Cc]hoose (?:another name|a name)/)
          }
        }
        const like = yield* refused(() => admin.principals.add({ kind: "person", name: name.replace("o", "о") }))
        assert.include(like.message, `reads like the name of the principal "${name}"`)
        // Its own name in another case stays its own.
        yield* ask(() => admin.principals.change(bob.id, { name: name.toUpperCase() }))
        yield* ask(() => admin.principals.retire(bob.id))
        yield* add(name.replace("o", "о"))
      }),
    )

    it.effect("of many at once that read alike, one gets its name", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const name = fresh()
        const all = yield* Effect.forEach(
          [name, ...disguises.map((disguise) => disguise(name))],
          (one) => Effect.exit(ask(() => admin.principals.add({ kind: "agent", name: one }))),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(all.filter(({ _tag }) => _tag === "Success").length, 1)
        const rooms = yield* Effect.forEach(
          [name, ...disguises.map((disguise) => disguise(name))],
          (one) => Effect.exit(ask(() => admin.spaces.add({ kind: "public", name: one }))),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(rooms.filter(({ _tag }) => _tag === "Success").length, 1)
      }),
    )

    it.effect("a name shows all of its characters, and begins and ends with one", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        for (const name of [...unseen.map((sign) => `Bo${sign}b`), " Bob", "Bob ", "Bob\u3164", "\u3164"]) {
          const said = yield* refused(() => admin.principals.add({ kind: "agent", name }))
          assert.strictEqual(said.status, 400, JSON.stringify(name))
          assert.strictEqual((yield* refused(() => admin.spaces.add({ kind: "public", name }))).status, 400)
        }
      }),
    )

    it.effect("a space cannot be given a name that reads like one its maker sees; of others it learns nothing", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const { id } = yield* add(fresh())
        const { token } = yield* ask(() => admin.tokens.add({ principal: id }))
        const mine = as(token)
        const name = fresh()
        yield* ask(() => admin.spaces.add({ kind: "private", name }))
        const alike = name.replace("o", "о")
        const own = yield* ask(() => mine.spaces.add({ kind: "private", name: alike }))
        const other = yield* ask(() => mine.spaces.add({ kind: "private", name: fresh() }))
        for (const said of [
          yield* refused(() => mine.spaces.add({ kind: "private", name })),
          yield* refused(() => mine.spaces.change(other.id, { name })),
        ]) {
          assert.strictEqual(said.tag, "NameTaken")
          assert.include(said.message, `reads like the name of the space "${alike}"`)
        }
        yield* ask(() => mine.spaces.change(own.id, { name: alike.toUpperCase() }))
      }),
    )

    it.effect("names from before that read alike, or have hidden characters, go on working", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const [one, two] = [yield* add(fresh()), yield* add(fresh())]
        const hidden = `${one.name}\u3164`
        yield* sql`UPDATE principals SET name = ${hidden}, name_key = ${hidden.normalize("NFKC").toLowerCase()},
          spelling = ${one.name.toLowerCase()} WHERE id = ${two.id}`
        for (const { id, name } of [one, { id: two.id, name: hidden }]) {
          assert.strictEqual((yield* ask(() => admin.principals.get(name))).id, id)
          yield* ask(() => admin.principals.change(id, { roles: ["agent-basic"] }))
          yield* ask(() => admin.agents.change(id, { persona: "still here" }))
        }
      }),
    )
  })

for (const [store, place] of places)
  describe(`names of an older house on ${store}`, () => {
    it.live("each is told apart by how it reads, also where two read alike already", () =>
      Effect.gen(function* () {
        const stored = yield* place
        const on = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient | Store>) =>
          Effect.scoped(Effect.provide(effect, Layer.fresh(stored)))
        const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0139"))
        yield* on(migrate({ migrations: before, backup: () => Effect.die("nothing to copy yet") }))
        const rows = yield* on(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            for (const [id, name] of [
              ["prn_1", "Bob"],
              ["prn_2", "Воb"],
            ] as const)
              yield* sql`INSERT INTO principals (id, kind, name, name_key, roles, toolsets, source, created_at)
                VALUES (${id}, 'agent', ${name}, ${name.toLowerCase()}, '[]', '[]', 'house', '2026-01-01T00:00:00Z')`
            yield* migrate({ migrations, backup: () => Effect.succeed("a copy") })
            return yield* sql<{ name: string; spelling: string }>`SELECT name, spelling FROM principals ORDER BY id`
          }),
        )
        assert.deepStrictEqual(rows, [
          { name: "Bob", spelling: "bob" },
          { name: "Воb", spelling: "bob" },
        ])
      }),
    )
  })
