/** Acts that wait for the writer are judged by the space as it is when their turn comes. */
import { assert, layer } from "@effect/vitest"
import type { Space } from "@stoa/contract"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { houseViewer } from "../../src/access/rights/Viewer.ts"
import { Messages } from "../../src/spaces/messages/Messages.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { pause } from "../../../../test/pause.ts"
import { ask, Guest, house } from "../house.ts"
import { call, fresh, someone } from "./spacesGuests.ts"

// On Postgres there is no one writer to wait for: the rows are.
layer(house({ store: "sqlite" }), { excludeTestServices: true })("turns at the writer", (it) => {
  it.effect("X-29 X-30 who was removed while a request waited is refused when its turn comes", () =>
    Effect.gen(function* () {
      const { transact } = yield* Journal
      const { admin } = yield* Guest
      const spaces = yield* Spaces
      const [owner, member, other] = [yield* someone(), yield* someone(), yield* someone()]
      const by = houseViewer(owner.principal)
      const acts = [
        ["POST", "/messages", { text: "still here" }],
        ["PUT", "/read", { seq: 0 }],
        ["PATCH", "", { topic: "mine" }],
        ["PUT", `/members/${other.id}`, undefined],
      ] as const
      for (const [method, path, body] of acts) {
        const wanted = { name: fresh("table"), kind: "private", members: [member.id] } as const
        const space = yield* Effect.orDie(transact(spaces.add(wanted, by)))
        const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holding = yield* Effect.forkChild(
          transact(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(go))),
        )
        yield* Deferred.await(begun)
        const removing = yield* Effect.forkChild(transact(spaces.removeMember(space, member.principal, by)))
        yield* Effect.yieldNow
        const asking = yield* Effect.forkChild(call(member, method, `/spaces/${space.id}${path}`, body))
        // Long enough for the request to have come as far as the writer.
        for (let n = 0; n < 10; n++) yield* ask(() => admin.principals.me())
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(holding)
        yield* Fiber.join(removing)
        assert.strictEqual((yield* Fiber.join(asking)).status, 404, `${method} ${path}`)
      }
    }),
  )
})

layer(house({ store: "postgres" }), { excludeTestServices: true })("turns at the rows of a space", (it) => {
  const waiting = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return rows.length > 0
  })

  it.effect("X-29 X-30 who posts while another process removes them, or archives the space, is refused after it", () =>
    Effect.gen(function* () {
      const { transact } = yield* Journal
      const spaces = yield* Spaces
      const [owner, member] = [yield* someone(), yield* someone()]
      const by = houseViewer(owner.principal)
      for (const [kind, status, change] of [
        ["private", 404, (space: Space) => spaces.removeMember(space, member.principal, by)],
        ["private", 409, (space: Space) => spaces.change(space, { archived: true }, by)],
        ["public", 409, (space: Space) => spaces.change(space, { archived: true }, by)],
      ] as const) {
        const wanted = { name: fresh("table"), kind, members: [member.id] }
        const space = yield* Effect.orDie(transact(spaces.add(wanted, by)))
        yield* call(member, "POST", `/spaces/${space.id}/messages`, { text: "before" })
        const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const changing = yield* Effect.forkChild(
          transact(
            Effect.andThen(change(space), Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(go))),
          ),
        )
        yield* Deferred.await(begun)
        const posting = yield* Effect.forkChild(call(member, "POST", `/spaces/${space.id}/messages`, { text: "after" }))
        while (!(yield* waiting)) yield* ask(pause)
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(changing)
        assert.strictEqual((yield* Fiber.join(posting)).status, status)
        const { admin } = yield* Guest
        const { items } = yield* ask(() => admin.spaces.messages(space.id))
        assert.deepStrictEqual(
          items.map(({ seq, text }) => [seq, text]),
          [[1, "before"]],
        )
      }
    }),
  )

  it.effect("X-29 X-30 who reacts or edits while another process removes them is refused after it", () =>
    Effect.gen(function* () {
      const { transact } = yield* Journal
      const spaces = yield* Spaces
      const [owner, member] = [yield* someone(), yield* someone()]
      const by = houseViewer(owner.principal)
      for (const [method, path, body] of [
        ["PUT", "/reactions/%F0%9F%91%8D", undefined],
        ["PATCH", "", { text: "changed" }],
      ] as const) {
        const wanted = { name: fresh("table"), kind: "private", members: [member.id] } as const
        const space = yield* Effect.orDie(transact(spaces.add(wanted, by)))
        const { id } = yield* ask(() => member.client.spaces.post(space.id, { text: "before" }))
        const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const removing = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              yield* spaces.removeMember(space, member.principal, by)
              yield* Deferred.succeed(begun, undefined)
              yield* Deferred.await(go)
            }),
          ),
        )
        yield* Deferred.await(begun)
        const acting = yield* Effect.forkChild(call(member, method, `/messages/${id}${path}`, body))
        while (!(yield* waiting) && acting.pollUnsafe() === undefined) yield* ask(pause)
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(removing)
        assert.strictEqual((yield* Fiber.join(acting)).status, 404, method)
      }
    }),
  )

  it.effect("X-29 whoever removes somebody while they post waits for that message", () =>
    Effect.gen(function* () {
      const { transact } = yield* Journal
      const [spaces, messages] = [yield* Spaces, yield* Messages]
      const [owner, member] = [yield* someone(), yield* someone()]
      const by = houseViewer(owner.principal)
      const wanted = { name: fresh("table"), kind: "private", members: [member.id] } as const
      const space = yield* Effect.orDie(transact(spaces.add(wanted, by)))
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const posting = yield* Effect.forkChild(
        transact(
          Effect.gen(function* () {
            yield* messages.post(space, houseViewer(member.principal), { text: "my last words" })
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(go)
          }),
        ),
      )
      yield* Deferred.await(begun)
      const removing = yield* Effect.forkChild(transact(spaces.removeMember(space, member.principal, by)))
      while (!(yield* waiting)) yield* ask(pause)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(posting)
      yield* Fiber.join(removing)
      const sql = yield* SqlClient.SqlClient
      const kinds = yield* sql<{ kind: string }>`SELECT kind FROM journal
        WHERE space = ${space.id} ORDER BY cursor DESC LIMIT 2`
      assert.deepStrictEqual(
        kinds.map(({ kind }) => kind),
        ["member.removed", "message.created"],
      )
    }),
  )
})
