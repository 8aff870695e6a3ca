/**
 * Whoever waits for a call whose access ends is refused at once, at every door, as a new request would be; the call
 * itself goes on.
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import {
  admin,
  callsHouse,
  callTool,
  holding,
  httpTool,
  offer,
  request,
  settled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { initialized, newRequest, oldRequest } from "../mcp/mcpKit.ts"
import { refused, someone, type Someone } from "../spaces/spacesGuests.ts"
import { until } from "../stores.ts"

/** An agent with a token that ends by itself. */
const guest = Effect.gen(function* () {
  const { as } = yield* Guest
  const { transact } = yield* Journal
  const agent = yield* someone("agent")
  const expiresAt = DateTime.add(yield* DateTime.now, { seconds: 20 })
  const issued = yield* Effect.orDie(transact((yield* Tokens).issue({ principal: agent.principal.id, expiresAt })))
  const me: Someone = { ...agent, token: issued.token, client: as(issued.token) }
  return { me, token: issued.id }
})

const ways = {
  revoked: Effect.fnUntraced(function* ({ token }: { readonly token: string; readonly me: Someone }) {
    const { admin: boss } = yield* Guest
    yield* ask(() => boss.tokens.revoke(token as never))
  }),
  retired: Effect.fnUntraced(function* ({ me }: { readonly me: Someone }) {
    const { admin: boss } = yield* Guest
    yield* ask(() => boss.principals.retire(me.id))
  }),
  expired: () => TestClock.adjust({ seconds: 21 }),
} as const

const isRefused = ({ text }: Awaited<ReturnType<typeof newRequest>>) => {
  assert.match(text, /"error".*expired or revoked/)
  assert.notInclude(text, "the result")
}

for (const store of stores)
  layer(callsHouse({ store }), { timeout: 60_000 })(`waits whose access ends, on ${store}`, (it) => {
    for (const [way, end] of Object.entries(ways))
      it.effect(
        `G-09 a wait for a call is refused at once when its token is ${way}, at every door; the call goes on`,
        () =>
          Effect.gen(function* () {
            const { url } = yield* Guest
            const who = yield* guest
            const { me } = who
            const service = yield* holding
            const { name } = yield* httpTool(service.url)
            const at = `${url}/mcp`
            const session = yield* ask(() => initialized(at, me.token))

            const first = told(yield* callTool(me, name, { wait: 0 }))
            const { answer: finish } = yield* service.arrived
            const reading = yield* Effect.forkChild(refused(() => me.client.calls.get(first.id as never, { wait: 60 })))
            const called = yield* Effect.forkChild(callTool(me, name, { wait: 60 }))
            yield* service.arrived
            const use = { name, arguments: {} }
            const asNew = yield* Effect.forkChild(ask(() => newRequest(at, me.token, "tools/call", use)))
            yield* service.arrived
            const asOld = yield* Effect.forkChild(ask(() => oldRequest(at, me.token, "tools/call", use, session)))
            yield* service.arrived

            yield* end(who)
            // Nobody has answered yet: this is at once.
            assert.strictEqual((yield* Fiber.join(reading)).status, 401)
            const answer = yield* Fiber.join(called)
            assert.deepStrictEqual([answer.status, told(answer).tag], [401, "Unauthenticated"])
            isRefused(yield* Fiber.join(asNew))
            isRefused(yield* Fiber.join(asOld))
            finish('{"said":"the result"}')
            assert.strictEqual((yield* settled(yield* admin, first.id)).state, "done")
          }).pipe(Effect.scoped),
      )

    it.effect(
      "G-09 a call that is recorded when it has run gives its result to nobody whose token was revoked meanwhile",
      () =>
        Effect.gen(function* () {
          const { url } = yield* Guest
          const who = yield* guest
          const { me } = who
          const begun = yield* Queue.unbounded<void>()
          const go = yield* Deferred.make<void>()
          const slow = yield* offer("none", () =>
            Effect.gen(function* () {
              yield* Queue.offer(begun, undefined)
              yield* Deferred.await(go)
              return "the result"
            }),
          )
          const called = yield* Effect.forkChild(callTool(me, slow))
          const use = { name: slow, arguments: {} }
          const asNew = yield* Effect.forkChild(ask(() => newRequest(`${url}/mcp`, me.token, "tools/call", use)))
          yield* Queue.takeN(begun, 2)
          yield* ways.revoked(who)
          yield* Deferred.succeed(go, undefined)
          const answer = yield* Fiber.join(called)
          assert.deepStrictEqual([answer.status, told(answer).tag], [401, "Unauthenticated"])
          isRefused(yield* Fiber.join(asNew))
          yield* until(
            Effect.map(request(yield* admin, "GET", `/calls?tool=${slow}`), ({ body }) => {
              const { items } = body as { readonly items: ReadonlyArray<{ readonly state: string }> }
              return items.map(({ state }) => state).join() === "done,done"
            }),
          )
        }).pipe(Effect.scoped),
    )
  })
