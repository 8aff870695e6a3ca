/** Whoever hangs up in the middle of a change leaves no half of it: what is in the rows is what everybody can call. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest } from "../../house.ts"
import { someone } from "../../spaces/spacesGuests.ts"
import { callsHouse, stores } from "../callsKit.ts"

const rounds = 12
const atOnce = 6

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`hanging up on ${store}`, (it) => {
    const names = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const configured = yield* sql<{ name: string }>`SELECT name FROM tools`
      const hosts = yield* sql<{ tools: string }>`SELECT tools FROM hosts`
      const hosted = hosts.flatMap(({ tools }) => JSON.parse(tools) as ReadonlyArray<{ readonly name: string }>)
      return [...configured, ...hosted].map(({ name }) => name).toSorted()
    })

    it.effect("tools that were added while their senders hung up are offered, each of them, and answer", () =>
      Effect.gen(function* () {
        const { admin, adminToken, raw } = yield* Guest
        const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" }
        const inputSchema = { type: "object", properties: { text: { type: "string", pattern: "^a+$" } } }
        /** Sends it, and hangs up after so many turns of the event loop. */
        const hangUp = async (method: string, path: string, body: object, turns: number) => {
          const stop = new AbortController()
          const sent = raw(`/api/v1${path}`, { method, headers, signal: stop.signal, body: JSON.stringify(body) })
          const over = sent.then(String, String)
          for (let n = 0; n < turns; n++) await new Promise((resume) => setImmediate(resume))
          stop.abort()
          await over
        }
        for (let round = 0; round < rounds; round++)
          yield* ask(() =>
            Promise.all(
              Array.from({ length: atOnce }, (_, n) => {
                const name = `left-${round}-${n}`
                const form = { name, description: "Says hello.", inputSchema }
                return n % 2 === 0
                  ? hangUp(
                      "POST",
                      "/tools",
                      { ...form, executionType: "internal", execution: { output: 1 } },
                      round + n,
                    )
                  : hangUp("PUT", `/hosts/host-${n}`, { shared: true, tools: [form] }, round + n)
              }),
            ),
          )
        // What was begun is finished when a change that came after it is answered.
        const last = { name: "last", description: "Says hello.", inputSchema, executionType: "internal" as const }
        yield* ask(() => admin.tools.add({ ...last, execution: { output: 1 } }))
        yield* ask(() =>
          admin.hosts.declare("host-last", {
            shared: true,
            tools: [{ name: "last-hosted", description: "Says hello.", inputSchema }],
          }),
        )
        const { items } = yield* ask(() => admin.tools.list({ set: "configured", limit: 100 }))
        assert.deepStrictEqual(items.map(({ name }) => name).toSorted(), yield* names)
        for (const { name } of items.filter((one) => one.name.startsWith("left-")))
          assert.strictEqual((yield* ask(() => admin.tools.get(name))).name, name)
      }),
    )

    it.effect("of tools that are added at once, each can be called as soon as it is acknowledged", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const bot = yield* someone("agent")
        const inputSchema = { type: "object", properties: {} }
        const addAndCall = async (name: string) => {
          // With a key, as clients retry: then the request is one transaction.
          const form = {
            name,
            description: "Says hello.",
            inputSchema,
            executionType: "internal",
            execution: { output: 1 },
          }
          await admin.tools.add(form, { idempotencyKey: name })
          return bot.client.tools.call(name, { input: {} }).then(
            () => "answered",
            (error: Error) => error.message,
          )
        }
        for (let round = 0; round < 5; round++) {
          const said = yield* ask(() =>
            Promise.all(Array.from({ length: 10 }, (_, n) => addAndCall(`at-once-${round}-${n}`))),
          )
          assert.deepStrictEqual([...new Set(said)], ["answered"])
        }
      }),
    )
  })
