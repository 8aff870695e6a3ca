/** With an embedding model: whatever one owner does, another's private record stays as it was and unseen; and what search of messages and memory finds. */
import { assert, layer } from "@effect/vitest"
import { connect, type Stoa, type StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { houseWithModel, until } from "./modelHouse.ts"

const person = Effect.fnUntraced(function* (name: string, kind: "person" | "agent" = "person") {
  const { admin, url } = yield* Guest
  yield* ask(() => admin.principals.add({ kind, name }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
  return connect({ url, token })
})
const tried = (question: () => Promise<unknown>) =>
  ask(() =>
    question().then(
      (answer) => ({ status: 200, said: JSON.stringify(answer ?? null) }),
      (error: StoaError) => ({ status: error.status, said: `${error.message} ${JSON.stringify(error.issues)}` }),
    ),
  )

/** What somebody may try with the id and the key of another's record. */
const acts: Readonly<Record<string, (stoa: Stoa, id: string, owner: string) => Promise<unknown>>> = {
  get: (stoa, id) => stoa.memory.get(id),
  change: (stoa, id) => stoa.memory.change(id, { content: "taken", public: true, pinned: true }),
  put: (stoa) => stoa.memory.put({ kind: "note", key: "diary", content: "mine" }),
  remove: (stoa, id) => stoa.memory.remove(id, { permanent: "true" }),
  restore: (stoa, id) => stoa.memory.restore(id),
  history: (stoa, id) => stoa.memory.history(id),
  diff: (stoa, id) => stoa.memory.diff(id),
  revert: (stoa, id) => stoa.memory.revert(id, { version: 1 }),
  share: (stoa, id) => stoa.memory.share(id, "Eve1", { right: "write" }),
  shares: (stoa, id) => stoa.memory.shares(id),
  list: (stoa, _id, owner) => stoa.memory.list({ owner, limit: 100 }),
  search: (stoa, _id, owner) => stoa.memory.list({ owner, q: "periscope diary", limit: 100 }),
  meaning: (stoa, _id, owner) => stoa.memory.list({ owner, q: "spyglass", limit: 100 }),
  ownMeaning: (stoa) => stoa.memory.list({ q: "spyglass at dusk", limit: 100 }),
  recall: (stoa) => stoa.tools.call("recall", { input: { query: "spyglass" } }),
  embedding: (stoa) => stoa.memory.embedding(),
  own: (stoa) => stoa.memory.list({ q: '"periscope"', limit: 100 }),
  export: (stoa) => stoa.memory.export({ limit: 100 }),
  import: (stoa, id) => stoa.memory.import({ lines: [{ id, kind: "note", key: "diary", content: "taken" }] }),
  erase: (stoa) => stoa.memory.erase({ confirm: "Eve1" }),
}

for (const store of ["sqlite", "postgres"] as const)
  layer(houseWithModel(store), { excludeTestServices: true, timeout: 60_000 })(
    `memory kept apart on ${store}`,
    (it) => {
      it.effect(
        "G-35 no sequence of acts of one owner changes, reveals or colours another's private record",
        () =>
          Effect.gen(function* () {
            const [ann, eve] = [yield* person("Ann1"), yield* person("Eve1")]
            const { id } = yield* ask(() =>
              ann.memory.put({ kind: "note", key: "diary", content: "a periscope at dawn" }),
            )
            yield* ask(() => ann.memory.change(id, { content: "a periscope at dusk" }))
            // By its meaning too: no word of it is a spyglass.
            yield* until(ann, "ready")
            assert.deepStrictEqual(
              (yield* ask(() => ann.memory.list({ q: "spyglass" }))).items.map((one) => one.id),
              [id],
            )
            const state = () =>
              Effect.all([
                ask(() => ann.memory.list({ q: "spyglass" })),
                ask(() => ann.memory.get(id)),
                ask(() => ann.memory.history(id)),
                ask(() => ann.memory.shares(id)),
                ask(() => ann.memory.list({ q: "periscope dusk" })),
              ])
            const before = JSON.stringify(yield* state())
            const names = fc.constantFrom(...Object.keys(acts))
            const [steps] = fc.sample(fc.array(names, { minLength: 60, maxLength: 60 }), { numRuns: 1, seed: 31 })
            for (const name of [...Object.keys(acts), ...steps!]) {
              const { said } = yield* tried(() => acts[name]!(eve, id, "Ann1"))
              assert.notInclude(said, "dusk", name)
              assert.notInclude(said, "dawn", name)
              if (["meaning", "ownMeaning", "recall"].includes(name)) assert.notInclude(said, id, name)
            }
            assert.strictEqual(JSON.stringify(yield* state()), before)
          }),
        120_000,
      )

      it.effect(
        "G-33 G-34 X-61 identical writes are one version, limits are said, and what is deleted can be undone",
        () =>
          Effect.gen(function* () {
            const ann = yield* person("Ann2")
            const write = (more: object) =>
              tried(() => ann.memory.put({ kind: "note", key: "k", content: "x", ...more }))
            for (const [status, more] of [
              [200, { key: "👍".repeat(60), content: "👍".repeat(60), tags: ["👍".repeat(60)] }],
              [200, { key: "k".repeat(512) }],
              [400, { key: "k".repeat(513) }],
              [200, { key: "../../etc/passwd" }],
              [400, { key: "a\u0000b" }],
              [400, { content: "lone \ud800 surrogate" }],
              [200, { content: "x".repeat(256 * 1024) }],
              [413, { content: "é".repeat(128 * 1024 + 1) }],
              [400, { content: "x".repeat(256 * 1024 + 1) }],
              [200, { tags: Array.from({ length: 64 }, (_, n) => `tag ${n}`) }],
              [400, { tags: Array.from({ length: 65 }, (_, n) => `tag ${n}`) }],
              [400, { tags: ["t".repeat(129)] }],
              [400, { kind: "two words" }],
            ] as const)
              assert.strictEqual((yield* write(more)).status, status, JSON.stringify(more).slice(0, 60))
            const path = (yield* ask(() => ann.memory.list({ key: "../../etc/passwd" }))).items[0]!
            assert.strictEqual((yield* ask(() => ann.memory.get(path.id))).content, "x")
            const one = yield* ask(() => ann.memory.put({ kind: "fact", key: "same", content: "once", tags: ["a"] }))
            const two = yield* ask(() =>
              ann.memory.put({ kind: "fact", key: "same", content: "once", tags: ["a", "a"] }),
            )
            assert.deepStrictEqual([two.version, two.updatedAt], [1, one.updatedAt])
            yield* ask(() => ann.memory.remove(one.id))
            assert.strictEqual((yield* ask(() => ann.memory.restore(one.id))).content, "once")
          }),
      )

      it.effect("what has ended is gone with its words, its history and its timer; a pin keeps it", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ann = yield* person("Ann3")
          const past = "2020-01-01T00:00:00.000Z"
          const put = (key: string, pinned: boolean) =>
            ask(() => ann.memory.put({ kind: "note", key, content: `quagga ${key}`, expiresAt: past, pinned }))
          const [gone, kept] = [yield* put("gone", false), yield* put("kept", true)]
          const rowsOf = (id: string) =>
            Effect.all([
              sql`SELECT id FROM memory_records WHERE id = ${id}`,
              sql`SELECT version FROM memory_versions WHERE record = ${id}`,
              sql`SELECT seq FROM search_index WHERE ref = ${id}`,
              sql`SELECT part FROM search_vectors WHERE ref = ${id}`,
            ]).pipe(Effect.map((all) => all.map((rows) => rows.length)))
          for (let left = 1; left > 0;) {
            yield* (yield* Readers).receipt("memory-ends")
            left = (yield* rowsOf(gone.id))[0]!
          }
          yield* until(ann, "ready")
          assert.deepStrictEqual(yield* rowsOf(gone.id), [0, 0, 0, 0])
          assert.deepStrictEqual(yield* rowsOf(kept.id), [1, 1, 1, 1])
          assert.deepStrictEqual(
            (yield* ask(() => ann.memory.list({ q: "quagga" }))).items.map(({ id }) => id),
            [kept.id],
          )
          assert.lengthOf(yield* sql`SELECT term FROM search_terms WHERE term = 'gone'`, 0)
        }),
      )

      it.effect("messages answer questions, and search asks messages and memory at once, with the rights of each", () =>
        Effect.gen(function* () {
          const [ann, bob] = [yield* person("Ann4", "agent"), yield* person("Bob4", "agent")]
          yield* ask(() => ann.spaces.add({ name: "kitchen4", kind: "private", members: ["Bob4"] }))
          yield* ask(() => ann.spaces.add({ name: "cellar4", kind: "private" }))
          const say = (who: Stoa, space: string, text: string) => ask(() => who.spaces.post(space, { text }))
          const first = yield* say(ann, "kitchen4", "Who bought the espresso machine?")
          const second = yield* say(bob, "kitchen4", "I did, in Trieste, for ninety euros.")
          yield* say(ann, "cellar4", "The espresso beans are hidden behind the wine.")
          const note = yield* ask(() =>
            bob.memory.put({ kind: "note", key: "coffee", content: "Espresso needs nine bars" }),
          )
          yield* ask(() => ann.memory.put({ kind: "note", key: "coffee", content: "Espresso keeps me awake" }))
          const asked = yield* ask(() => bob.messages.search({ q: "did anybody buy espresso machines?" }))
          assert.deepStrictEqual(
            asked.items.slice(0, 2).map(({ id }) => id),
            [first.id, second.id],
          )
          assert.sameMembers([...asked.items[0]!.match.words], ["buy", "espresso", "machines"])
          assert.deepStrictEqual(asked.items[1]!.match.words, [])
          const exact = yield* ask(() => bob.messages.search({ q: '"espresso machine"' }))
          assert.deepStrictEqual(
            exact.items.map(({ id }) => id),
            [first.id],
          )
          assert.lengthOf((yield* ask(() => bob.messages.search({ q: '"machine espresso"' }))).items, 0)
          const page = yield* ask(() => bob.messages.search({ q: "espresso", limit: 1 }))
          assert.lengthOf(page.items, 1)
          const next = yield* ask(() => bob.messages.search({ q: "espresso", limit: 1, cursor: page.next! }))
          assert.notStrictEqual(next.items[0]?.id, page.items[0]?.id)
          assert.strictEqual((yield* tried(() => bob.messages.search({ q: "wine", cursor: page.next! }))).status, 400)
          const call = yield* ask(() => bob.tools.call("search", { input: { query: "espresso" } }))
          const { items } = (call as unknown as { output: { items: ReadonlyArray<{ id: string; from: string }> } })
            .output
          assert.sameMembers(
            items.map(({ from, id }) => `${from} ${id}`),
            [`message ${first.id}`, `message ${second.id}`, `memory ${note.id}`],
          )
          // Edited and deleted, it is found by what it says now, or not at all.
          yield* ask(() => ann.messages.edit(first.id, { text: "Who bought the kettle?" }))
          assert.notInclude(
            (yield* ask(() => bob.messages.search({ q: '"espresso machine"' }))).items.map(({ id }) => id),
            first.id,
          )
          yield* ask(() => ann.messages.remove(first.id))
          assert.lengthOf((yield* ask(() => bob.messages.search({ q: "kettle" }))).items, 0)
        }),
      )
    },
  )
