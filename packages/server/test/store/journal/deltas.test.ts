/** What is shown and not kept: emitted in any room, heard in every process on the same database, never queued. */
import { assert, describe, it } from "@effect/vitest"
import type { Delta, PrincipalId } from "@stoa/contract"
import { Context, DateTime, Deferred, Effect, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { Deltas, fitting } from "../../../src/store/journal/signals/Deltas.ts"
import { SharedDatabase } from "../../../src/store/leases/Holder.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { opened, openings, places } from "../../stores.ts"

const typing = (name: string): Delta => ({
  kind: "typing",
  at: DateTime.makeUnsafe("2026-01-01T00:00:00.000Z"),
  space: "spc_here",
  actor: "prn_00000000-0000-4000-8000-000000000000" as PrincipalId,
  body: { name },
})

describe("deltas", () => {
  it("S1-70 what does not fit into one notice is left out, the oldest first, and the others keep their order", () => {
    assert.deepStrictEqual(fitting(["aaa", "bb", "c"], 100), ["aaa", "bb", "c"])
    assert.deepStrictEqual(fitting(["aaa", "bb", "c"], 5), ["bb", "c"])
    assert.deepStrictEqual(fitting(["aaa", "b".repeat(50), "c"], 10), ["aaa", "c"])
    assert.deepStrictEqual(fitting([], 10), [])
  })

  for (const [name, place] of places)
    it.live(`S1-70 S0-69 a delta is heard here at once and, where there are others, in every process, on ${name}`, () =>
      Effect.gen(function* () {
        const shared = Layer.provide(Deltas.layer, Layer.succeed(SharedDatabase, name === "postgres"))
        const layer = Layer.provideMerge(shared, yield* openings(name, place))
        const [one, two] = [yield* opened(layer), yield* opened(layer)]
        const heard = yield* Queue.unbounded<readonly [where: string, Delta]>()
        yield* Context.get(one, Deltas).listen((delta) => void Queue.offerUnsafe(heard, ["one", delta]))
        if (name === "postgres") {
          // Whoever listens is there once it hears something: listening begins beside us.
          const ready = Deferred.makeUnsafe<void>()
          yield* Context.get(two, Deltas).listen((delta) => {
            Deferred.doneUnsafe(ready, Effect.void)
            if ((delta.body as { name: string }).name !== "knock") Queue.offerUnsafe(heard, ["two", delta])
          })
          const knock = Effect.andThen(Context.get(one, Deltas).emit(typing("knock")), Effect.sleep("50 millis"))
          yield* Effect.raceFirst(Deferred.await(ready), Effect.forever(knock))
          yield* Queue.clear(heard)
        }
        // From within a transaction that comes to nothing: a sign of life is not part of it.
        const { transact } = Context.get(one, Journal)
        const undone = transact(Effect.andThen(Context.get(one, Deltas).emit(typing("pam")), Effect.fail("undone")))
        yield* Effect.provideContext(Effect.flip(undone), one)
        yield* Context.get(one, Deltas).emit({ ...typing("jim"), body: { name: "jim", much: "x".repeat(9000) } })
        yield* Context.get(one, Deltas).emit(typing("dwight"))
        const wanted = name === "postgres" ? 5 : 3
        const all = yield* Effect.forEach(Array.from({ length: wanted }), () => Queue.take(heard))
        const at = (where: string) =>
          all.flatMap(([there, { body }]) => (there === where ? [(body as { name: string }).name] : []))
        assert.deepStrictEqual(at("one"), ["pam", "jim", "dwight"])
        assert.deepStrictEqual(at("two"), name === "postgres" ? ["pam", "dwight"] : [])
        assert.deepStrictEqual(all[0]![1], typing("pam"))
        const sql = Context.get(one, SqlClient.SqlClient)
        assert.deepStrictEqual(yield* sql`SELECT kind FROM journal WHERE kind = 'typing'`, [])
      }),
    )
})
