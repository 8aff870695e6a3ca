/** Hosted functions through the door, on both databases: what is written, who is sent what, and what becomes of it. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { HostGrace } from "../../../src/calls/hosts/Hosts.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import {
  admin,
  callNow,
  callsHouse,
  callTool,
  configure,
  eventsOf,
  request,
  settled,
  stores,
  told,
} from "../callsKit.ts"
import { connected, offer, put, rowsOf, service, submit, tool } from "./hostsKit.ts"
import { fresh, listen, someone } from "../../spaces/spacesGuests.ts"
import { ahead, wrongClock } from "../../wrongClock.ts"

// Usually it is 15 seconds (packages/sdk/test/host.test.ts).
const grace = Layer.succeed(HostGrace, 3000)

for (const store of stores)
  layer(Layer.provide(callsHouse({ store }), grace), { excludeTestServices: true, timeout: 60_000 })(
    `hosts on ${store}`,
    (it) => {
      it.effect("declared twice it is one row and one event; changed, it offers what it says now", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* service, yield* someone("agent")]
          const { form, host, id, name } = yield* offer(who)
          assert.deepInclude((yield* put(who, host, { tools: [form] })).body, { id, tools: [name], connected: false })
          assert.lengthOf(yield* rowsOf("hosts", "id", id), 1)
          assert.deepStrictEqual(yield* eventsOf(id), ["host.declared"])
          const other = tool()
          assert.deepInclude((yield* put(who, host, { tools: [other] })).body, { id, tools: [other.name] })
          assert.strictEqual((yield* callTool(bot, name)).status, 404)
          assert.strictEqual((yield* request(bot, "GET", `/tools/${other.name}`)).status, 200)
          assert.strictEqual((yield* request(who, "DELETE", `/hosts/${host}`)).status, 204)
          assert.strictEqual((yield* callTool(bot, other.name)).status, 404)
          assert.lengthOf(yield* rowsOf("hosted_tools", "host", id), 0)
          yield* (yield* Readers).receipt("audit")
          const { items } = (yield* request(yield* admin, "GET", `/audit?principal=${who.id}`)).body as {
            items: ReadonlyArray<{ action: string; resource: string }>
          }
          assert.deepStrictEqual(
            items.filter((one) => one.resource === `hosts/${host}`).map((one) => one.action),
            ["remove", "declare", "declare"],
          )
        }),
      )

      it.effect("faults are named by path, and a name that something else has is taken, from either side", () =>
        Effect.gen(function* () {
          const who = yield* service
          const { name } = yield* offer(who)
          const configured = yield* configure()
          const host = fresh("host")
          const wrong = yield* put(who, host, {
            tools: [tool({ name: "a b" }), tool({ inputSchema: { type: "nonsense" } }), tool({ surprise: 1 })],
          })
          assert.strictEqual(wrong.status, 400)
          const paths = told(wrong).issues!.map((issue) => issue.path)
          assert.includeMembers(paths, ["tools.0.name", "tools.2.surprise"])
          const schema = yield* put(who, host, { tools: [tool({ inputSchema: { type: "nonsense" } })] })
          assert.deepStrictEqual([schema.status, told(schema).issues![0]!.path], [400, "tools.0.inputSchema"])
          const builtin = yield* put(who, host, { tools: [tool({ name: "list_spaces" })] })
          assert.deepStrictEqual([builtin.status, told(builtin).issues![0]!.path], [400, "tools.0.name"])
          for (const taken of [name, configured.name]) {
            const answer = yield* put(who, host, { tools: [tool({ name: taken })] })
            assert.deepStrictEqual([answer.status, told(answer).tag], [409, "NameTaken"])
          }
          const added = yield* request(yield* admin, "POST", "/tools", { ...configured, name })
          assert.deepStrictEqual([added.status, told(added).tag], [409, "NameTaken"])
          assert.lengthOf(yield* rowsOf("hosts", "name", host), 0)
        }),
      )

      it.effect(
        "a call is written down as sent before it is, comes again to the same process, and never to another",
        () =>
          Effect.gen(function* () {
            const [who, bot] = [yield* service, yield* someone("agent")]
            const { host, name } = yield* offer(who)
            yield* Effect.scoped(
              Effect.gen(function* () {
                const first = yield* connected(who, host, "process-one")
                const made = told(yield* callTool(bot, name, { input: { n: 1 }, wait: 0 }))
                const { data, event } = yield* first.next
                assert.strictEqual(event, "call")
                assert.deepInclude(data, { id: made.id, tool: name, input: { n: 1 }, principal: bot.id, space: null })
                assert.deepInclude((yield* rowsOf("hosted_calls", "call", made.id))[0], { instance: "process-one" })
              }),
            )
            const again = yield* connected(who, host, "process-one")
            assert.lengthOf(again.before, 1)
            const [id] = again.before
            const other = yield* connected(who, host, "process-two")
            assert.deepStrictEqual(other.before, [])
            // The first was told, and its answer still counts.
            assert.deepInclude(yield* again.next, { event: "close" })
            const answered = yield* submit(who, id!)
            assert.deepStrictEqual([answered.status, told(answered).output], [200, "done"])
            assert.strictEqual((yield* submit(who, id!)).status, 409)
            assert.strictEqual((yield* callNow(bot, id!)).state, "done")
          }),
      )

      it.effect("a process has a hundred calls at a time; each answer lets the next one in", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* service, yield* someone("agent")]
          const { host, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          const made = Array.from({ length: 120 }, (_, n) => callTool(bot, name, { input: { n }, wait: 0 }))
          yield* Effect.all(made, { concurrency: "unbounded" })
          const got: Array<string> = []
          while (got.length < 100) got.push((yield* stream.next).data!["id"] as string)
          const sql = yield* SqlClient.SqlClient
          const [counted] = yield* sql<{
            n: number
          }>`SELECT count(*) AS n FROM hosted_calls WHERE instance = ${"process-one"}
          AND host IN (SELECT id FROM hosts WHERE name = ${host})`
          assert.strictEqual(counted!.n, 100)
          while (got.length < 120) {
            yield* submit(who, got[got.length - 100]!)
            for (;;) {
              const { data, event } = yield* stream.next
              if (event !== "call") continue
              got.push(data!["id"] as string)
              break
            }
          }
          assert.strictEqual(new Set(got).size, 120)
        }),
      )

      it.effect("G-12 a paused tool's calls are stopped, and their process hears of it", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* service, yield* someone("agent")]
          const { host, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          const { id } = told(yield* callTool(bot, name, { wait: 0 }))
          assert.strictEqual((yield* stream.next).event, "call")
          yield* request(yield* admin, "POST", "/pauses", { subject: `tools/${name}` })
          assert.deepInclude(yield* stream.next, { event: "settled", data: { id, state: "canceled" } })
          assert.strictEqual((yield* submit(who, id)).status, 409)
          assert.strictEqual((yield* callTool(bot, name)).status, 403)
        }),
      )

      it.effect("a function that says something else of itself since its approval was asked for does not run", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* service, yield* someone("agent")]
          const { form, host, name } = yield* offer(who, { requiresApproval: true })
          const stream = yield* connected(who, host, "process-one")
          const asked = told(yield* callTool(bot, name))
          assert.deepInclude(asked, { state: "waiting" })
          yield* put(who, host, { tools: [{ ...form, description: "Does something else." }] })
          yield* request(yield* admin, "POST", `/decisions/${asked.on!.id}/answer`, { verdict: "approve" })
          const refused = yield* settled(bot, asked.id)
          assert.deepInclude(refused, { state: "refused" })
          assert.match(refused.error!.message, /has changed since it was approved/)
          // What is asked for again is what it says now, and that is the first that comes to its process.
          const again = told(yield* callTool(bot, name))
          yield* request(yield* admin, "POST", `/decisions/${again.on!.id}/answer`, { verdict: "approve" })
          assert.deepInclude((yield* stream.next).data, { id: again.id })
        }),
      )

      it.effect("a call that nobody answers in its time expires, and its process hears of it", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* service, yield* someone("agent")]
          const { host, name } = yield* offer(who, { timeoutMs: 300 })
          const stream = yield* connected(who, host, "process-one")
          const call = told(yield* callTool(bot, name))
          assert.deepInclude(call, { state: "expired" })
          assert.strictEqual(call.error!.tag, "ToolTimeoutError")
          assert.strictEqual((yield* stream.next).event, "call")
          assert.deepInclude(yield* stream.next, { event: "settled", data: { id: call.id, state: "expired" } })
          assert.strictEqual((yield* submit(who, call.id)).status, 409)
        }),
      )

      it.effect("a revoked token ends the stream at once", () =>
        Effect.gen(function* () {
          const who = yield* service
          const { host } = yield* offer(who)
          const issued = yield* request(yield* admin, "POST", "/tokens", { principal: who.id })
          const { id, token } = issued.body as { id: string; token: string }
          const stream = yield* connected({ ...who, token }, host, "process-one")
          yield* request(yield* admin, "DELETE", `/tokens/${id}`)
          assert.deepInclude(yield* stream.next, { event: "close", data: { reason: "revoked" } })
        }),
      )

      it.effect("whoever may no longer offer to everybody while connected is sent nothing more, and is told", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* service, yield* someone("agent")]
          const { host, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          const sent = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id: sent.id })
          yield* request(yield* admin, "DELETE", `/grants/${who.grant}`)
          const { id } = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude(yield* stream.next, { event: "close", data: { reason: "revoked" } })
          assert.lengthOf(yield* rowsOf("hosted_calls", "call", id), 0)
        }),
      )

      it.effect("who was lent the right offers by a token of the giver's context, and by no other", () =>
        Effect.gen(function* () {
          const [giver, who, bot] = [yield* service, yield* someone("service"), yield* someone("agent")]
          const loan = { to: who.name, resource: "hosts/*", actions: ["write"], reason: "help" }
          const lent = yield* request(giver, "POST", "/delegations", loan)
          assert.deepInclude(lent.body, { context: "crossroads" }, JSON.stringify(lent.body))
          const { host, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          const { id } = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id })
          for (const context of ["agent", "internal"]) {
            const issued = yield* request(yield* admin, "POST", "/tokens", { principal: who.id, context })
            const other = { ...who, token: (issued.body as { token: string }).token }
            assert.strictEqual((yield* put(other, fresh("host"), { tools: [tool()] })).status, 403)
            assert.strictEqual((yield* listen(other, { path: `/hosts/${host}/calls` })).status, 403)
          }
        }),
      )

      it.effect(
        "a host that began as its owner's own and is shared since gets no call when the right to share is gone",
        () =>
          Effect.gen(function* () {
            const [who, bot] = [yield* service, yield* someone("agent")]
            const { form, host, name } = yield* offer(who, {}, false)
            const stream = yield* connected(who, host, "process-one")
            assert.strictEqual((yield* put(who, host, { tools: [form], shared: true })).status, 200)
            const { id } = told(yield* callTool(bot, name, { wait: 0 }))
            assert.strictEqual((yield* stream.next).data!["id"], id)
            yield* request(yield* admin, "DELETE", `/grants/${who.grant}`)
            yield* callTool(bot, name, { wait: 0 })
            assert.deepInclude(yield* stream.next, { event: "close", data: { reason: "revoked" } })
          }),
      )

      it.effect(
        "whoever may no longer offer to everybody gets no stream; who has left leaves no tools and no open calls",
        () =>
          Effect.gen(function* () {
            const [who, bot] = [yield* service, yield* someone("agent")]
            const { host, id: hostId, name } = yield* offer(who)
            const stream = yield* connected(who, host, "process-one")
            const { id } = told(yield* callTool(bot, name, { wait: 0 }))
            yield* stream.next
            // Nobody else gets its calls, by its name or its id, not even an admin.
            for (const other of [yield* service, yield* admin])
              for (const ref of [host, hostId])
                assert.strictEqual((yield* listen(other, { path: `/hosts/${ref}/calls` })).status, 404)
            yield* request(yield* admin, "DELETE", `/grants/${who.grant}`)
            assert.strictEqual((yield* listen(who, { path: `/hosts/${host}/calls` })).status, 403)
            assert.strictEqual((yield* put(who, host, { tools: [] })).status, 403)
            yield* request(yield* admin, "DELETE", `/principals/${who.id}`)
            assert.deepInclude(yield* settled(bot, id), { state: "failed" })
            yield* (yield* Readers).receipt("hosts")
            assert.strictEqual((yield* callTool(bot, name)).status, 404)
            assert.deepInclude(yield* stream.next, { event: "close" })
          }),
      )

      it.effect("a process that goes away fails what it had after a while, and what it never got did not run", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* service, yield* someone("agent")]
          const { host, id: hostId, name } = yield* offer(who)
          const watching = yield* listen(yield* admin)
          const sent = yield* Effect.scoped(
            Effect.gen(function* () {
              const stream = yield* connected(who, host, "process-one")
              const made = told(yield* callTool(bot, name, { wait: 0 }))
              yield* stream.next
              return made.id
            }),
          )
          // The house has seen it leave.
          while ((yield* watching.next).event !== "host.disconnected");
          const late = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude((yield* settled(bot, sent)).error, {
            tag: "ToolExecutionError",
            message: `The process that offers "${name}" disconnected; it may have run`,
          })
          assert.match((yield* settled(bot, late.id)).error!.message, /before it got this call; it did not run/)
          yield* (yield* Readers).receipt("hosts")
          assert.lengthOf(yield* rowsOf("hosted_calls", "host", hostId), 0)
          const now = told(yield* callTool(bot, name))
          assert.match(now.error!.message, /is not connected, and nothing was run/)
        }),
      )
    },
  )

const clock = wrongClock()
layer(Layer.provide(callsHouse({ store: "sqlite" }), clock.layer), { excludeTestServices: true, timeout: 60_000 })(
  "hosts, an hour later",
  (it) => {
    it.effect("a token or a right that has ended meanwhile is sent nothing more", () =>
      Effect.gen(function* () {
        const expiresAt = DateTime.formatIso(DateTime.add(yield* DateTime.now, { hours: 1 }))
        const [boss, bot, who, lent] = [
          yield* admin,
          yield* someone("agent"),
          yield* service,
          yield* someone("service"),
        ]
        const issued = yield* request(boss, "POST", "/tokens", { principal: who.id, expiresAt })
        const ending = { ...who, token: (issued.body as { token: string }).token }
        const grant = { principal: lent.id, resource: "hosts/*", actions: ["write"], expiresAt }
        assert.strictEqual((yield* request(boss, "POST", "/grants", grant)).status, 201)
        for (const host of [ending, lent]) {
          const offered = yield* offer(host)
          const stream = yield* connected(host, offered.host, "process-one")
          const { id } = told(yield* callTool(bot, offered.name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id })
          clock.setOff(ahead(2))
          yield* callTool(bot, offered.name, { wait: 0 })
          assert.deepInclude(yield* stream.next, { event: "close", data: { reason: "revoked" } })
          clock.setOff(0)
        }
      }),
    )
  },
)
