/** The bench fills a memory in bulk: what it leaves is what writing one by one leaves. */
import { assert, layer } from "@effect/vitest"
import type { PrincipalId } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { insertRecords } from "../../../../bench/memory/bulkInsert.ts"
import { Storage } from "../../src/access/limits/Storage.ts"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Meanings } from "../../src/memory/meaning/Meanings.ts"
import { Memories } from "../../src/memory/Memories.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Timers } from "../../src/store/journal/Timers.ts"
import { SearchIndex } from "../../src/store/search/SearchIndex.ts"
import { ground, stores } from "../stores.ts"

const rooms = (store: (typeof stores)[number][1]) =>
  Memories.layer.pipe(
    Layer.provide(Layer.succeed(Meanings, { of: () => Effect.succeed<undefined>(undefined) })),
    Layer.provide(Storage.layer),
    Layer.provideMerge(Layer.mergeAll(Principals.layer("none"), SearchIndex.layer, Timers.layer)),
    Layer.provideMerge(ground(store)),
  )

/** What is stored of one owner, without what must differ: ids, numbers and times. */
const stored = Effect.fnUntraced(function* (owner: PrincipalId) {
  const sql = yield* SqlClient.SqlClient
  const scope = (yield* sql<{
    id: number
    entries: number
    len: number
  }>`SELECT id, entries, len FROM search_scopes WHERE name = ${`memory:${owner}`}`)[0]!
  const plain = (text: string) => text.replaceAll(owner, "owner").replaceAll(/mem_[0-9a-f-]+/g, "mem")
  const index = yield* sql<
    Record<string, string>
  >`SELECT r.key, i.part, i.series, i.place, i.tail, i.len, i.labels, i.terms
    FROM search_index i JOIN memory_records r ON r.id = i.ref WHERE i.scope = ${scope.id} ORDER BY i.seq`
  const terms = yield* sql`SELECT term, n FROM search_terms WHERE scope = ${scope.id} ORDER BY term`
  const records =
    yield* sql`SELECT r.namespace, r.kind, r.key, r.slot, r.content, r.media_type, r.tags, r.public, r.pinned,
    r.version FROM memory_records r JOIN memory_versions v ON v.record = r.id AND v.version = r.version
    WHERE r.owner = ${owner} ORDER BY r.id`
  return plain(JSON.stringify({ entries: scope.entries, len: scope.len, index, terms, records }))
})

const long = Array.from({ length: 450 }, (_, n) => `word${n % 37}`).join(" ")

for (const [name, store] of stores)
  layer(rooms(store), { excludeTestServices: true, timeout: 60_000 })(`seeding on ${name}`, (it) => {
    it.effect("in bulk or one by one, the rows, the index and its statistics are the same", () =>
      Effect.gen(function* () {
        const { transact } = yield* Journal
        const principals = yield* Principals
        const memories = yield* Memories
        const add = (who: string) => transact(principals.add({ kind: "agent", name: who }))
        const [one, other] = [yield* add("one"), yield* add("other")]
        const of = (owner: PrincipalId) => (n: number) => ({
          owner,
          key: `talk/${Math.floor(n / 5)}/${n}`,
          content: n === 7 ? long : `Ann: turn ${n} about gardens and word${n % 3}`,
        })
        yield* insertRecords(23, of(one.id), "one")
        for (let n = 0; n < 23; n++) {
          const { owner, ...memory } = of(other.id)(n)
          yield* transact(memories.put({ id: owner }, owner, { kind: "turn", ...memory }))
        }
        assert.strictEqual(yield* stored(one.id), yield* stored(other.id))
        const ask = (id: PrincipalId) =>
          Effect.map(memories.list({ id }, { q: "what about word2 in the garden", limit: 10 }), ({ items }) =>
            items.map(({ key, match }) => [key, match?.score]),
          )
        assert.deepStrictEqual(yield* ask(one.id), yield* ask(other.id))
        // What is written afterwards has its own number.
        yield* transact(memories.put({ id: one.id }, one.id, { kind: "turn", key: "talk/0/99", content: "later" }))
        assert.strictEqual((yield* memories.list({ id: one.id }, { q: "later" })).items[0]?.key, "talk/0/99")
      }),
    )
  })
