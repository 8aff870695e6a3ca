/** Acts that wait for the writer are judged by the space as it is when their turn comes. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { houseViewer } from "../../src/access/rights/Viewer.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"
import { call, fresh, someone } from "./spacesGuests.ts"

// On Postgres there is no one writer to wait for.
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
