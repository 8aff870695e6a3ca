/** A long run is read a page at a time: every message and every step once, in order, however long they are. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest } from "../house.ts"
import { newId } from "../../src/store/journal/Correlation.ts"
import { someone } from "../spaces/spacesGuests.ts"
import { dm, ended, runsHouse, setRules, stores, thinker } from "./runsKit.ts"

const everyPage = async <A>(
  page: (at: { cursor?: string }) => Promise<{ items: ReadonlyArray<A>; next: string | null }>,
) => {
  const pages: Array<ReadonlyArray<A>> = []
  for (let next: string | null | undefined; next !== null;) {
    const some = await page(next === undefined ? {} : { cursor: next })
    pages.push(some.items)
    next = some.next
  }
  return pages
}

for (const store of stores)
  layer(runsHouse({ store, log: "error" }), { excludeTestServices: true, timeout: 90_000 })(
    `pages of a run on ${store}`,
    (it) => {
      it.effect("S0-59 2,600 calls in one step, large results and many steps: each once, in order, no page long", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const ada = yield* someone()
          const agent = yield* thinker()
          yield* setRules([
            { when: { agent: agent.name, step: 1 }, say: "first", call: [{ tool: "whoami" }] },
            { say: "done" },
          ])
          const space = yield* dm(ada, agent)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "go" }))
          const [run] = yield* ended(agent)
          const id = run!.id
          const short = yield* ask(() => admin.runs.messages(id))
          assert.isNull(short.next)
          assert.deepStrictEqual(
            short.items.map(({ kind, seq, step }) => [seq, kind, step]),
            short.items.map(({ kind, step }, at) => [at + 1, kind, step]),
          )
          const kinds = short.items.map(({ kind }) => kind)
          assert.isBelow(kinds.indexOf("tool_call_message"), kinds.indexOf("tool_return_message"))

          // As a program's turn leaves them: all calls in one step; and many steps after it.
          const [call] = yield* sql<Record<string, unknown>>`SELECT * FROM calls WHERE run = ${id}`
          const [step] = yield* sql<{ number: number }>`SELECT * FROM steps WHERE run = ${id} ORDER BY number LIMIT 1`
          const output = JSON.stringify({ text: "x".repeat(40_000) })
          const calls = Array.from({ length: 2600 }, (_, at) => ({
            ...call,
            id: newId("call"),
            place: at + 2,
            output,
            idempotencyKey: null,
          }))
          for (let at = 0; at < calls.length; at += 100)
            yield* sql`INSERT INTO calls ${sql.insert(calls.slice(at, at + 100) as never)}`
          const more = Array.from({ length: 300 }, (_, at) => ({ ...step!, number: at + 10 }))
          for (let at = 0; at < more.length; at += 100)
            yield* sql`INSERT INTO steps ${sql.insert(more.slice(at, at + 100) as never)}`

          const pages = yield* ask(() => everyPage((at) => admin.runs.messages(id, at)))
          const all = pages.flat()
          assert.deepStrictEqual(
            all.map(({ seq }) => seq),
            all.map((_, at) => at + 1),
          )
          const of = (kind: string) => all.filter((one) => one.kind === kind).map(({ call }) => call)
          assert.strictEqual(new Set(of("tool_call_message")).size, 2601)
          assert.deepStrictEqual(of("tool_return_message"), of("tool_call_message"))
          for (const page of pages) {
            assert.isAtMost(page.length, 100)
            assert.isBelow(JSON.stringify(page).length, 2.2 * 1024 * 1024)
          }
          const few = yield* ask(() => admin.runs.messages(id, { limit: 3 }))
          assert.deepStrictEqual(few.items, all.slice(0, 3))

          const steps = yield* ask(() => everyPage((at) => admin.runs.steps(id, at)))
          const numbers = steps.flat().map(({ number }) => number)
          assert.deepStrictEqual(
            numbers,
            [...new Set(numbers)].toSorted((a, b) => a - b),
          )
          assert.isAbove(numbers.length, 300)
          const [first] = steps.flat()
          assert.deepStrictEqual([first!.calls.length, first!.callsLeftOut], [200, 2401])
          for (const page of steps) assert.isAtMost(page.length, 100)
        }),
      )
    },
  )
