/** What becomes of the calls of others when a host is private now, or when its owner may not share it any more. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { HostGrace } from "../../../src/calls/hosts/Hosts.ts"
import { admin, callNow, callsHouse, callTool, eventsOf, request, settled, stores, told } from "../callsKit.ts"
import { agent, connected, offer, put, rowsOf, service, submit } from "./hostsKit.ts"
import { listen, someone } from "../../spaces/spacesGuests.ts"

// Long, so that nothing here fails because its process is away.
const grace = Layer.succeed(HostGrace, 600_000)
const unshared = /is now for its owner alone/

for (const store of stores)
  layer(Layer.provide(callsHouse({ store }), grace), { excludeTestServices: true, timeout: 60_000 })(
    `unshared hosts on ${store}`,
    (it) => {
      it.effect("a host that becomes private fails at once what others wait for, and keeps what its owner does", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* agent, yield* someone("agent")]
          const { form, host, id: hostId, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          const handed = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id: handed.id })
          const own = told(yield* callTool(who, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id: own.id })
          yield* request(yield* admin, "DELETE", `/grants/${who.grant}`)
          // It may not be sent this one any more, so its connection is closed; and it comes back as a private host.
          const kept = told(yield* callTool(bot, name, { input: { account: "private" }, wait: 0 }))
          assert.deepInclude(yield* stream.next, { event: "close", data: { reason: "revoked" } })
          assert.strictEqual((yield* put(who, host, { tools: [form], shared: false })).status, 200)
          for (const [call, message] of [
            [handed, /it may have run/],
            [kept, /it did not run/],
          ] as const) {
            const failed = yield* callNow(bot, call.id)
            assert.deepInclude(failed, { state: "failed" })
            assert.match(failed.error!.message, unshared)
            assert.match(failed.error!.message, message)
            assert.deepStrictEqual((yield* eventsOf(call.id)).slice(-1), ["call.settled"])
          }
          const again = yield* connected(who, host, "process-one")
          assert.deepStrictEqual(again.before, [own.id])
          for (const { id } of [handed, kept]) assert.strictEqual((yield* submit(who, id, "forged")).status, 409)
          const answered = yield* submit(who, own.id)
          assert.deepStrictEqual([answered.status, told(answered).output], [200, "done"])
          assert.strictEqual((yield* callTool(bot, name)).status, 404)
          assert.lengthOf(yield* rowsOf("hosts", "id", hostId), 1)
        }),
      )

      it.effect("a result counts only for a call that the host was sent", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* agent, yield* someone("agent")]
          const { host, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          // A call of its own, as if it had not been sent yet.
          const own = told(yield* callTool(who, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id: own.id })
          const sql = yield* SqlClient.SqlClient
          yield* sql`DELETE FROM hosted_calls WHERE call = ${own.id}`
          assert.strictEqual((yield* submit(who, own.id)).status, 403)
          yield* request(yield* admin, "DELETE", `/grants/${who.grant}`)
          const kept = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude(yield* stream.next, { event: "close", data: { reason: "revoked" } })
          assert.strictEqual((yield* submit(who, kept.id, "forged")).status, 404)
          // Its caller knows the call, but is no host of it.
          const refused = yield* submit(bot, kept.id)
          assert.deepStrictEqual([refused.status, told(refused).tag], [403, "Forbidden"])
          assert.lengthOf(yield* rowsOf("hosted_calls", "call", kept.id), 0)
          assert.strictEqual((yield* callNow(bot, kept.id)).state, "waiting")
        }),
      )

      it.effect(
        "a call that was handed over before the right was lost is answered only by who has the right again",
        () =>
          Effect.gen(function* () {
            const [who, bot] = [yield* agent, yield* someone("agent")]
            const { host, name } = yield* offer(who)
            const stream = yield* connected(who, host, "process-one")
            const { id } = told(yield* callTool(bot, name, { wait: 0 }))
            assert.deepInclude((yield* stream.next).data, { id })
            const own = told(yield* callTool(who, name, { wait: 0 }))
            assert.deepInclude((yield* stream.next).data, { id: own.id })
            yield* request(yield* admin, "DELETE", `/grants/${who.grant}`)
            const refused = yield* submit(who, id, "late")
            assert.deepStrictEqual([refused.status, told(refused).tag], [403, "Forbidden"])
            assert.strictEqual((yield* callNow(bot, id)).state, "waiting")
            // What it was asked by itself is nobody else's business.
            assert.strictEqual((yield* submit(who, own.id)).status, 200)
            const grant = { principal: who.id, resource: `hosts/${host}`, actions: ["write"] }
            assert.strictEqual((yield* request(yield* admin, "POST", "/grants", grant)).status, 201)
            // A token of a context that has the right is what counts, not the owner's name.
            const issued = yield* request(yield* admin, "POST", "/tokens", { principal: who.id })
            const renewed = { ...who, token: (issued.body as { token: string }).token }
            const answered = yield* submit(renewed, id)
            assert.deepStrictEqual([answered.status, told(answered).output], [200, "done"])
          }),
      )

      it.effect("a right that was lent counts for a result only by a token of the giver's context", () =>
        Effect.gen(function* () {
          const [giver, who, bot] = [yield* service, yield* someone("service"), yield* someone("agent")]
          const loan = { to: who.name, resource: "hosts/*", actions: ["write"], reason: "help" }
          assert.deepInclude((yield* request(giver, "POST", "/delegations", loan)).body, { context: "crossroads" })
          const { host, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          const { id } = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id })
          const issued = yield* request(yield* admin, "POST", "/tokens", { principal: who.id, context: "internal" })
          const other = { ...who, token: (issued.body as { token: string }).token }
          assert.strictEqual((yield* submit(other, id)).status, 403)
          assert.strictEqual((yield* submit(who, id)).status, 200)
        }),
      )

      it.effect("a rotated token answers what its host was sent before; the old one answers nothing", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* agent, yield* someone("agent")]
          const { host, name } = yield* offer(who)
          const issued = (yield* request(yield* admin, "POST", "/tokens", { principal: who.id })).body as {
            id: string
            token: string
          }
          const old = { ...who, token: issued.token }
          const stream = yield* connected(old, host, "process-one")
          const { id } = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id })
          const rotated = yield* request(yield* admin, "POST", `/tokens/${issued.id}/rotate`)
          assert.deepInclude(yield* stream.next, { event: "close", data: { reason: "revoked" } })
          assert.strictEqual((yield* submit(old, id)).status, 401)
          assert.strictEqual((yield* listen(old, { path: `/hosts/${host}/calls` })).status, 401)
          const now = { ...who, token: (rotated.body as { token: string }).token }
          assert.deepStrictEqual((yield* connected(now, host, "process-one")).before, [id])
          assert.strictEqual((yield* submit(now, id)).status, 200)
        }),
      )

      it.effect("a removed host answers nothing, and its calls fail together with it", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* agent, yield* someone("agent")]
          const { form, host, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          const { id } = told(yield* callTool(bot, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id })
          assert.strictEqual((yield* request(who, "DELETE", `/hosts/${host}`)).status, 204)
          assert.deepInclude(yield* callNow(bot, id), { state: "failed" })
          assert.strictEqual((yield* submit(who, id, "late")).status, 404)
          // A host of the same name is another one.
          assert.strictEqual((yield* put(who, host, { tools: [form] })).status, 200)
          assert.deepStrictEqual((yield* connected(who, host, "process-one")).before, [])
          assert.strictEqual((yield* submit(who, id, "late")).status, 404)
        }),
      )

      it.effect("a call that begins to wait for a host that another process made private meanwhile fails unsent", () =>
        Effect.gen(function* () {
          const [who, bot] = [yield* agent, yield* someone("agent")]
          const { host, id: hostId, name } = yield* offer(who)
          const stream = yield* connected(who, host, "process-one")
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE hosts SET shared = ${false} WHERE id = ${hostId}`
          const { id } = told(yield* callTool(bot, name, { input: { account: "private" }, wait: 0 }))
          const failed = yield* settled(bot, id)
          assert.deepInclude(failed, { state: "failed" })
          assert.match(failed.error!.message, unshared)
          assert.lengthOf(yield* rowsOf("hosted_calls", "call", id), 0)
          const own = told(yield* callTool(who, name, { wait: 0 }))
          assert.deepInclude((yield* stream.next).data, { id: own.id })
        }),
      )
    },
  )
