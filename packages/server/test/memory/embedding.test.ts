/** Search by meaning, with an embedding model on loopback: found, explained, redone for another model, gone with its record. */
import { writeFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { connect } from "@stoa/sdk"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { embeddingConfig } from "../../../../test/embedder.ts"
import { pause } from "../../../../test/pause.ts"
import { questions, recallBySort, records } from "../../src/memory/testing/labelledQuestions.ts"
import { ask, Guest, roomy } from "../house.ts"
import { houseWithModel, Model, until } from "./modelHouse.ts"

const person = Effect.fnUntraced(function* (name: string) {
  const { admin, url } = yield* Guest
  yield* ask(() => admin.principals.add({ kind: "agent", name }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
  return connect({ url, token })
})

const reload = Effect.fnUntraced(function* (models: object) {
  const { admin, configFile } = yield* Guest
  writeFileSync(configFile, JSON.stringify({ ...roomy, models }))
  yield* ask(() => admin.house.reload())
})

const vectorsOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT part FROM search_vectors WHERE ref = ${id}`).length
})

const lists: Record<string, unknown> = {}

for (const store of ["sqlite", "postgres"] as const)
  layer(houseWithModel(store), { excludeTestServices: true, timeout: 60_000 })(`embedding on ${store}`, (it) => {
    it.effect(
      "G-36 our own questions, asked by words and meaning together: both databases give the same, item by item",
      () =>
        Effect.gen(function* () {
          const reader = yield* person("reader")
          for (const record of records) yield* ask(() => reader.memory.put({ kind: "turn", ...record }))
          const done = yield* until(reader, "ready")
          assert.deepInclude(done, { model: "small", records: records.length, embedded: records.length, refused: 0 })
          const found = new Map<string, ReadonlyArray<string>>()
          for (const { question } of questions) {
            const { items } = yield* ask(() => reader.memory.list({ q: question, limit: 10 }))
            for (const { match } of items) assert.hasAnyKeys(match!.vector, ["place"])
            found.set(
              question,
              items.map(({ key }) => key),
            )
          }
          for (const [sort, share] of recallBySort(found)) assert.isAtLeast(share, 0.8, sort)
          lists[store] = [...found]
          if (lists["sqlite"] !== undefined && lists["postgres"] !== undefined)
            assert.deepStrictEqual(lists["postgres"], lists["sqlite"])
        }),
      120_000,
    )

    it.effect(
      "G-36 what no word names is found by its meaning, and says so; long texts by their passage; pages go on",
      () =>
        Effect.gen(function* () {
          const ann = yield* person("Ann")
          const car = yield* ask(() =>
            ann.memory.put({ kind: "note", key: "garage", content: "the automobile is red" }),
          )
          const long = Array.from({ length: 600 }, (_, n) => `filler${n}`).join(" ")
          yield* ask(() => ann.memory.put({ kind: "note", key: "long", content: `${long} the physician came ${long}` }))
          for (let n = 0; n < 30; n++)
            yield* ask(() => ann.memory.put({ kind: "other", key: `n${n}`, content: `noise number ${n}` }))
          yield* until(ann, "ready")
          const { items } = yield* ask(() => ann.memory.list({ q: "car", limit: 5 }))
          assert.deepInclude(items[0], { id: car.id })
          assert.deepStrictEqual(items[0]!.match!.words, [])
          assert.deepStrictEqual(items[0]!.match!.vector, { place: 1 })
          const noted = yield* ask(() => ann.memory.list({ q: "vehicle", kind: "note", limit: 50 }))
          assert.isTrue(noted.items.every(({ kind }) => kind === "note"))
          assert.strictEqual(noted.items[0]!.id, car.id)
          const first = yield* ask(() => ann.memory.list({ q: "noise", limit: 10 }))
          const second = yield* ask(() => ann.memory.list({ q: "noise", limit: 10, cursor: first.next! }))
          const ids = [...first.items, ...second.items].map(({ id }) => id)
          assert.strictEqual(new Set(ids).size, ids.length)
          const recall = yield* ask(() => ann.tools.call("recall", { input: { query: "vehicle" } }))
          assert.include(JSON.stringify(recall), car.id)
          const search = yield* ask(() => ann.tools.call("search", { input: { query: "vehicle" } }))
          assert.include(JSON.stringify(search), car.id)
        }),
      120_000,
    )

    it.effect(
      "vectors go with what they were made from: changed, deleted, expired, erased; a pin or a share costs nothing",
      () =>
        Effect.gen(function* () {
          const bob = yield* person("Bob")
          const model = yield* Model
          const put = (key: string, more: object = {}) =>
            ask(() => bob.memory.put({ kind: "note", key, content: `glad ${key}`, ...more }))
          const [changed, deleted, gone, kept, ends] = [
            yield* put("changed"),
            yield* put("deleted"),
            yield* put("gone"),
            yield* put("kept"),
            yield* put("ends"),
          ]
          yield* until(bob, "ready")
          for (const { id } of [changed, deleted, gone, kept, ends]) assert.strictEqual(yield* vectorsOf(id), 1)
          const before = model.embedded()
          yield* ask(() => bob.memory.change(kept.id, { pinned: true }))
          yield* until(bob, "ready")
          assert.strictEqual(yield* vectorsOf(kept.id), 1)
          assert.strictEqual(model.embedded(), before)
          yield* ask(() => bob.memory.change(changed.id, { content: "REFUSE this one" }))
          const refused = yield* until(bob, "ready")
          assert.strictEqual(refused.refused, 1)
          assert.lengthOf(
            (yield* ask(() => bob.memory.list({ q: "refuse", limit: 5 }))).items.filter(({ id }) => id === changed.id),
            1,
          )
          yield* ask(() => bob.memory.remove(deleted.id))
          yield* ask(() => bob.memory.remove(gone.id, { permanent: "true" }))
          for (const { id } of [deleted, gone]) assert.strictEqual(yield* vectorsOf(id), 0)
          yield* ask(() => bob.memory.restore(deleted.id))
          yield* until(bob, "ready")
          assert.strictEqual(yield* vectorsOf(deleted.id), 1)
          yield* ask(() => bob.memory.change(ends.id, { expiresAt: "2020-01-01T00:00:00.000Z" }))
          while ((yield* vectorsOf(ends.id)) > 0) yield* ask(pause)
          yield* ask(() => bob.memory.erase({ confirm: "Bob" }))
          for (const { id } of [changed, deleted, kept]) assert.strictEqual(yield* vectorsOf(id), 0)
        }),
      120_000,
    )

    it.effect(
      "another model is embedded anew in the background: words answer meanwhile; a model that fails is said, and words answer",
      () =>
        Effect.gen(function* () {
          const cat = yield* person("Cat")
          const model = yield* Model
          const { id } = yield* ask(() => cat.memory.put({ kind: "note", key: "a", content: "cash in the drawer" }))
          yield* ask(() => cat.memory.put({ kind: "note", key: "b", content: "a kettle" }))
          yield* until(cat, "ready")
          const ask1 = (q: string) => ask(() => cat.memory.list({ q, limit: 5 }))
          assert.strictEqual((yield* ask1("money")).items[0]?.id, id)

          model.hold()
          yield* reload({ other: embeddingConfig(model.url, 128, "loopback-two") })
          yield* ask(() => model.held())
          const working = yield* ask(() => cat.memory.embedding())
          assert.deepInclude(working, { state: "working", model: "other", embedded: 0 })
          const meanwhile = yield* ask1("drawer")
          assert.strictEqual(meanwhile.items[0]?.id, id)
          assert.deepStrictEqual(meanwhile.items[0]?.match?.vector, { place: null })
          assert.lengthOf((yield* ask1("money")).items, 0)
          model.release()
          yield* until(cat, "ready")
          assert.strictEqual((yield* ask1("money")).items[0]?.id, id)

          model.behave(500)
          yield* ask(() => cat.memory.put({ kind: "note", key: "c", content: "a teapot" }))
          const failing = yield* until(cat, "failing")
          assert.match(failing.problem!, /other answered 500/)
          const words = yield* ask1("teapot and drawers")
          assert.lengthOf(words.items, 2)
          assert.match(words.items[0]!.match!.vector!.problem!, /answered 500.*Only words were searched/)
          const { admin } = yield* Guest
          const { findings } = yield* ask(() => admin.house.doctor())
          const finding = findings.find(({ check }) => check === "embedding")
          assert.deepInclude(finding, { state: "warn" })
          assert.match(finding!.detail, /answered 500/)
          model.behave("ok")
          yield* until(cat, "ready")

          // What was written while the model was away is embedded, even if its event is gone by then.
          model.behave(500)
          yield* ask(() => cat.memory.put({ kind: "note", key: "d", content: "a funnel" }))
          yield* until(cat, "failing")
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE journal_floor SET cursor = (SELECT max(cursor) FROM journal)`
          yield* sql`DELETE FROM journal WHERE kind = 'memory.written'`
          model.behave("ok")
          yield* until(cat, "ready")

          yield* reload({})
          const off = yield* ask(() => cat.memory.embedding())
          assert.deepInclude(off, { state: "off", model: null })
          const plain = yield* ask1("teapot")
          assert.notProperty(plain.items[0]!.match, "vector")
        }),
      120_000,
    )
  })

