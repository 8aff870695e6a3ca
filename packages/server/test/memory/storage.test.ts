/** What memory stores, and for whom: each text once, counted for its owner, and no more than the limit allows. */
import { assert, layer } from "@effect/vitest"
import { Caller, type MemoryId, type MemoryRecord, type PrincipalId } from "@stoa/contract"
import { connect, type StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Memories } from "../../src/memory/Memories.ts"
import { Shares } from "../../src/memory/Shares.ts"
import { makeVersions } from "../../src/memory/records/versions.ts"
import type { RecordRow } from "../../src/memory/records/rows.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { times } from "../../../../test/long.ts"

const member = Effect.fnUntraced(function* (name: string, owner?: string) {
  const { admin, url } = yield* Guest
  const kind = owner === undefined ? "person" : "agent"
  const { id } = yield* ask(() => admin.principals.add({ kind, name, ...(owner === undefined ? {} : { owner }) }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
  return { id: id as PrincipalId, memory: connect({ url, token }).memory }
})

const countOf = Effect.fnUntraced(function* (owner: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ bytes: number }>`SELECT bytes FROM storage WHERE principal = ${owner}`
  return rows[0]?.bytes ?? 0
})

/** The bytes of all texts of a record, in each table that has some. */
const textsOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ n: number | string }>`SELECT
    (SELECT COALESCE(sum(octet_length(content)), 0) FROM memory_records WHERE id = ${id}) +
    (SELECT COALESCE(sum(octet_length(content)), 0) FROM memory_versions WHERE record = ${id}) +
    (SELECT COALESCE(sum(octet_length(content)), 0) FROM memory_texts WHERE record = ${id}) AS n`
  return Number(rows[0]!.n)
})

const refused = (question: () => Promise<unknown>) =>
  Effect.map(Effect.flip(ask(question)), (error) => error as StoaError)

