/**
 * An approval that is given while the house starts: the tool's server is not connected yet, so nobody knows its tools. The
 * call waits for it, also over another restart, and is executed once.
 */
import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ask, Guest, house, roomy } from "../house.ts"
import { served, text } from "../proxied/proxiedServer.ts"
import { tempDatabase, until } from "../stores.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"

const config = { ...roomy, agents: [{ name: "ada" }] }
const keys = { STOA_ADMIN_TOKEN: "an-admin-token-of-tests", STOA_SECRET_KEY: "a-secret-key-of-tests-that-is-long" }

/** A house on this database: each build is a start, and the end of its scope a stop. */
const start = Effect.fnUntraced(function* (url: Redacted.Redacted, scope: Scope.Scope) {
  const env = { ...keys, DATABASE_URL: Redacted.value(url) }
  const built = yield* Layer.buildWithScope(house({ store: "sqlite", config, env }), scope)
  return { ...Context.get(built, Guest), readers: Context.get(built, Readers) }
})

/** A server that lists its tool only while it is open, and a call of that tool that waits for an approval. */
const scene = Effect.gen(function* () {
  const { url: database } = yield* tempDatabase
  let gate = yield* Deferred.make<void>()
  yield* Deferred.succeed(gate, undefined)
  const tools = [{ name: "pay", description: "pays", inputSchema: { type: "object" } }]
  const server = yield* served(
    "old",
    { pay: () => text("paid") },
    { "tools/list": () => Effect.runPromise(Effect.as(Deferred.await(gate), { tools })) },
  )
  const first = yield* Scope.make()
  const one = yield* start(database, first)
  yield* ask(() => one.admin.mcpServers.add({ name: "bank", url: server.url }))
  yield* ask(() =>
    one.admin.grants.add({ principal: "ada", resource: "tools/bank/*", actions: ["execute"], effect: "ask" }),
  )
  const { token } = yield* ask(() => one.admin.tokens.add({ principal: "ada" }))
  const called = yield* ask(() => one.as(token).tools.call("bank/pay", { wait: 0 }))
  if ("dryRun" in called) return assert.fail("a call that was made is no dry run")
  assert.strictEqual(called.state, "waiting")
  gate = yield* Deferred.make<void>()
  yield* Scope.close(first, Exit.void)
  const lists = () => server.sent("tools/list").length
  return {
    database,
    call: called.id,
    decision: called.on!.id,
    paid: () => server.sent("tools/call").length,
    open: Effect.suspend(() => Deferred.succeed(gate, undefined)),
    /** The next house, once it has asked the server for its tools and got no answer yet. */
    next: Effect.fnUntraced(function* (scope: Scope.Scope) {
      const before = lists()
      const house = yield* start(database, scope)
      yield* until(Effect.sync(() => lists() > before))
      return house
    }),
  }
})

const approve = ({ admin }: Guest["Service"], decision: string) =>
  ask(() => admin.decisions.answer(decision as never, { verdict: "approve" }))

it.effect(
  "G-13 a call that is approved while its server is still connecting after a restart is executed, once",
  () =>
    Effect.gen(function* () {
      const { call, decision, next, open, paid } = yield* scene
      const second = yield* next(yield* Effect.scope)
      yield* approve(second, decision)
      yield* second.readers.receipt("calls")
      assert.strictEqual((yield* ask(() => second.admin.calls.get(call))).state, "waiting")
      yield* open
      const done = yield* ask(() => second.admin.calls.get(call, { wait: 20 }))
      assert.strictEqual(done.state, "done", JSON.stringify(done.error))
      assert.strictEqual(paid(), 1)
    }).pipe(Effect.scoped, TestClock.withLive),
  60_000,
)

it.effect(
  "G-13 the approval outlives another restart before the server is connected",
  () =>
    Effect.gen(function* () {
      const { call, decision, next, open, paid } = yield* scene
      const scope = yield* Scope.make()
      const second = yield* next(scope)
      yield* approve(second, decision)
      yield* second.readers.receipt("calls")
      yield* Scope.close(scope, Exit.void)
      const third = yield* next(yield* Effect.scope)
      assert.strictEqual((yield* ask(() => third.admin.calls.get(call))).state, "waiting")
      yield* open
      const done = yield* ask(() => third.admin.calls.get(call, { wait: 20 }))
      assert.strictEqual(done.state, "done", JSON.stringify(done.error))
      assert.strictEqual(paid(), 1)
    }).pipe(Effect.scoped, TestClock.withLive),
  60_000,
)

it.effect(
  "G-13 an approved call is refused once its server can no longer be expected",
  () =>
    Effect.gen(function* () {
      const { call, decision, next, paid } = yield* scene
      const second = yield* next(yield* Effect.scope)
      yield* approve(second, decision)
      yield* second.readers.receipt("calls")
      assert.strictEqual((yield* ask(() => second.admin.calls.get(call))).state, "waiting")
      yield* ask(() => second.admin.mcpServers.remove("bank"))
      const over = yield* ask(() => second.admin.calls.get(call, { wait: 20 }))
      assert.strictEqual(over.state, "refused")
      assert.strictEqual(paid(), 0)
    }).pipe(Effect.scoped, TestClock.withLive),
  60_000,
)
