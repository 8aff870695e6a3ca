/** Erased is erased: after every way to write and read memory, the whole database is searched for what was in it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { tableNames } from "../../src/store/backup/tables.ts"
import { ask, Guest } from "../house.ts"
import { dm, ended, runsHouse, setRules, stores } from "../runs/runsKit.ts"
import { someone } from "../spaces/spacesGuests.ts"
import { Agents } from "../../src/access/identity/Agents.ts"
import { Journal } from "../../src/store/journal/Journal.ts"

const marker = "quixotic"
const wallet = "0x52908400098527886E0F7030069857D2E4169EE7"

/** Tables that have the marker in a row, as text or as bytes. */
const holding = Effect.fnUntraced(function* (word: string) {
  const sql = yield* SqlClient.SqlClient
  const found: Array<string> = []
  for (const table of yield* tableNames) {
    const rows = yield* sql<Record<string, unknown>>`SELECT * FROM ${sql(table)}`
    const texts = rows.flatMap((row) =>
      Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value))),
    )
    if (texts.some((value) => value.toLowerCase().includes(word))) found.push(table)
  }
  return found
})

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`erasing on ${store}`, (it) => {
    it.effect(
      "G-21 after erasing, no table has a word of it: not calls nor their files, not runs, not the index; others keep theirs",
      () =>
        Effect.gen(function* () {
          const { admin, raw } = yield* Guest
          const bot = yield* someone("agent", "Memo")
          const toolsets = ["stoa", "office", "gateway", "engrams"] as const
          yield* ask(() => admin.principals.change(bot.id, { toolsets, wallet }))
          yield* Effect.orDie((yield* Journal).transact((yield* Agents).change(bot.id, { model: "demo" })))
          const { client } = bot
          const call = (tool: string, input: object) =>
            ask(() => client.tools.call(tool, { input: input as never }).catch((error: Error) => error))
          const text = `a ${marker} zeppelin`
          yield* ask(() =>
            raw("/api/v1/memory", {
              method: "POST",
              headers: {
                authorization: `Bearer ${bot.token}`,
                "content-type": "application/json",
                "idempotency-key": "once",
              },
              body: JSON.stringify({ kind: "note", key: "direct", content: text, tags: [marker] }),
            }),
          )
          yield* call("remember", { key: "one", content: `${text} `.repeat(6000) })
          yield* call("remember", { key: "one", content: text, tags: [marker] })
          yield* call("remember", { key: "bad", content: text, nonsense: marker })
          yield* call("recall", { query: marker })
          yield* call("recall", { query: "zeppelin", limit: 100 })
          yield* call("search", { query: "zeppelin" })
          yield* call("memory_history", { key: "one" })
          yield* call("forget", { key: "nothing of mine" })
          yield* call("update_memory", { label: "persona", content: text })
          yield* call("store_memory", { content: text })
          yield* call("search_memory", { query: marker })
          yield* call("set_memories", { memories: [{ key: "m", value: text }] })
          yield* call("set_goals", { goals: [{ id: "g", description: text }] })
          yield* call("set_plans", { plans: [{ name: marker, instruction: text, runAfter: "2 days" }] })
          yield* call("engram_create", {
            wallet_address: wallet,
            engram_type: "knowledge",
            key: `k.${marker}`,
            content: JSON.stringify({ text }),
          })
          yield* call("engram_search", { wallet_address: wallet, query: marker })
          // A run whose prompt has the block, and that says and writes it.
          yield* setRules([
            { when: { step: 1 }, say: text, call: [{ tool: "remember", input: { key: "run", content: text } }] },
          ])
          const person = yield* someone("person", "Ann")
          const room = yield* dm(person, bot)
          yield* ask(() => person.client.spaces.post(room.id, { text: "go on" }))
          yield* ended(bot)
          // Another keeps what it wrote itself, calls included.
          const other = yield* someone("agent", "Other")
          yield* ask(() => other.client.tools.call("remember", { input: { content: "my own flamingo" } }))

          const before = yield* holding(marker)
          for (const table of ["memory_records", "memory_versions", "calls", "steps", "run_messages", "search_index"])
            assert.include(before, table)
          const { erased } = yield* ask(() => client.memory.erase({ confirm: "Memo" }))
          assert.strictEqual(erased, 9)
          yield* (yield* Readers).receipt("erased-calls")
          yield* (yield* Readers).receipt("erased-runs")
          assert.deepStrictEqual(yield* holding(marker), [])
          assert.includeMembers(yield* holding("flamingo"), ["calls", "memory_records"])
          // That there were calls stays, and how they ended.
          const sql = yield* SqlClient.SqlClient
          const left = yield* sql<{ tool: string; state: string; input: string }>`SELECT tool, state, input FROM calls
            WHERE principal = ${bot.id} ORDER BY id`
          assert.isAtLeast(left.length, 15)
          assert.isTrue(left.some(({ state, tool }) => tool === "remember" && state === "done"))
          // Done twice it changes nothing, and memory goes on.
          yield* ask(() => client.memory.erase({ confirm: "Memo" }))
          yield* call("remember", { content: "a new beginning" })
          assert.lengthOf((yield* ask(() => client.memory.list({ q: "beginning" }))).items, 1)
        }),
      120_000,
    )
  })
