/** A writer thread that ends in the middle of its work: what was written is not written again, and nobody waits for ever. */
import { Worker } from "node:worker_threads"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { answering, callsHouse, callTool, configure, eventsOf, httpTool, told } from "../callsKit.ts"
import { someone } from "../../spaces/spacesGuests.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { yieldToEventLoop } from "../../../src/store/fibers/EventLoop.ts"
import { until } from "../../stores.ts"

/** The thread is nobody's to hold: it is seen when it is told something. */
let thread: Worker | undefined
Worker.prototype.postMessage = new Proxy(Reflect.get(Worker.prototype, "postMessage"), {
  apply: (post, worker: Worker, message: Parameters<Worker["postMessage"]>) => {
    if ((message[0] as { readonly statements?: unknown } | undefined)?.statements !== undefined) thread = worker
    return Reflect.apply(post, worker, message)
  },
})

layer(callsHouse({ store: "sqlite", log: "none" }), { excludeTestServices: true })("a thread that ends", (it) => {
  const kinds = [
    ["without effects", Effect.map(configure(), ({ name }) => ({ name, seen: undefined }))],
    [
      "that act outside",
      Effect.gen(function* () {
        const { seen, url } = yield* answering()
        return { name: (yield* httpTool(url)).name, seen }
      }),
    ],
  ] as const
  for (const [name, made] of kinds)
    it.effect(
      `calls ${name}: each is answered, settled once, and run at most once`,
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const bot = yield* someone("agent")
          const tool = yield* made
          const call = Effect.map(callTool(bot, tool.name), (answer) => [answer.status, told(answer).state])
          // Without others who write, a few at a time would need no thread.
          const { transact } = yield* Journal
          yield* Effect.forkScoped(Effect.forever(transact(yieldToEventLoop)))
          const calls = Effect.all(
            Array.from({ length: 60 }, () => call),
            { concurrency: "unbounded" },
          )
          yield* until(Effect.map(calls, () => thread !== undefined))
          for (let round = 0; round < 8; round++) {
            const before = thread
            // Ended at whatever it is doing: more turns of the event loop each time.
            const kill = Effect.promise(async () => {
              for (let at = 0; at < round * 2; at++) await new Promise((done) => setImmediate(done))
              await before?.terminate()
            })
            const [answers] = yield* Effect.all([calls, kill], { concurrency: "unbounded" })
            for (const [status] of answers) assert.include([200, 500], status)
            yield* until(Effect.map(calls, () => thread !== before))
          }
          const open = sql`SELECT id FROM calls WHERE principal = ${bot.id} AND state NOT IN ('done', 'failed')`
          yield* until(Effect.map(open, (rows) => rows.length === 0))
          const rows = yield* sql<{
            id: string
            state: string
          }>`SELECT id, state FROM calls WHERE principal = ${bot.id}`
          for (const { id } of rows) assert.deepStrictEqual(yield* eventsOf(id), ["call.received", "call.settled"], id)
          if (tool.seen !== undefined) assert.isAtMost(tool.seen.length, rows.length)
        }),
      60_000,
    )
})
