/** Memory over HTTP: versions, history, lost updates, sharing, pins, expiry, search, and what nobody else may see. */
import { assert, layer } from "@effect/vitest"
import { connect, type StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { ask, Guest, house } from "../house.ts"

const person = Effect.fnUntraced(function* (name: string) {
  const { admin, url } = yield* Guest
  yield* ask(() => admin.principals.add({ kind: "person", name }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
  return connect({ url, token })
})
const refusal = (question: () => Promise<unknown>) =>
  Effect.map(Effect.flip(ask(question)), (error) => error as StoaError)
const status = (question: () => Promise<unknown>) => Effect.map(refusal(question), (error) => error.status)

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`memory on ${store}`, (it) => {
    it.effect(
      "G-34 a write by key makes the record, then its next version; a stale version is refused and nothing is lost",
      () =>
        Effect.gen(function* () {
          const ann = yield* person("Ann1")
          const first = yield* ask(() => ann.memory.put({ kind: "note", key: "trip/plan", content: "by train" }))
          assert.deepInclude(first, {
            kind: "note",
            key: "trip/plan",
            content: "by train",
            version: 1,
            public: false,
            pinned: false,
          })
          const second = yield* ask(() =>
            ann.memory.put({ kind: "note", key: "trip/plan", content: "by boat", expectedVersion: 1 }),
          )
          assert.deepStrictEqual([second.id, second.version], [first.id, 2])
          const stale = yield* refusal(() =>
            ann.memory.put({ kind: "note", key: "trip/plan", content: "by car", expectedVersion: 1 }),
          )
          assert.deepStrictEqual([stale.status, stale.tag], [409, "StaleVersion"])
          assert.include(stale.message, "expectedVersion 2")
          assert.strictEqual((yield* ask(() => ann.memory.get(first.id))).content, "by boat")
          const same = yield* ask(() => ann.memory.put({ kind: "note", key: "trip/plan", content: "by boat" }))
          assert.strictEqual(same.version, 2)
          const other = yield* ask(() => ann.memory.put({ kind: "fact", key: "trip/plan", content: "another kind" }))
          assert.notStrictEqual(other.id, first.id)
          assert.strictEqual(
            yield* status(() => ann.memory.put({ kind: "note", key: "new", content: "x", expectedVersion: 3 })),
            409,
          )
          // By its id as by its key, whatever is changed; and what was refused left nothing.
          for (const change of [{ content: "by car" }, { tags: ["late"] }, { pinned: true }]) {
            const late = yield* refusal(() => ann.memory.change(first.id, { ...change, expectedVersion: 1 }))
            assert.deepStrictEqual([late.status, late.tag], [409, "StaleVersion"], JSON.stringify(change))
          }
          assert.deepInclude(yield* ask(() => ann.memory.get(first.id)), {
            version: 2,
            content: "by boat",
            tags: [],
            pinned: false,
          })
          const third = yield* ask(() => ann.memory.change(first.id, { content: "by foot", expectedVersion: 2 }))
          assert.deepInclude(third, { version: 3, content: "by foot" })
        }),
    )

    it.effect("every version is kept, and an earlier one can be written again", () =>
      Effect.gen(function* () {
        const ann = yield* person("Ann2")
        const { id } = yield* ask(() => ann.memory.put({ kind: "note", key: "k", content: "one", tags: ["a"] }))
        yield* ask(() => ann.memory.change(id, { content: "two", tags: [] }))
        yield* ask(() => ann.memory.change(id, { content: "three" }))
        const { items } = yield* ask(() => ann.memory.history(id))
        assert.deepStrictEqual(
          items.map(({ content, tags, version }) => [version, content, tags]),
          [
            [3, "three", []],
            [2, "two", []],
            [1, "one", ["a"]],
          ],
        )
        const back = yield* ask(() => ann.memory.revert(id, { version: 1 }))
        assert.deepStrictEqual([back.version, back.content, back.tags], [4, "one", ["a"]])
        assert.strictEqual(yield* status(() => ann.memory.revert(id, { version: 9 })), 409)
      }),
    )

    it.effect("what was private before a record became public stays private, in its history and its differences", () =>
      Effect.gen(function* () {
        const [ann, bob] = [yield* person("AnnPast"), yield* person("BobPast")]
        const { id } = yield* ask(() => ann.memory.put({ kind: "note", key: "past", content: "PIN 4711" }))
        yield* ask(() => ann.memory.put({ kind: "note", key: "past", content: "nothing to see" }))
        yield* ask(() => ann.memory.put({ kind: "note", key: "past", content: "nothing to see", public: true }))
        assert.strictEqual((yield* ask(() => ann.memory.history(id))).items.length, 3)
        const seen = yield* ask(() => bob.memory.history(id))
        assert.deepStrictEqual(
          seen.items.map(({ version }) => version),
          [3],
        )
        assert.strictEqual(yield* status(() => bob.memory.diff(id, { from: 1, to: 3 })), 409)
      }),
    )

    it.effect("random updates by several at once lose none: each version has its own text", () =>
      Effect.gen(function* () {
        const ann = yield* person("Ann3")
        const { id } = yield* ask(() => ann.memory.put({ kind: "note", key: "k", content: "0" }))
        yield* Effect.forEach(
          Array.from({ length: 10 }, (_, n) => n + 1),
          (n) => ask(() => ann.memory.change(id, { content: String(n) })),
          { concurrency: "unbounded" },
        )
        const { items } = yield* ask(() => ann.memory.history(id))
        assert.deepStrictEqual(
          items.map(({ version }) => version),
          [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
        )
        assert.strictEqual(new Set(items.map(({ content }) => content)).size, 11)
      }),
    )

    it.effect("a pinned record is not deleted; a deleted one can be restored, one deleted for good cannot", () =>
      Effect.gen(function* () {
        const ann = yield* person("Ann4")
        const { id } = yield* ask(() => ann.memory.put({ kind: "note", key: "k", content: "keep", pinned: true }))
        const refused = yield* refusal(() => ann.memory.remove(id))
        assert.deepStrictEqual([refused.status, refused.message.includes("pinned")], [409, true])
        yield* ask(() => ann.memory.change(id, { pinned: false }))
        yield* ask(() => ann.memory.remove(id))
        assert.strictEqual(yield* status(() => ann.memory.get(id)), 404)
        assert.deepStrictEqual((yield* ask(() => ann.memory.list({ q: "keep" }))).items, [])
        assert.deepStrictEqual(
          (yield* ask(() => ann.memory.list({ deleted: "true" }))).items.map((one) => one.id),
          [id],
        )
        const back = yield* ask(() => ann.memory.restore(id))
        assert.deepStrictEqual([back.content, back.deletedAt], ["keep", null])
        assert.lengthOf((yield* ask(() => ann.memory.list({ q: "keep" }))).items, 1)
        yield* ask(() => ann.memory.remove(id, { permanent: "true" }))
        assert.strictEqual(yield* status(() => ann.memory.restore(id)), 404)
        assert.strictEqual(yield* status(() => ann.memory.history(id)), 404)
      }),
    )

    it.effect(
      "what is private is not there for others, by no way; shared for reading it is, for writing too where allowed",
      () =>
        Effect.gen(function* () {
          const [ann, bob] = [yield* person("Ann5"), yield* person("Bob5")]
          const { id } = yield* ask(() => ann.memory.put({ kind: "note", key: "secret", content: "periscope" }))
          const ways: ReadonlyArray<() => Promise<unknown>> = [
            () => bob.memory.get(id),
            () => bob.memory.change(id, { content: "x" }),
            () => bob.memory.history(id),
            () => bob.memory.revert(id, { version: 1 }),
            () => bob.memory.remove(id),
            () => bob.memory.restore(id),
            () => bob.memory.shares(id),
            () => bob.memory.share(id, "Bob5", { right: "write" }),
            () => bob.memory.unshare(id, "Ann5"),
          ]
          for (const way of ways) assert.strictEqual(yield* status(way), 404)
          const seen = (query: object) =>
            Effect.map(
              ask(() => bob.memory.list(query)),
              ({ items }) => items.length,
            )
          for (const query of [{}, { q: "periscope" }, { owner: "Ann5" }, { owner: "Ann5", q: "periscope" }])
            assert.strictEqual(yield* seen(query), 0)
          yield* ask(() => ann.memory.share(id, "Bob5", { right: "read" }))
          yield* ask(() => bob.memory.answer(id, { taken: true }))
          assert.strictEqual((yield* ask(() => bob.memory.get(id))).content, "periscope")
          assert.strictEqual(yield* seen({ q: "periscope" }), 1)
          assert.strictEqual(yield* status(() => bob.memory.change(id, { content: "x" })), 403)
          yield* ask(() => ann.memory.share(id, "Bob5", { right: "write" }))
          const changed = yield* ask(() => bob.memory.change(id, { content: "periscope of Bob" }))
          const bobId = (yield* ask(() => bob.principals.me())).id
          assert.deepStrictEqual([changed.version, changed.origin.principal, changed.owner !== bobId], [2, bobId, true])
          assert.strictEqual(yield* status(() => bob.memory.change(id, { public: true })), 403)
          const kept = yield* refusal(() => bob.memory.remove(id))
          assert.deepStrictEqual([kept.status, /Only the owner/.test(kept.message)], [403, true])
          yield* ask(() => ann.memory.unshare(id, "Bob5"))
          assert.strictEqual(yield* status(() => bob.memory.get(id)), 404)
          assert.strictEqual(yield* seen({ q: "periscope" }), 0)
          yield* ask(() => ann.memory.change(id, { public: true }))
          assert.strictEqual(yield* seen({ owner: "Ann5" }), 1)
          assert.strictEqual(yield* seen({ owner: "Ann5", q: "periscope" }), 1)
          assert.strictEqual(yield* seen({ q: "periscope" }), 0)
          yield* ask(() => ann.memory.change(id, { public: false }))
          assert.strictEqual(yield* seen({ owner: "Ann5", q: "periscope" }), 0)
        }),
    )

    it.effect("G-21 the feed tells those who may see a record, with its id and version, and never what it says", () =>
      Effect.gen(function* () {
        const [ann, bob] = [yield* person("Ann8"), yield* person("Bob8")]
        const write = (key: string, more: object = {}) =>
          ask(() => ann.memory.put({ kind: "note", key, content: "periscope", ...more }))
        const hidden = yield* write("hidden")
        const shared = yield* write("shared")
        yield* ask(() => ann.memory.share(shared.id, "Bob8", { right: "read" }))
        yield* ask(() => bob.memory.answer(shared.id, { taken: true }))
        yield* ask(() => ann.memory.change(shared.id, { content: "periscope again" }))
        const open = yield* write("open", { public: true })
        const last = yield* ask(() => bob.memory.put({ kind: "note", key: "own", content: "x" }))
        const seen = yield* ask(async () => {
          const events: Array<string> = []
          for await (const item of bob.feed({ after: 0 })) {
            if (item.type === "event" && item.name.startsWith("memory.")) events.push(JSON.stringify(item.event))
            if (events.at(-1)?.includes(last.id) === true) return events
          }
          return events
        })
        const about = (id: string) => seen.filter((event) => event.includes(id)).length
        assert.deepStrictEqual([about(hidden.id), about(shared.id), about(open.id)], [0, 3, 1])
        assert.notInclude(seen.join(), "periscope")
      }),
    )

    it.effect(
      "an end is honoured, but for what is pinned; lists page without repeats; filters hold alone and together",
      () =>
        Effect.gen(function* () {
          const ann = yield* person("Ann6")
          const past = "2020-01-01T00:00:00.000Z"
          const { id } = yield* ask(() =>
            ann.memory.put({ kind: "note", key: "old", content: "gone", expiresAt: past }),
          )
          assert.strictEqual(yield* status(() => ann.memory.get(id)), 404)
          const pinned = yield* ask(() =>
            ann.memory.put({ kind: "note", key: "old2", content: "stays", expiresAt: past, pinned: true }),
          )
          assert.strictEqual((yield* ask(() => ann.memory.get(pinned.id))).content, "stays")
          for (let n = 0; n < 7; n++)
            yield* ask(() =>
              ann.memory.put({
                kind: n % 2 ? "fact" : "note",
                key: `n${n}`,
                content: `row ${n}`,
                tags: n > 3 ? ["late"] : [],
              }),
            )
          const keys: Array<string> = []
          for (let cursor: string | null | undefined; cursor !== null;) {
            const page = yield* ask(() => ann.memory.list({ limit: 3, ...(cursor == null ? {} : { cursor }) }))
            keys.push(...page.items.map((one) => one.key))
            cursor = page.next
          }
          assert.sameMembers(keys, ["old2", "n0", "n1", "n2", "n3", "n4", "n5", "n6"])
          const found = (query: object) =>
            Effect.map(
              ask(() => ann.memory.list(query)),
              ({ items }) => items.map((one) => one.key).toSorted(),
            )
          assert.deepStrictEqual(yield* found({ kind: "fact" }), ["n1", "n3", "n5"])
          assert.deepStrictEqual(yield* found({ tag: "late" }), ["n4", "n5", "n6"])
          assert.deepStrictEqual(yield* found({ tag: "late", kind: "fact" }), ["n5"])
          assert.deepStrictEqual(yield* found({ q: "row", tag: "late", kind: "fact" }), ["n5"])
          assert.deepStrictEqual(yield* found({ key: "n2" }), ["n2"])
        }),
    )

    it.effect("a question finds the answer and says why; bad input is refused by its path and writes nothing", () =>
      Effect.gen(function* () {
        const ann = yield* person("Ann7")
        yield* ask(() => ann.memory.put({ kind: "fact", key: "talk/1", content: "Ann: we bought a blue tent in Oslo" }))
        yield* ask(() => ann.memory.put({ kind: "fact", key: "talk/2", content: "Bob: it cost ninety euros" }))
        const [best, near] = (yield* ask(() => ann.memory.list({ q: "where did she buy the tent?" }))).items
        assert.deepStrictEqual([best?.key, best?.match?.words.toSorted()], ["talk/1", ["buy", "tent"]])
        assert.deepStrictEqual([near?.key, near?.match?.words], ["talk/2", []])
        const bad: ReadonlyArray<readonly [body: object, path: string]> = [
          [{ kind: "two words", key: "k", content: "x" }, "kind"],
          [{ kind: "note", key: "", content: "x" }, "key"],
          [{ kind: "note", key: "a\nb", content: "x" }, "key"],
          [{ kind: "note", key: "k", content: "x", tags: [1] }, "tags.0"],
          [{ kind: "note", key: "k" }, "content"],
          [{ kind: "note", key: "k", content: "x", owner: "somebody" }, "owner"],
        ]
        for (const [body, path] of bad) {
          const error = yield* refusal(() => ann.memory.put(body as never))
          assert.strictEqual(error.status, 400)
          assert.include(error.issues.map((issue) => issue.path).join(" "), path)
        }
        const large = yield* refusal(() => ann.memory.put({ kind: "note", key: "k", content: "é".repeat(200_000) }))
        assert.deepStrictEqual([large.status, large.tag], [413, "TooLarge"])
        assert.lengthOf((yield* ask(() => ann.memory.list())).items, 2)
      }),
    )
  })
