/** What seed 002's engrams and profiles do, over its own endpoint, on both databases. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, Guest, house } from "../house.ts"
import { content, create, holder, type Holder, type Result } from "./engramKit.ts"

const get = (who: Holder, key: string, address = who.wallet) => who.done("engram_get", { wallet_address: address, key })

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`engrams on ${store}`, (it) => {
    it.effect(
      "S2-09 S2-10 S2-11 S2-14 X-35 X-47 X-48 create: each field by name, five types, JSON content, private",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("maker")
          const whole = {
            wallet_address: who.wallet,
            engram_type: "knowledge",
            key: "a.b",
            content: content({ a: 1 }),
          }
          for (const name of Object.keys(whole)) {
            const { [name as never]: _, ...rest } = whole
            assert.include(yield* who.told("engram_create", rest), name)
          }
          for (const wrong of ["conversation", "setting", "other", ""])
            assert.include(yield* who.told("engram_create", { ...whole, engram_type: wrong }), "engram_type")
          assert.include(yield* who.told("engram_create", { ...whole, content: "{bad" }), "JSON")
          const made = yield* who.done("engram_create", { ...whole, content: '{ "a" : [1, "é"] }' })
          assert.match(made.id, /^eng_[0-9a-f-]{36}$/)
          assert.sameMembers(Object.keys(made), [
            "id",
            "wallet_address",
            "engram_type",
            "key",
            "content",
            "tags",
            "is_public",
            "is_pinned",
            "version",
            "created_at",
            "updated_at",
          ])
          assert.deepStrictEqual(
            [made.wallet_address, made.engram_type, made.is_public, made.is_pinned, made.version],
            [who.wallet, "knowledge", false, false, 1],
          )
          const read = yield* get(who, "a.b")
          assert.deepStrictEqual(JSON.parse(read.content), { a: [1, "é"] })
          // The record says what its text is; another kind of text is kept as it is, and said to be that.
          const { admin } = yield* Guest
          const record = yield* ask(() => who.stoa.memory.get(made.id.replace("eng_", "mem_")))
          assert.strictEqual(record.mediaType, "application/json")
          const plain = yield* ask(() => admin.memory.put({ kind: "note", key: "plain", content: "{bad" }))
          assert.deepInclude(plain, { mediaType: "text/plain", content: "{bad" })
          const odd = { kind: "note", key: "odd", content: "{bad", mediaType: "application/json" } as const
          assert.strictEqual(
            yield* Effect.map(
              Effect.flip(Effect.tryPromise(() => admin.memory.put(odd))),
              (e) => (e.cause as { readonly status: number }).status,
            ),
            409,
          )
          const open = yield* create(who, "a.open", { is_public: true })
          assert.isTrue(open.is_public)
          assert.isTrue((yield* get(who, "a.open")).is_public)
        }),
    )

    it.effect(
      "S2-12 S2-13 X-34 a key is one wallet's once: a second create changes nothing; after a delete it begins at 1",
      () =>
        Effect.gen(function* () {
          const [who, other] = [yield* holder("once"), yield* holder("once2")]
          const first = yield* create(who, "same.key")
          const told = yield* who.told("engram_create", {
            wallet_address: who.wallet,
            engram_type: "strategy",
            key: "same.key",
            content: content({ level: "high" }),
          })
          assert.include(told, "same.key")
          assert.deepStrictEqual(yield* get(who, "same.key"), { ...first, found: true })
          yield* create(other, "same.key")
          yield* who.done("engram_update", { id: first.id, content: content(2) })
          yield* who.done("engram_delete", { id: first.id })
          assert.strictEqual((yield* create(who, "same.key")).version, 1)
        }),
    )

    it.effect("S2-16 get gives the newest version; what is not there is found: false, not an error", () =>
      Effect.gen(function* () {
        const who = yield* holder("getter")
        const { id } = yield* create(who, "k")
        yield* who.done("engram_update", { id, content: content("two") })
        const read = yield* get(who, "k")
        assert.deepStrictEqual([read.found, read.version, JSON.parse(read.content)], [true, 2, "two"])
        assert.isFalse((yield* get(who, "none")).found)
        assert.isFalse((yield* get(who, "k", "0xnobody")).found)
        for (const [name, rest] of [
          ["wallet_address", { key: "k" }],
          ["key", { wallet_address: who.wallet }],
        ] as const)
          assert.include(yield* who.told("engram_get", rest), `"${name}"`)
        // It says that it only reads, and may be repeated.
        const { result } = yield* who.rpc("tools/list", {})
        assert.deepInclude(result!.tools.find((tool) => tool.name === "engram_get")?.annotations, {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
        })
      }),
    )

    it.effect(
      "S2-17 S2-21 S2-28 another's private engrams are not there, by wallet, by search, by id; public ones are",
      () =>
        Effect.gen(function* () {
          const [ann, bob] = [yield* holder("ann17"), yield* holder("bob17")]
          const mark = `mark${store}`
          const hidden = yield* create(ann, "private.one", { tags: [mark] })
          const open = yield* create(ann, "public.one", { tags: [mark], is_public: true })
          const own = yield* create(bob, "bob.one", { tags: [mark] })
          assert.isFalse((yield* get(bob, "private.one", ann.wallet)).found)
          assert.strictEqual((yield* get(bob, "public.one", ann.wallet)).id, open.id)
          const ids = (found: { engrams: ReadonlyArray<{ id: string }> }) =>
            found.engrams.map(({ id }) => id).toSorted()
          const search = (over: object) => Effect.map(bob.done("engram_search", { tags: [mark], ...over }), ids)
          assert.deepStrictEqual(yield* search({ wallet_address: ann.wallet }), [open.id])
          assert.deepStrictEqual(yield* search({}), [open.id, own.id].toSorted())
          assert.deepStrictEqual(yield* search({ query: "medium" }), [open.id, own.id].toSorted())
          const typed = yield* bob.done("engram_list_by_type", {
            wallet_address: ann.wallet,
            engram_type: "preference",
          })
          assert.deepStrictEqual(ids(typed), [open.id])
          for (const id of [hidden.id, open.id]) {
            for (const [tool, args] of [
              ["engram_update", { id, content: content("stolen") }],
              ["engram_delete", { id }],
              ["hecate_pin_engram", { id }],
              ["hecate_unpin_engram", { id }],
              ["moros_pin_engram", { id }],
              ["moros_unpin_engram", { id }],
            ] as const) {
              const unknown = "eng_00000000-0000-7000-8000-000000000000"
              const told = yield* bob.told(tool, args)
              assert.include(told, `There is no engram \\"${id}\\" that you can see`)
              assert.strictEqual(told, (yield* bob.told(tool, { ...args, id: unknown })).replaceAll(unknown, id))
            }
          }
          assert.deepStrictEqual(yield* get(ann, "private.one"), { ...hidden, found: true })
          assert.deepStrictEqual(yield* get(ann, "public.one"), { ...open, found: true })
        }),
    )

    it.effect(
      "S2-18 S2-19 S2-20 S2-22 X-33 search: each filter alone and together, any of the tags, 20 unless asked, bounded",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("searcher")
          const made: Array<Result> = []
          for (let at = 0; at < 25; at++)
            made.push(
              yield* create(who, `k.${at}`, {
                engram_type: at % 5 === 0 ? "strategy" : "preference",
                tags: at % 2 === 0 ? ["even"] : ["odd"],
                content: content(at === 7 ? "the tent is by the lake" : `plain ${at}`),
              }),
            )
          const search = (over: object = {}) => who.done("engram_search", { wallet_address: who.wallet, ...over })
          const keys = (found: Result) => found.engrams.map(({ key }) => key)
          const all = yield* search()
          assert.deepStrictEqual([all.count, all.engrams.length], [20, 20])
          assert.deepStrictEqual(
            keys(all),
            made
              .toReversed()
              .slice(0, 20)
              .map(({ key }) => key),
          )
          const pages = [
            yield* search({ limit: 10 }),
            yield* search({ limit: 10, offset: 10 }),
            yield* search({ limit: 10, offset: 20 }),
          ]
          assert.deepStrictEqual(
            pages.flatMap(keys),
            made.toReversed().map(({ key }) => key),
          )
          assert.strictEqual((yield* search({ engram_type: "strategy" })).count, 5)
          assert.strictEqual((yield* search({ tags: ["odd"], limit: 100 })).count, 12)
          assert.strictEqual((yield* search({ tags: ["odd", "even"], limit: 100 })).count, 25)
          assert.strictEqual((yield* search({ tags: ["none"] })).count, 0)
          assert.strictEqual((yield* search({ engram_type: "strategy", tags: ["even"], limit: 100 })).count, 3)
          assert.strictEqual((yield* who.done("engram_search", { engram_type: "strategy", tags: ["odd"] })).count, 2)
          assert.strictEqual(keys(yield* search({ query: "where is the tent?" }))[0], "k.7")
          assert.strictEqual((yield* search({ query: "tent", engram_type: "strategy" })).count, 0)
          for (const over of [{ limit: -1 }, { limit: 0 }, { limit: 1e9 }, { offset: -1 }, { offset: 1e9 }])
            assert.include(yield* who.told("engram_search", over), Object.keys(over)[0]!)
          // Touched, it comes first.
          yield* who.done("engram_update", { id: made[3]!.id, content: content("touched") })
          assert.strictEqual(keys(yield* search())[0], "k.3")
        }),
    )

    it.effect(
      "S2-23 S2-24 S2-25 update: tags kept, replaced or cleared; the version rises and history keeps what was",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("updater")
          const { id } = yield* create(who, "u", { tags: ["a", "b"] })
          const kept = yield* who.done("engram_update", { id, content: content(1) })
          assert.deepStrictEqual([kept.tags, kept.version], [["a", "b"], 2])
          const replaced = yield* who.done("engram_update", { id, content: content(1), tags: ["c"] })
          assert.deepStrictEqual([replaced.tags, replaced.version], [["c"], 3])
          assert.deepStrictEqual((yield* get(who, "u")).tags, ["c"])
          yield* who.done("engram_update", { id, content: content(2), tags: [] })
          assert.deepStrictEqual((yield* get(who, "u")).tags, [])
          const { items } = yield* ask(() => who.stoa.memory.history(id.replace("eng_", "mem_"), {}))
          assert.deepStrictEqual(
            items.map((one) => one.content),
            ["2", "1", "1", content({ level: "medium" })],
          )
          assert.include(yield* who.told("engram_update", { id, content: "{bad" }), "JSON")
          // Content is required, and so is the id: nothing is changed without one of them.
          assert.include(yield* who.told("engram_update", { id, tags: ["d"] }), '"content"')
          assert.include(yield* who.told("engram_update", { content: "9" }), '"id"')
          assert.deepInclude(yield* get(who, "u"), { content: "2", tags: [], version: 4 })
          for (const wrong of ["eng_nowhere", "nowhere", "../x", "eng_00000000-0000-7000-8000-000000000000"])
            assert.include(yield* who.told("engram_update", { id: wrong, content: "1" }), wrong)
          yield* Effect.forEach(
            Array.from({ length: 10 }, (_, at) => at),
            (at) => who.done("engram_update", { id, content: content({ at }) }),
            { concurrency: "unbounded" },
          )
          const after = yield* get(who, "u")
          assert.strictEqual(after.version, 14)
          const { items: every } = yield* ask(() => who.stoa.memory.history(id.replace("eng_", "mem_"), { limit: 100 }))
          assert.lengthOf(new Set(every.slice(0, 10).map((one) => one.content)), 10)
        }),
    )

    it.effect("S2-26 S2-27 X-36 delete is for good, with its history; a pinned one is refused with the reason", () =>
      Effect.gen(function* () {
        const who = yield* holder("deleter")
        const { id } = yield* create(who, "d")
        yield* who.done("hecate_pin_engram", { id })
        assert.include(yield* who.told("engram_delete", { id }), "pinned")
        // The store itself guards it, whichever face would delete it.
        const record = id.replace("eng_", "mem_")
        const error = yield* Effect.flip(ask(() => who.stoa.memory.remove(record, { permanent: "true" })))
        assert.strictEqual((error as { status?: number }).status, 409)
        assert.isTrue((yield* get(who, "d")).found)
        yield* who.done("hecate_unpin_engram", { id })
        assert.deepStrictEqual<object>(yield* who.done("engram_delete", { id }), { deleted: true, id })
        assert.isFalse((yield* get(who, "d")).found)
        const gone = yield* Effect.flip(ask(() => who.stoa.memory.history(record, {})))
        assert.strictEqual((gone as { status?: number }).status, 404)
        assert.include(yield* who.told("engram_delete", { id }), id)
      }),
    )

    it.effect("S2-29 list by type: 50 unless asked, newest first, the same over pages", () =>
      Effect.gen(function* () {
        const who = yield* holder("lister")
        for (let at = 0; at < 60; at++) yield* create(who, `l.${at}`, { engram_type: "strategy" })
        yield* create(who, "other")
        const list = (over: object = {}) =>
          who.done("engram_list_by_type", { wallet_address: who.wallet, engram_type: "strategy", ...over })
        const first = yield* list()
        assert.deepStrictEqual([first.count, first.engrams.length], [50, 50])
        const rest = yield* list({ offset: 50 })
        assert.strictEqual(rest.count, 10)
        const keys = [...first.engrams, ...rest.engrams].map(({ key }) => key)
        assert.deepStrictEqual(
          keys,
          Array.from({ length: 60 }, (_, at) => `l.${59 - at}`),
        )
        const some = yield* list({ limit: 5, offset: 2 })
        assert.deepStrictEqual(
          some.engrams.map(({ key }) => key),
          keys.slice(2, 7),
        )
        assert.include(yield* who.told("engram_list_by_type", { wallet_address: who.wallet }), "engram_type")
        assert.include(yield* who.told("engram_list_by_type", { engram_type: "strategy" }), "wallet_address")
      }),
    )

    it.effect("S2-30 an engram that has ended is not there, unless it is pinned", () =>
      Effect.gen(function* () {
        const who = yield* holder("ender")
        const { id } = yield* create(who, "brief")
        const record = id.replace("eng_", "mem_")
        yield* ask(() => who.stoa.memory.change(record, { pinned: true, expiresAt: "2020-01-01T00:00:00.000Z" }))
        assert.isTrue((yield* get(who, "brief")).found)
        yield* ask(() => who.stoa.memory.change(record, { pinned: false }))
        assert.isFalse((yield* get(who, "brief")).found)
        assert.strictEqual((yield* who.done("engram_search", { wallet_address: who.wallet })).count, 0)
        assert.strictEqual((yield* create(who, "brief")).version, 1)
      }),
    )

    it.effect("S2-32 keys: dots by custom, any text without control characters, slashes and percent signs too", () =>
      Effect.gen(function* () {
        const who = yield* holder("keys")
        for (const key of ["trading.risk_tolerance", "a/b/../c", "100%25", "ключ.один", "k".repeat(512), "😀.😀"]) {
          yield* create(who, key)
          assert.strictEqual((yield* get(who, key)).key, key)
        }
        for (const key of ["", "a\nb", "k".repeat(513)])
          assert.include(
            yield* who.told("engram_create", { wallet_address: who.wallet, engram_type: "persona", key, content: "1" }),
            "key",
          )
      }),
    )

    it.effect("S2-09 S2-11 limits: 256 KiB of content, 64 tags of 128 characters, text that both databases hold", () =>
      Effect.gen(function* () {
        const who = yield* holder("large")
        yield* create(who, "fits", { content: content("é".repeat(100_000)) })
        const refused = (over: object) =>
          who.told("engram_create", {
            wallet_address: who.wallet,
            engram_type: "knowledge",
            key: "refused",
            content: "1",
            ...over,
          })
        assert.include(yield* refused({ content: content("x".repeat(300_000)) }), "262144")
        assert.include(yield* refused({ tags: Array.from({ length: 65 }, (_, at) => `t${at}`) }), "tags")
        assert.include(yield* refused({ tags: ["t".repeat(129)] }), "tags")
        assert.include(yield* refused({ wallet_address: "0".repeat(129) }), "wallet_address")
        assert.include(yield* refused({ extra: 1 }), "extra")
        assert.isFalse((yield* get(who, "refused")).found)
        // An engram of another kind, written by another face, is none to these tools.
        yield* ask(() => who.stoa.memory.put({ namespace: "engrams", kind: "note", key: "note", content: "plain" }))
        assert.isFalse((yield* get(who, "note")).found)
        yield* ask(() => who.stoa.memory.put({ namespace: "engrams", kind: "persona", key: "text", content: "plain" }))
        assert.strictEqual((yield* get(who, "text")).content, '"plain"')
      }),
    )

    it.effect(
      "S2-33 S2-35 S2-36 S2-37 S2-38 profiles: their own keys, one engram a field, repeats change nothing",
      () =>
        Effect.gen(function* () {
          const [who, other] = [yield* holder("profiled"), yield* holder("looker")]
          const update = (field: string, text: string) =>
            who.done("user_profile_update", { wallet_address: who.wallet, field, content: text })
          const first = yield* update("base", content({ name: "Ann" }))
          assert.deepStrictEqual([first.key, first.engram_type, first.version], ["user.profile.base", "persona", 1])
          assert.strictEqual(first.wallet_address, who.wallet)
          assert.deepStrictEqual(JSON.parse((yield* get(who, "user.profile.base")).content), { name: "Ann" })
          // Whose wallet is named decides, and not who asks.
          const foreign = { wallet_address: who.wallet, field: "base", content: content({ name: "Eve" }) }
          assert.include(yield* other.told("user_profile_update", foreign), who.wallet)
          assert.isFalse((yield* get(other, "user.profile.base")).found)
          // Stored and returned equal, as JSON in a string.
          const nested = { name: "Ann", likes: ["é", { deep: null }], age: 7 }
          const kept = yield* who.done("user_profile_update", {
            wallet_address: who.wallet,
            field: "nested",
            content: content(nested),
          })
          assert.deepStrictEqual(JSON.parse(kept.content), nested)
          assert.deepStrictEqual(JSON.parse((yield* get(who, "user.profile.nested")).content), nested)
          yield* who.done("engram_delete", { id: kept.id })
          assert.deepStrictEqual(yield* update("base", content({ name: "Ann" })), first)
          assert.strictEqual((yield* update("base", content({ name: "Bea" }))).version, 2)
          yield* update("style", content("short"))
          // Lent, it is written by another for its holder.
          const lent = { to: "looker", resource: `wallets/${who.wallet}`, actions: ["write" as const], reason: "help" }
          yield* ask(() => who.stoa.delegations.add(lent))
          yield* other.done("user_profile_update", { ...foreign, field: "lent" })
          assert.deepStrictEqual(JSON.parse((yield* get(who, "user.profile.lent")).content), { name: "Eve" })
          assert.isFalse((yield* get(other, "user.profile.lent")).found)
          yield* who.done("engram_delete", { id: (yield* get(who, "user.profile.lent")).id })
          yield* create(who, "user.preferences.x", { engram_type: "persona" })
          yield* create(who, "visitor.note", { engram_type: "persona" })
          yield* create(who, "user.profile.fake", { engram_type: "knowledge" })
          const profile = yield* who.done("user_profile_get", { wallet_address: who.wallet })
          assert.sameMembers(
            profile.profile.map(({ key }) => key),
            ["user.profile.base", "user.profile.style"],
          )
          assert.strictEqual(profile.count, 2)
          assert.strictEqual((yield* other.done("user_profile_get", { wallet_address: who.wallet })).count, 0)
          const longest = "x".repeat(64)
          assert.strictEqual((yield* update(longest, content(1))).key, `user.profile.${longest}`)
          for (const field of ["a.b", "", "x".repeat(65), "../x", "a/b", "a\\b", ".", "..", "a b", "a\n", "%2e"])
            assert.include(
              yield* who.told("user_profile_update", { wallet_address: who.wallet, field, content: "1" }),
              "field",
            )
          assert.include(
            yield* who.told("user_profile_update", { wallet_address: who.wallet, field: "base", content: "{bad" }),
            "JSON",
          )
          for (const wrong of [{}, { content: { name: "Ann" } }])
            assert.include(
              yield* who.told("user_profile_update", { wallet_address: who.wallet, field: "base", ...wrong }),
              '"content"',
            )
          assert.strictEqual((yield* get(who, "user.profile.base")).content, content({ name: "Bea" }))
          assert.include(
            yield* who.told("user_profile_update", { wallet_address: who.wallet, field: "fake", content: "1" }),
            "knowledge",
          )
        }),
    )

    it.effect("S2-46 S2-47 S2-48 X-35 remember: one engram a key, plain text in, JSON out, and a pin survives it", () =>
      Effect.gen(function* () {
        const who = yield* holder("rememberer")
        for (const agent of ["hecate", "moros"]) {
          const remember = (over: object = {}) =>
            who.done(`${agent}_remember`, {
              wallet_address: who.wallet,
              key: `${agent}.visitor.chains`,
              content: 'likes "Base", and tea',
              ...over,
            })
          const first = yield* remember()
          assert.deepStrictEqual([first.remembered, first.key], [true, `${agent}.visitor.chains`])
          assert.deepStrictEqual(yield* remember(), first)
          const read = yield* get(who, first.key)
          assert.deepStrictEqual(
            [JSON.parse(read.content), read.engram_type, read.tags, read.is_public, read.version],
            ['likes "Base", and tea', "knowledge", [agent, "auto"], false, 1],
          )
          yield* who.done(`${agent}_pin_engram`, { id: first.id })
          yield* remember({ content: "now likes Solana" })
          const after = yield* get(who, first.key)
          assert.deepStrictEqual([after.is_pinned, JSON.parse(after.content)], [true, "now likes Solana"])
          // Tags that somebody gave it are kept as well.
          yield* who.done("engram_update", { id: first.id, content: '"tea"', tags: ["mine"] })
          yield* remember()
          assert.deepInclude(yield* get(who, first.key), { is_pinned: true, tags: ["mine", agent, "auto"] })
          assert.include(yield* who.told("engram_delete", { id: first.id }), "pinned")
          for (const engram_type of ["persona", "preference", "knowledge"]) {
            const { key } = yield* remember({ key: `${agent}.${engram_type}`, engram_type })
            assert.strictEqual((yield* get(who, key)).engram_type, engram_type)
          }
          const whole = { wallet_address: who.wallet, key: "x", content: "x" }
          for (const engram_type of ["strategy", "compliance", "other"])
            assert.include(yield* who.told(`${agent}_remember`, { ...whole, engram_type }), "engram_type")
          for (const name of Object.keys(whole)) {
            const { [name as never]: _, ...rest } = whole
            assert.include(yield* who.told(`${agent}_remember`, rest), `"${name}"`)
          }
          assert.isFalse((yield* get(who, "x")).found)
        }
        const strategy = yield* create(who, "plan", { engram_type: "strategy" })
        yield* who.told("hecate_remember", { wallet_address: who.wallet, key: "plan", content: "overwritten" })
        assert.deepStrictEqual(yield* get(who, "plan"), { ...strategy, found: true })
        // What was public is not filled with what was said in passing.
        yield* create(who, "was.public", { engram_type: "knowledge", is_public: true })
        yield* who.done("hecate_remember", { wallet_address: who.wallet, key: "was.public", content: "secret" })
        assert.isFalse((yield* get(who, "was.public")).is_public)
      }),
    )

    it.effect(
      "S2-52 S2-53 S2-24 a pin is the record's own: twice is once, unpinning is always done, updates and tags leave it",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("pinner")
          const { id } = yield* create(who, "p", { tags: ["a"] })
          assert.deepStrictEqual<object>(yield* who.done("hecate_unpin_engram", { id }), { unpinned: true, id })
          assert.deepStrictEqual<object>(yield* who.done("hecate_pin_engram", { id }), { pinned: true, id })
          const once = yield* get(who, "p")
          yield* who.done("moros_pin_engram", { id })
          assert.deepStrictEqual(yield* get(who, "p"), once)
          assert.deepStrictEqual([once.is_pinned, once.tags], [true, ["a"]])
          yield* who.done("engram_update", { id, content: "1", tags: [] })
          assert.isTrue((yield* get(who, "p")).is_pinned)
          assert.include(yield* who.told("engram_delete", { id }), "pinned")
          yield* who.done("moros_unpin_engram", { id })
          assert.isFalse((yield* get(who, "p")).is_pinned)
          yield* who.done("engram_delete", { id })
          // It changes something, ends nothing, and does not say that it may be repeated.
          const { result } = yield* who.rpc("tools/list", {})
          for (const name of ["hecate_unpin_engram", "moros_unpin_engram"])
            assert.deepInclude(result!.tools.find((tool) => tool.name === name)?.annotations, {
              readOnlyHint: false,
              destructiveHint: false,
              idempotentHint: false,
            })
        }),
    )

    it.effect(
      "S2-66 each of the five that say they are idempotent, called twice, leaves what it left the first time",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("twice")
          const { id } = yield* create(who, "kept", { tags: ["t"] })
          const address = { wallet_address: who.wallet }
          const state = ask(async () => {
            const { items } = await who.stoa.memory.list({ limit: 100 })
            const histories = await Promise.all(items.map((one) => who.stoa.memory.history(one.id, {})))
            return items.map((one, at) => [
              one.key,
              one.content,
              one.tags,
              one.public,
              one.pinned,
              one.version,
              histories[at],
            ])
          })
          for (const [tool, args] of [
            ["user_profile_update", { ...address, field: "base", content: '{"likes":"tea"}' }],
            ["hecate_remember", { ...address, key: "likes", content: "tea" }],
            ["moros_remember", { ...address, key: "fears", content: "tea" }],
            ["hecate_pin_engram", { id }],
            ["moros_pin_engram", { id }],
          ] as const) {
            const first = yield* who.done(tool, args)
            const before = yield* state
            assert.deepStrictEqual(yield* who.done(tool, args), first, tool)
            assert.deepStrictEqual(yield* state, before, tool)
          }
        }),
    )

    it.effect("S2-64 what says it only reads writes nothing, neither an engram nor a version nor an event of one", () =>
      Effect.gen(function* () {
        const who = yield* holder("quiet")
        yield* create(who, "q", { tags: ["t"] })
        yield* who.done("user_profile_update", { wallet_address: who.wallet, field: "base", content: "1" })
        yield* who.done("hecate_new_session", { wallet_address: who.wallet })
        const state = ask(async () => {
          const { items } = await who.stoa.memory.list({ limit: 100 })
          const histories = await Promise.all(items.map(({ id }) => who.stoa.memory.history(id, {})))
          return JSON.stringify([items, histories])
        })
        const before = yield* state
        const address = { wallet_address: who.wallet }
        yield* who.done("engram_get", { ...address, key: "q" })
        yield* who.done("engram_search", { ...address, tags: ["t"] })
        yield* who.done("engram_search", { query: "medium" })
        yield* who.done("engram_list_by_type", { ...address, engram_type: "preference" })
        yield* who.done("user_profile_get", address)
        yield* who.done("hecate_list_sessions", address)
        assert.strictEqual(yield* state, before)
      }),
    )

    it.effect("X-32 X-33 the same key in three families is three records", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const who = yield* holder("families")
        yield* ask(() => admin.principals.change("families", { toolsets: ["engrams", "office", "stoa"] }))
        yield* create(who, "personality", { content: content("engram") })
        yield* ask(() => who.stoa.tools.call("update_memory", { input: { label: "personality", content: "office" } }))
        yield* ask(() => who.stoa.tools.call("remember", { input: { key: "personality", content: "stoa" } }))
        const { items } = yield* ask(() => who.stoa.memory.list({ key: "personality" }))
        assert.sameMembers(
          items.map(({ content: it, namespace }) => `${namespace} ${it}`),
          ['engrams "engram"', "office office", "stoa stoa"],
        )
        const found = yield* who.done("engram_search", { wallet_address: who.wallet })
        assert.strictEqual(found.count, 1)
      }),
    )
  })