const cluster = {
  STOA_RUNNER: "cluster",
  STOA_SECRET_KEY: "a-key-that-all-processes-have",
  STOA_ADMIN_TOKEN: "a-token-of-all-houses",
}
layer(houseWithModel("postgres", cluster), { excludeTestServices: true, timeout: 60_000 })(
  "embedding by several processes",
  (it) => {
    it.effect("while another process embeds, this one does not; it takes over when that one is gone", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const model = yield* Model
        const dan = yield* person("Dan")
        yield* ask(() => dan.memory.put({ kind: "note", key: "first", content: "a lamp" }))
        yield* until(dan, "ready")
        const before = model.embedded()
        yield* Effect.scoped(
          Effect.gen(function* () {
            // The other process: alive as long as its session has the lock.
            const session = yield* sql.reserve
            const lock = [7_461_003, "own_other"]
            yield* Effect.acquireRelease(session.executeValues("SELECT pg_advisory_lock($1, hashtext($2))", lock), () =>
              Effect.ignore(session.executeValues("SELECT pg_advisory_unlock($1, hashtext($2))", lock)),
            )
            yield* sql`INSERT INTO holders (id, lease_until)
            VALUES ('own_other', extract(epoch FROM clock_timestamp()) + 60)`
            const minute = DateTime.formatIso(DateTime.add(yield* DateTime.now, { minutes: 1 }))
            yield* sql`UPDATE memory_embedding SET lease_owner = 'own_other', lease_until = ${minute}`
            yield* ask(() => dan.memory.put({ kind: "note", key: "second", content: "an anchor" }))
            // This process has looked at who is alive since, so it has heard of the record too.
            const mine = sql`SELECT lease_until FROM holders WHERE id <> 'own_other'`
            const stood = yield* mine
            while (JSON.stringify(yield* mine) === JSON.stringify(stood)) yield* ask(pause)
            assert.deepInclude(yield* ask(() => dan.memory.embedding()), { state: "working", embedded: 1 })
            assert.strictEqual(model.embedded(), before)
          }),
        )
        assert.deepInclude(yield* until(dan, "ready"), { embedded: 2 })
        assert.strictEqual(model.embedded(), before + 1)
      }),
    )
  },
)
