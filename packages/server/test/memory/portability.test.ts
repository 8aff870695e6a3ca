/** One's own memory out of the house and back: the same bytes, nothing of others, nothing half. */
import { assert, layer } from "@effect/vitest"
import { jsonLinesOf, linesOf, memoryFilesOf, memoryLinesIn, type MemoryLineJson } from "@stoa/contract"
import { connect, type Stoa, type StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { Memories } from "../../src/memory/Memories.ts"
import { ask, Guest, house } from "../house.ts"

const person = Effect.fnUntraced(function* (name: string) {
  const { admin, url } = yield* Guest
  yield* ask(() => admin.principals.add({ kind: "person", name }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
  return connect({ url, token })
})
const refusal = (question: () => Promise<unknown>) =>
  Effect.map(Effect.flip(ask(question)), (error) => error as StoaError)

/** Everything somebody has, page by page, as a file. */
const exported = (stoa: Stoa, limit = 7) =>
  ask(async () => {
    const lines: Array<MemoryLineJson> = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await stoa.memory.export({ limit, ...(cursor == null ? {} : { cursor }) })
      lines.push(...(page.items as unknown as ReadonlyArray<MemoryLineJson>))
      cursor = page.next
    }
    return jsonLinesOf(lines)
  })
const imported = Effect.fnUntraced(function* (stoa: Stoa, lines: ReadonlyArray<MemoryLineJson>) {
  const sum = { written: 0, unchanged: 0 }
  for (let from = 0; from < lines.length; from += 5) {
    const part = lines.slice(from, from + 5)
    const { unchanged, written } = yield* ask(() => stoa.memory.import({ lines: part }))
    sum.written += written
    sum.unchanged += unchanged
  }
  return sum
})

/** Keys that would lead out of a folder, mean something to a system, or fold together; any text besides. */
const tricky = [
  "../../etc/passwd",
  "a/../b",
  ".",
  "..",
  "/root",
  "C:\\con",
  "nul",
  "Trip",
  "trip",
  "trip.",
  "--",
  "é",
  "e\u0301",
  "~",
  "a\tb".replace("\t", " "),
  "👍".repeat(60),
  "x".repeat(512),
]
const text = (most: number) =>
  fc.string({ unit: "grapheme", maxLength: most }).filter((value) => value.isWellFormed() && !value.includes("\0"))
const record = fc.record({
  kind: fc.constantFrom("note", "fact"),
  key: fc.constantFrom(...tricky),
  contents: fc.array(fc.oneof(text(40), fc.constantFrom("---\nfront: matter\n---\nbody", "a\r\nb\r", "\n\n", "")), {
    minLength: 1,
    maxLength: 4,
  }),
  tags: fc.array(fc.constantFrom("a", "b", "ünï", "two words"), { maxLength: 3 }),
  open: fc.boolean(),
  pinned: fc.boolean(),
  gone: fc.boolean(),
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`portability on ${store}`, (it) => {
    it.effect(
      "G-21 export, erase, import gives the same bytes, as lines and as a folder of Markdown files",
      () =>
        Effect.gen(function* () {
          const ann = yield* person("Ann1")
          const bob = yield* person("Bob1")
          const made = fc.sample(record, { numRuns: 25, seed: 4711 })
          for (const { contents, gone, key, kind, open, pinned, tags } of made) {
            let id = ""
            for (const content of contents)
              id = (yield* ask(() => ann.memory.put({ kind, key, content, tags, public: open, pinned }))).id
            if (open) yield* ask(() => ann.memory.share(id, "Bob1", { right: "write" }))
            if (open) yield* ask(() => bob.memory.answer(id, { taken: true }))
            if (open) yield* ask(() => bob.memory.change(id, { content: `Bob: ${contents[0]}` }))
            if (gone && !pinned) yield* ask(() => ann.memory.remove(id))
          }
          yield* ask(() =>
            ann.memory.put({ kind: "note", key: "ends", content: "later", expiresAt: "2099-01-01T00:00:00.000Z" }),
          )
          const before = yield* exported(ann)
          const lines = linesOf(before)
          assert.isAbove(lines.length, 40)
          const files = memoryFilesOf(lines)
          for (const path of files.keys()) assert.match(path, /^(history\.jsonl|[a-z]+\/[a-z0-9-]+\/[a-z0-9-]+\.md)$/)
          assert.strictEqual(new Set([...files.keys()].map((path) => path.toLowerCase())).size, files.size)
          assert.deepStrictEqual(memoryLinesIn(files), lines)
          const search = () => ask(() => ann.memory.list({ q: "Bob later", limit: 100 }))
          const found = (yield* search()).items.map(({ id, match }) => [id, match?.words])
          for (const again of [lines, memoryLinesIn(files)]) {
            const { erased } = yield* ask(() => ann.memory.erase({ confirm: "Ann1" }))
            assert.isAbove(erased, 0)
            assert.strictEqual(yield* exported(ann), "")
            assert.deepStrictEqual((yield* search()).items, [])
            assert.deepStrictEqual(yield* imported(ann, again), { written: lines.length, unchanged: 0 })
            assert.strictEqual(yield* exported(ann), before)
            assert.sameDeepMembers(
              (yield* search()).items.map(({ id, match }) => [id, match?.words]),
              found,
            )
            // Done twice it changes nothing.
            assert.deepStrictEqual(yield* imported(ann, again), { written: 0, unchanged: lines.length })
            assert.strictEqual(yield* exported(ann), before)
          }
        }),
      120_000,
    )

    it.effect(
      "an import writes into the caller's own memory alone; owners, ids and authors of others are refused",
      () =>
        Effect.gen(function* () {
          const [ann, bob] = [yield* person("Ann2"), yield* person("Bob2")]
          const bobId = (yield* ask(() => bob.principals.me())).id
          const { id } = yield* ask(() => ann.memory.put({ kind: "note", key: "k", content: "Ann's own" }))
          yield* ask(() => ann.memory.change(id, { content: "Ann's second" }))
          const lines = linesOf(yield* exported(ann))
          const bobsLine = yield* Effect.map(
            ask(() => bob.memory.put({ kind: "note", key: "b", content: "Bob's own" })),
            () => undefined,
          ).pipe(
            Effect.andThen(exported(bob)),
            Effect.map((all) => linesOf(all)[0]!),
          )
          const note = { kind: "note", key: "new", content: "x" }
          const bad: ReadonlyArray<readonly [what: string, line: object]> = [
            ["somebody else's sealed line", bobsLine],
            ["an owner", { ...note, owner: bobId }],
            ["a foreign id", { ...note, id: bobsLine.id }],
            ["an id nobody has", { ...note, id: "mem_00000000-0000-7000-8000-000000000000" }],
            ["a foreign author", { ...note, by: bobId }],
            ["foreign words", { ...note, authors: { content: [bobId], tags: [] } }],
            ["a call", { ...note, call: "cal_00000000-0000-7000-8000-000000000000" }],
            ["a forged seal", { ...lines[1]!, by: bobId }],
            ["history that was changed", { ...lines[0]!, content: "never said" }],
            ["a key that was changed", { ...lines[1]!, key: "other" }],
          ]
          const before = yield* exported(ann)
          for (const [what, line] of bad) {
            const error = yield* refusal(() => ann.memory.import({ lines: [note, line] as never }))
            assert.strictEqual(error.status, 400, what)
            assert.include(error.issues.map((issue) => issue.path).join(" "), "lines.1", what)
          }
          // All of them or none: the good line before each bad one is not there.
          assert.strictEqual(yield* exported(ann), before)
          assert.strictEqual((yield* ask(() => bob.memory.list())).items.length, 1)
          // What a person edits becomes the next version, by that person and now.
          const edited = { ...lines[1]!, content: "edited by hand" }
          assert.deepStrictEqual(yield* imported(ann, [lines[0]!, edited]), { written: 1, unchanged: 1 })
          const now = yield* ask(() => ann.memory.get(id))
          assert.deepStrictEqual([now.version, now.content], [3, "edited by hand"])
          assert.deepStrictEqual(yield* imported(ann, [note as MemoryLineJson]), { written: 1, unchanged: 0 })
          assert.deepStrictEqual(yield* imported(ann, [note as MemoryLineJson]), { written: 0, unchanged: 1 })
          const many = Array.from({ length: 201 }, () => note)
          assert.strictEqual((yield* refusal(() => ann.memory.import({ lines: many }))).status, 400)
        }),
    )

    it.effect("G-21 what was erased is nowhere: not in rows, not in the index, not in events, not in the audit", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ann = yield* person("Ann3")
        const bob = yield* person("Bob3")
        yield* ask(() => bob.memory.put({ kind: "note", key: "kept", content: "Bob keeps a zeppelin" }))
        for (const n of [1, 2, 3])
          yield* ask(() =>
            ann.memory.put({ kind: "note", key: "secret", content: `quixotic zeppelin ${n}`, pinned: true }),
          )
        assert.strictEqual((yield* refusal(() => ann.memory.erase({ confirm: "ann3" }))).status, 400)
        assert.deepStrictEqual(yield* ask(() => ann.memory.erase({ confirm: "Ann3", dryRun: true })), { erased: 1 })
        assert.lengthOf((yield* ask(() => ann.memory.list())).items, 1)
        assert.deepStrictEqual(yield* ask(() => ann.memory.erase({ confirm: "Ann3" })), { erased: 1 })
        const tables = [
          "memory_records",
          "memory_versions",
          "memory_tags",
          "memory_erasures",
          "search_index",
          "journal",
          "audit",
        ]
        for (const table of tables) {
          const rows = yield* sql`SELECT * FROM ${sql(table)}`
          assert.notMatch(JSON.stringify(rows), /quixotic/i, table)
        }
        assert.lengthOf(yield* sql`SELECT * FROM search_terms WHERE term LIKE 'quixot%'`, 0)
        assert.lengthOf((yield* ask(() => bob.memory.list({ q: "zeppelin" }))).items, 1)
      }),
    )

    it.effect("a diff says line by line what changed; history past its days goes, the newest stays", () =>
      Effect.gen(function* () {
        const ann = yield* person("Ann4")
        const { id } = yield* ask(() => ann.memory.put({ kind: "note", key: "k", content: "a\nb\nc", tags: ["x"] }))
        yield* ask(() => ann.memory.change(id, { content: "a\nB\nc\nd", tags: ["y"] }))
        const diff = yield* ask(() => ann.memory.diff(id))
        assert.deepStrictEqual(
          diff.lines.map(({ change, text: line }) => `${change} ${line}`),
          ["same a", "removed b", "added B", "same c", "added d"],
        )
        assert.deepStrictEqual([diff.from, diff.to, diff.tags], [1, 2, { added: ["y"], removed: ["x"] }])
        assert.strictEqual((yield* refusal(() => ann.memory.diff(id, { from: 1, to: 9 }))).status, 409)
        const stranger = yield* person("Bob4")
        assert.strictEqual((yield* refusal(() => stranger.memory.diff(id))).status, 404)
        const gone = yield* ask(() => ann.memory.put({ kind: "note", key: "gone", content: "deleted" }))
        yield* ask(() => ann.memory.remove(gone.id))
        const { retain } = yield* Memories
        const [past, future] = ["2000-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z"]
        assert.deepStrictEqual(yield* retain({ versions: past, deleted: past }), { versions: 0, records: 0 })
        yield* retain({ versions: future, deleted: past })
        assert.deepStrictEqual(
          (yield* ask(() => ann.memory.history(id))).items.map(({ version }) => version),
          [2],
        )
        assert.lengthOf((yield* ask(() => ann.memory.list({ deleted: "true" }))).items, 1)
        yield* retain({ versions: past, deleted: future })
        assert.lengthOf((yield* ask(() => ann.memory.list({ deleted: "true" }))).items, 0)
        assert.strictEqual((yield* ask(() => ann.memory.get(id))).content, "a\nB\nc\nd")
      }),
    )
  })
