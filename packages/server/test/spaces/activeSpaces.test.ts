/** Where a caller stands, as every process of the house on one database knows it. */
import { assert, it } from "@effect/vitest"
import type { Caller, Principal, TokenId } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Rules } from "../../src/access/rights/Rules.ts"
import { Principals } from "../../src/access/identity/Principals.ts"
import { rightsEpoch } from "../../src/access/rights/Rights.ts"
import { ActiveSpaces } from "../../src/spaces/ActiveSpaces.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { resolvedValue } from "../../src/store/fibers/Resolved.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Deltas } from "../../src/store/journal/signals/Deltas.ts"
import { SharedDatabase } from "../../src/store/leases/Holder.ts"
import { opened, openings, places } from "../stores.ts"

const callerWith = (principal: Principal, token: string, epoch = 0): Caller["Service"] => ({
  principal,
  token: token as TokenId,
  context: "agent",
  expiresAt: null,
  epoch,
})
/** Somebody who comes in now. */
const nowWith = (principal: Principal, token: string) =>
  Effect.flatMap(rightsEpoch, (epoch) => Effect.map(epoch(), (now) => callerWith(principal, token, now)))

const processes = Effect.fnUntraced(function* (name: string, place: (typeof places)[number][1]) {
  const floor = yield* openings(name, place)
  return Layer.mergeAll(Spaces.layer("stoa.config.json"), ActiveSpaces.layer).pipe(
    Layer.provide(Layer.provide(Deltas.layer, Layer.succeed(SharedDatabase, false))),
    Layer.provideMerge(Grants.layer),
    Layer.provideMerge(Layer.mergeAll(Principals.layer("stoa.config.json"), Rules.layer)),
    Layer.provideMerge(floor),
  )
})

/** Somebody in two rooms. */
const setUp = Effect.gen(function* () {
  const { transact } = yield* Journal
  const principals = yield* Principals
  const spaces = yield* Spaces
  return yield* transact(
    Effect.gen(function* () {
      const pam = yield* principals.add({ kind: "person", name: "pam" })
      const viewer = yield* (yield* Grants).viewerNow(pam.id, "agent", "spaces")
      const annex = yield* spaces.add({ name: "annex", kind: "private" }, viewer)
      const lobby = yield* spaces.add({ name: "lobby", kind: "private" }, viewer)
      return { pam, annex, lobby }
    }),
  )
})

for (const [name, place] of places)
  it.live(`X-63 the space a token has entered is known to every process of the house, on ${name}`, () =>
    Effect.gen(function* () {
      const layer = yield* processes(name, place)
      const one = yield* opened(layer)
      const { annex, lobby, pam } = yield* Effect.provideContext(setUp, one)
      const here = Context.get(one, ActiveSpaces)
      const desk = callerWith(pam, "tok_desk")
      yield* Context.get(one, Journal).transact(here.enter(desk, annex))
      // One that starts later has read it. On Postgres one that runs beside it sees what comes after, too.
      const there = Context.get(yield* opened(layer), ActiveSpaces)
      assert.strictEqual(yield* there.of(desk), annex.id)
      const phone = callerWith(pam, "tok_phone")
      assert.isUndefined(yield* there.of(phone))
      yield* Context.get(one, Journal).transact(here.enter(phone, lobby))
      yield* Context.get(one, Journal).transact(here.enter(desk, lobby))
      assert.strictEqual(yield* here.of(phone), lobby.id)
      assert.strictEqual(yield* there.of(desk), lobby.id)
      // Within a transaction it is as that transaction has made it.
      const inside = Effect.andThen(here.enter(desk, annex), here.of(desk))
      assert.strictEqual(yield* Context.get(one, Journal).transact(inside), annex.id)
      // Many at once each have their own.
      const many = Effect.all(
        [desk, phone, callerWith(pam, "tok_none"), desk].map((who) => here.of(who)),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(yield* many, [annex.id, lobby.id, undefined, annex.id])
      if (name === "postgres")
        assert.strictEqual(yield* there.of(yield* Effect.provideContext(nowWith(pam, "tok_phone"), one)), lobby.id)
      // Whoever has entered nothing costs no question, while nobody else enters either.
      const never = yield* Effect.provideContext(nowWith(pam, "tok_never"), one)
      yield* here.of(never)
      assert.isDefined(resolvedValue(here.of(never)))
    }).pipe(Effect.scoped),
  )
