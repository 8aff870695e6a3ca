/** Every way a call can end, counted in every projection: one call and one outcome, in journal, feed and audit. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import {
  admin,
  answering,
  callsHouse,
  callTool,
  configure,
  eventsOf,
  holding,
  httpTool,
  journalEnd,
  request,
  room,
  rowOf,
  settled,
  stores,
  told,
} from "../callsKit.ts"
import { Guest } from "../../house.ts"
import { until } from "../../stores.ts"
import { type Frame, fresh, listen, someone } from "../../spaces/spacesGuests.ts"

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`endings of calls on ${store}`, (it) => {
    it.effect("X-44 G-13 one call and one outcome in journal, feed and audit, whichever way it ends", () =>
      Effect.gen(function* () {
        const [bot, pam] = [yield* someone("agent"), yield* someone()]
        const boss = yield* admin
        const space = yield* room(pam, bot)
        const stub = yield* answering()
        const held = yield* holding
        const broken = yield* http((_, response) => void response.writeHead(500).end("no"))
        const from = yield* journalEnd
        const frames: Array<Frame> = []
        yield* listen(bot, { after: from }, (frame) => void frames.push(frame))
        const decide = (call: string, on: string, answer: object) =>
          Effect.gen(function* () {
            const done = yield* request(pam, "POST", `/decisions/${on}/answer`, answer)
            assert.strictEqual(done.status, 200, JSON.stringify(done.body))
            return (yield* settled(bot, call)).state
          })
        const ends: Array<[string, string]> = []
        const plain = yield* configure()
        ends.push([told(yield* callTool(bot, plain.name)).id, "done"])
        ends.push([told(yield* callTool(bot, (yield* httpTool(stub.url)).name)).id, "done"])
        ends.push([told(yield* callTool(bot, (yield* httpTool(broken.url)).name)).id, "failed"])
        const { id: canceled } = told(yield* callTool(bot, (yield* httpTool(held.url)).name, { wait: 0 }))
        yield* held.arrived
        yield* request(bot, "POST", `/calls/${canceled}/cancel`)
        ends.push([canceled, "canceled"])
        const asks = yield* httpTool(stub.url, { requiresApproval: true })
        for (const [verdict, end] of [
          ["approve", "done"],
          ["deny", "refused"],
        ] as const) {
          const call = told(yield* callTool(bot, asks.name, { space }))
          assert.strictEqual(yield* decide(call.id, call.on!.id, { verdict }), end)
          ends.push([call.id, end])
        }
        const soon = yield* httpTool(stub.url, { requiresApproval: true, approval: { expiresInSeconds: 1 } })
        const late = told(yield* callTool(bot, soon.name, { space }))
        assert.strictEqual((yield* settled(bot, late.id)).state, "refused")
        ends.push([late.id, "refused"])
        const form = yield* configure({ executionType: "space", execution: { timeout: 1000 } })
        const filled = told(yield* callTool(bot, form.name, { space }))
        yield* request(pam, "POST", `/calls/${filled.id}/result`, { output: { ok: true } })
        ends.push([filled.id, "done"])
        const expired = told(yield* callTool(bot, form.name, { space }))
        assert.strictEqual((yield* settled(bot, expired.id)).state, "expired")
        ends.push([expired.id, "expired"])
        yield* callTool(bot, "no-such-tool")
        const sql = yield* SqlClient.SqlClient
        const refused = yield* sql<{
          id: string
        }>`SELECT id FROM calls WHERE principal = ${bot.id} AND tool = 'no-such-tool'`
        ends.push([refused[0]!.id, "refused"])

        yield* (yield* Readers).receipt("audit")
        const audited = yield* request(boss, "GET", `/audit?limit=100&principal=${bot.id}`)
        const entries = (audited.body as { items: Array<{ action: string; call?: string; result: string }> }).items
        const seen = (id: string, kind: string) =>
          frames.filter(
            (frame) => frame.event === kind && (frame.data?.["body"] as { call?: string } | undefined)?.call === id,
          )
        yield* until(Effect.sync(() => seen(refused[0]!.id, "call.settled").length > 0))
        for (const [id, state] of ends) {
          assert.strictEqual((yield* rowOf(id))!["state"], state)
          const kinds = (yield* eventsOf(id)).filter((kind) => kind === "call.received" || kind === "call.settled")
          assert.deepStrictEqual(kinds, ["call.received", "call.settled"], state)
          for (const kind of kinds) assert.lengthOf(seen(id, kind), 1, `${state} ${kind}`)
          const [settling] = seen(id, "call.settled")
          assert.strictEqual((settling!.data!["body"] as unknown as { state: string }).state, state)
          const executed = entries.filter((one) => one.action === "tool.execute" && one.call === id)
          assert.lengthOf(executed, 1, state)
          const result = state === "done" ? "success" : state === "refused" ? "denied" : "failure"
          assert.strictEqual(executed[0]!.result, result, state)
        }
        // Who approved is in the audit trail, under their own name.
        const theirs = yield* request(boss, "GET", `/audit?limit=100&principal=${pam.id}`)
        const actions = (theirs.body as { items: Array<{ action: string }> }).items.map((one) => one.action)
        for (const action of ["approve", "deny", "submit"]) assert.include(actions, action)
      }),
    )

    it.effect("calls that end together while some of them are stopped have one outcome each", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const held = yield* holding
        const tool = yield* httpTool(held.url)
        const numbers = Array.from({ length: 24 }, (_, n) => n)
        const each = <A, E, R>(make: (n: number) => Effect.Effect<A, E, R>) =>
          Effect.forEach(numbers, make, { concurrency: "unbounded" })
        const calls = yield* each((n) =>
          Effect.map(callTool(bot, tool.name, { wait: 0, input: { word: String(n) } }), told),
        )
        // Written down before anything of them reaches the service.
        const arrived = yield* each(() => held.arrived)
        for (const { id } of calls) assert.deepInclude(yield* rowOf(id), { state: "running", settledAt: null })
        const stop = (rest: number) =>
          each((n) => (n % 3 === rest ? request(bot, "POST", `/calls/${calls[n]!.id}/cancel`) : Effect.void))
        yield* stop(1)
        yield* Effect.all(
          [
            stop(0),
            Effect.sync(() => {
              for (const { answer } of arrived) answer()
            }),
          ],
          { concurrency: "unbounded" },
        )
        const ends = yield* each((n) => settled(bot, calls[n]!.id))
        for (const [n, { id, output, state }] of ends.entries()) {
          assert.include([["done", "canceled"], ["canceled"], ["done"]][n % 3]!, state)
          if (state === "done") assert.deepStrictEqual(output, { said: "yes" })
          assert.deepStrictEqual(yield* eventsOf(id), ["call.received", "call.settled"], state)
          assert.deepInclude(yield* rowOf(id), { state, owner: null })
          const sql = yield* SqlClient.SqlClient
          const told = yield* sql<{ body: string; correlationId: string; provenance: string }>`
            SELECT body, correlation_id, provenance FROM journal WHERE body LIKE ${`%${id}%`} ORDER BY cursor`
          assert.strictEqual((JSON.parse(told[1]!.body) as { state: string }).state, state)
          const causes = new Set(told.map((one) => `${one.correlationId} ${one.provenance}`))
          // Who stopped it was another request.
          assert.strictEqual(causes.size, state === "done" ? 1 : 2)
        }
      }),
    )

    it.effect("G-22 a caller that hangs up at any moment leaves no call behind that runs for ever", () =>
      Effect.gen(function* () {
        const { raw } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const bot = yield* someone("agent")
        const stub = yield* answering()
        const { name } = yield* httpTool(stub.url)
        const hangUp = (turns: number) =>
          Effect.gen(function* () {
            const leaving = new AbortController()
            const asked = raw(`/api/v1/tools/${name}/call`, {
              method: "POST",
              signal: leaving.signal,
              headers: {
                authorization: `Bearer ${bot.token}`,
                "content-type": "application/json",
                "idempotency-key": fresh("k"),
              },
              body: "{}",
            }).then(
              (answer) => answer.text(),
              () => "",
            )
            // So many turns of the event loop, not a time.
            for (let n = 0; n < turns; n++) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
            leaving.abort()
            yield* Effect.promise(() => asked)
          })
        for (let turns = 0; turns < 120; turns++) yield* hangUp(turns % 60)
        // On a busy machine none of them may have come as far as a row.
        const made = sql`SELECT id FROM calls WHERE principal = ${bot.id}`
        for (let turns = 120; (yield* made).length === 0; turns *= 2) yield* hangUp(turns)
        const open = Effect.map(
          sql<{ id: string }>`SELECT id FROM calls WHERE principal = ${bot.id} AND state <> 'done'`,
          (rows) => rows.length === 0,
        )
        yield* until(open)
        // One that was hung up on early may still come as far as its row.
        yield* until(Effect.map(made, (rows) => rows.length === stub.seen.length))
        yield* until(open)
      }),
    )
  })