const limits = [
  { principal: "role:member", resource: "stored", count: 1, seconds: 0 },
  { principal: "*", resource: "stored", count: 2, seconds: 0, per: "owner" },
  ...roomy.limits,
]

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, config: { limits } }), { excludeTestServices: true, timeout: 60_000 })(
    `what memory stores on ${store}`,
    (it) => {
      it.effect(
        "tags, a pin, an expiry and a revert change a version and copy no text, which is not indexed again",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const { memory } = yield* member("Copier")
            const [one, two] = ["one ".repeat(10_000), "two ".repeat(10_000)]
            const { id } = yield* ask(() => memory.put({ kind: "note", key: "long", content: one }))
            const index = sql`SELECT * FROM search_index WHERE ref = ${id} ORDER BY seq`
            for (let at = 0; at < 5; at++) yield* ask(() => memory.change(id, { tags: [`t${at}`] }))
            assert.strictEqual(yield* textsOf(id), 40_000)
            const found = yield* index
            yield* ask(() => memory.change(id, { pinned: true }))
            yield* ask(() => memory.change(id, { expiresAt: new Date(Date.now() + 1e9).toISOString() }))
            assert.deepStrictEqual(yield* index, found)
            yield* ask(() => memory.change(id, { content: two }))
            for (let at = 0; at < 4; at++) yield* ask(() => memory.revert(id, { version: at % 2 === 0 ? 6 : 9 }))
            assert.strictEqual(yield* textsOf(id), 80_000)
            const { items } = yield* ask(() => memory.history(id))
            assert.deepStrictEqual(items.map(({ content }) => content.slice(0, 3)).toReversed(), [
              ...Array.from({ length: 8 }, () => "one"),
              "two",
              "one",
              "two",
              "one",
              "two",
            ])
            assert.isTrue(items.every(({ content }) => content === one || content === two))
            const { lines } = yield* ask(() => memory.diff(id, { from: 8, to: 9 }))
            assert.isAbove(lines.length, 1)
          }),
      )

      it.effect(
        "whatever is written, changed, shared and removed: history reads as written, and the count is what is there",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const memories = yield* Memories
            const { transact } = yield* Journal
            const [ann, bob] = [yield* member("Counted"), yield* member("Reader")]
            const by = { id: ann.id }
            const shares = yield* Shares
            const caller = yield* (yield* Tokens).callerNow(ann.id, "agent")
            const asAnn = Effect.provideService(Caller, caller)
            const { weightOf } = makeVersions(sql)
            const act = fc.record({
              record: fc.nat(2),
              act: fc.constantFrom(
                "text",
                "tags",
                "open",
                "share",
                "unshare",
                "revert",
                "bin",
                "restore",
                "drop",
                "retain",
                "old",
              ),
              text: fc.constantFrom("", "a", "ü".repeat(40), "b ".repeat(300)),
            })
            const acts = yield* Effect.sync(() =>
              fc.sample(fc.array(act, { minLength: 30, maxLength: 30 }), { numRuns: times(4, 60), seed: 7 }),
            )
            for (const [round, some] of acts.entries()) {
              const keys = [0, 1, 2].map((at) => `${round}/${at}`)
              const there = new Map<string, MemoryRecord>()
              const model = new Map<string, Map<number, string>>()
              const wrote = (key: string, record: MemoryRecord) => {
                there.set(key, record)
                const known = model.get(record.id) ?? new Map<number, string>()
                model.set(record.id, known.set(record.version, record.content))
              }
              for (const { act, record: at, text } of some) {
                const key = keys[at]!
                const id = there.get(key)?.id as MemoryId
                if (id === undefined || act === "text") {
                  const put = transact(memories.put(by, ann.id, { kind: "note", key, content: text }))
                  const done = yield* Effect.result(put)
                  if (done._tag === "Success") wrote(key, done.success.record)
                  continue
                }
                const step = {
                  tags: transact(memories.change(by, id, { tags: [text.slice(0, 9) + "."] })),
                  open: transact(memories.change(by, id, { public: text.length > 1 })),
                  share: transact(asAnn(shares.share(by, id, bob.id, "read"))),
                  unshare: transact(asAnn(shares.share(by, id, bob.id, null))),
                  revert: transact(memories.revert(by, id, 1)),
                  bin: transact(memories.remove(by, id, false)),
                  restore: transact(memories.restore(by, id)),
                  drop: transact(memories.remove(by, id, true)),
                  retain: memories.retain({ versions: "2999", deleted: "2000" }),
                  // As a house of before left it: the newest version has its own copy, and nothing is counted.
                  old: transact(
                    Effect.orDie(
                      Effect.gen(function* () {
                        yield* sql`UPDATE storage SET bytes = bytes - COALESCE((SELECT bytes FROM memory_records
                        WHERE id = ${id}), 0) WHERE principal = ${ann.id}`
                        yield* sql`UPDATE memory_versions SET digest = NULL, content = (SELECT content FROM memory_records
                        WHERE id = ${id}) WHERE record = ${id} AND version = (SELECT version FROM memory_records WHERE id = ${id})`
                        yield* sql`UPDATE memory_records SET bytes = NULL WHERE id = ${id}`
                      }),
                    ),
                  ),
                }[act]
                const done = yield* Effect.result(step as Effect.Effect<unknown>)
                if (done._tag === "Failure") continue
                if (act === "drop") {
                  there.delete(key)
                  model.delete(id)
                }
                if (act === "tags" || act === "open" || act === "revert" || act === "restore")
                  wrote(key, done.success as MemoryRecord)
              }
              while ((yield* transact(memories.countSome(""))) !== null);
              const rows = yield* sql<RecordRow>`SELECT * FROM memory_records WHERE owner = ${ann.id}`
              let sum = 0
              for (const row of rows) {
                const shares = yield* sql`SELECT principal FROM memory_shares WHERE record = ${row.id}`
                const bytes = yield* weightOf(row, shares.length)
                assert.strictEqual(Number(row.bytes), bytes, `${row.key}: ${JSON.stringify(some)}`)
                sum += bytes
                if (row.deletedAt !== null) continue
                const { items } = yield* memories.history(by, row.id, { limit: 100 })
                const known = model.get(row.id)
                if (known !== undefined)
                  for (const { content, version } of items) assert.strictEqual(content, known.get(version), row.key)
              }
              assert.strictEqual(yield* countOf(ann.id), sum)
            }
          }),
      )

      it.effect("a principal, and an owner with all its agents, store no more than the limit, and can make room", () =>
        Effect.gen(function* () {
          const ann = yield* member("Hoarder")
          const text = (n: number) => `${n} `.repeat(30_000)
          const kept = yield* ask(() => ann.memory.put({ kind: "note", key: "1", content: text(1) }))
          const fill = Effect.gen(function* () {
            for (let n = 2; n < 100; n++) yield* ask(() => ann.memory.put({ kind: "note", key: "1", content: text(n) }))
          })
          const full = (yield* Effect.flip(fill)) as StoaError
          assert.strictEqual(full.status, 409)
          assert.match(full.message, /Hoarder stores .* MiB, and .* MiB more would exceed the limit "stored" of 1 MiB/)
          assert.match(full.message, /Delete records permanently/)
          // Less is never refused.
          yield* ask(() => ann.memory.change(kept.id, { content: "short" }))
          yield* ask(() => ann.memory.remove(kept.id, { permanent: "true" }))
          assert.strictEqual(yield* countOf(ann.id), 0)
          yield* ask(() => ann.memory.put({ kind: "note", key: "1", content: text(1) }))

          const agents = [yield* member("Hoarder.1", "Hoarder"), yield* member("Hoarder.2", "Hoarder")]
          const all = Effect.gen(function* () {
            for (let n = 0; n < 100; n++)
              yield* ask(() => agents[n % 2]!.memory.put({ kind: "note", key: String(n), content: text(n % 10) }))
          })
          assert.match(((yield* Effect.flip(all)) as StoaError).message, /owner of Hoarder.*limit "stored" of 2 MiB/)
        }),
      )

      it.effect("what sharing adds to the index counts for the owner, and is refused when it would be too much", () =>
        Effect.gen(function* () {
          const ann = yield* member("Sharer")
          const { id } = yield* ask(() => ann.memory.put({ kind: "note", key: "x", content: "shared ".repeat(20_000) }))
          const before = yield* countOf(ann.id)
          const first = yield* member("Sharer.a")
          yield* ask(() => ann.memory.share(id, first.id, { right: "read" }))
          assert.strictEqual(yield* countOf(ann.id), before + 280_000)
          yield* ask(() => ann.memory.share(id, first.id, { right: "write" }))
          assert.strictEqual(yield* countOf(ann.id), before + 280_000)
          const others = [yield* member("Sharer.b"), yield* member("Sharer.c"), yield* member("Sharer.d")]
          const error = yield* refused(async () => {
            for (const other of others) await ann.memory.share(id, other.id, { right: "read" })
          })
          assert.match(error.message, /limit "stored"/)
        }),
      )
    },
  )
