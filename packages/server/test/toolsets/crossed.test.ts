/** Acts that meet in the same rows, at once and crosswise: none waits for one that waits for it, and each has its answer. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { times } from "../../../../test/long.ts"
import { callsHouse, callTool, configure, request, room, stores, told } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { until } from "../stores.ts"
import { fresh, someone, type Someone } from "../spaces/spacesGuests.ts"

/** What the log says of transactions that ran again: with one order of locks, none does. */
const again: Array<string> = []
const logged = (line: string): void => void (line.includes("in conflict with another") && again.push(line))

const agentOf = Effect.fnUntraced(function* (...toolsets: ReadonlyArray<string>) {
  const { admin } = yield* Guest
  const name = fresh("bot")
  const { id } = yield* ask(() => admin.principals.add({ kind: "agent", name, toolsets } as never))
  const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
  return { id, name, token } as unknown as Someone
})

type Answer = Effect.Success<ReturnType<typeof request>>

/** All of them at once; each must have one of the statuses, and no call may have failed. */
const together = Effect.fnUntraced(function* <E, R>(
  all: ReadonlyArray<Effect.Effect<Answer, E, R>>,
  statuses: ReadonlyArray<number> = [200],
) {
  const answers = yield* Effect.all(all, { concurrency: "unbounded" })
  for (const { body, status } of answers) {
    assert.include(statuses, status, JSON.stringify(body))
    assert.notStrictEqual(body?.["state"], "failed", JSON.stringify(body))
  }
  return answers
})

const outputSchema = { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] }

const asked = Effect.gen(function* () {
  const [bot, pam] = [yield* someone("agent"), yield* someone()]
  const tool = yield* configure({ executionType: "space", display: { customUI: "seats" }, outputSchema })
  const space = yield* room(pam, bot)
  const ask = Effect.gen(function* () {
    const answer = yield* callTool(bot, tool.name, { space })
    assert.strictEqual(answer.status, 202, JSON.stringify(answer.body))
    return { call: told(answer).id, decision: told(answer).on!.id }
  })
  const submit = (call: string) => request(pam, "POST", `/calls/${call}/result`, { output: { seats: 2 } })
  return { bot, ask, submit }
})

for (const store of stores)
  layer(callsHouse({ store, logged }), { excludeTestServices: true, timeout: 180_000 })(`crossed on ${store}`, (it) => {
    it.effect("a result and a cancellation of one call: one counts, and the other is told that it is over", () =>
      Effect.gen(function* () {
        const { ask, bot, submit } = yield* asked
        again.length = 0
        for (let round = 0; round < times(10, 60); round++) {
          const { call } = yield* ask
          const answers = yield* together([submit(call), request(bot, "POST", `/calls/${call}/cancel`)], [200, 409])
          assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409], JSON.stringify(answers))
        }
        assert.deepStrictEqual(again, [])
      }),
    )

    // SQLite has one writer and no locks on rows.
    if (store === "postgres")
      it.effect("whoever writes a call and its decision locks the call first", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { ask, submit } = yield* asked
          const { call, decision } = yield* ask
          const waits = sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted
            AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`
          const sent = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT id FROM calls WHERE id = ${call} FOR UPDATE`
              const sent = yield* Effect.forkDetach(submit(call))
              yield* until(Effect.map(waits, ([found]) => found!.n > 0))
              // Nobody holds the decision.
              assert.lengthOf(yield* sql`SELECT id FROM decisions WHERE id = ${decision} FOR UPDATE NOWAIT`, 1)
              return sent
            }),
          )
          assert.strictEqual((yield* Fiber.join(sent)).status, 200)
        }),
      )

    it.effect("chat sessions of one owner, written in, renamed, resumed and begun at once", () =>
      Effect.gen(function* () {
        const [bot, pam] = [yield* agentOf(), yield* someone()]
        const begin = request(pam, "POST", "/chat-sessions", { agent: bot.name })
        const sessions: Array<string> = []
        for (let n = 0; n < 4; n++) sessions.push(told(yield* begin).id)
        again.length = 0
        for (let round = 0; round < times(4, 20); round++)
          yield* together(
            [
              ...sessions.flatMap((id, at) => [
                request(pam, "POST", `/chat-sessions/${id}/messages`, { text: `round ${round} of the lighthouse` }),
                request(pam, "PATCH", `/chat-sessions/${id}`, { title: `Talk ${at} ${round}`, current: true }),
                request(pam, "PATCH", `/chat-sessions/${id}`, { current: true }),
              ]),
              begin,
            ],
            [200, 201],
          )
        assert.deepStrictEqual(again, [])
        for (const id of sessions) {
          const { body } = yield* request(pam, "GET", `/chat-sessions/${id}`)
          assert.strictEqual(body["messageCount"], times(4, 20))
        }
      }),
    )

    it.effect("several memories, goals and plans of one owner in one act, in any order", () =>
      Effect.gen(function* () {
        const bot = yield* agentOf("gateway", "stoa")
        const names = ["ada", "bob", "cyd", "dan", "eve"]
        const orders = [names, names.toReversed(), ["cyd", "ada", "eve"], ["dan", "bob"], ["bob"]]
        const act = (tool: string, input: object) => callTool(bot, tool, { input })
        const plan = (name: string) => ({ name, instruction: "Look at the sea.", runAfter: "2 days" })
        const made = told(yield* act("set_plans", { plans: names.map(plan) })).output as {
          plans: Array<{ id: string }>
        }
        const ids = made.plans.map(({ id }) => id)
        again.length = 0
        for (let round = 0; round < times(3, 20); round++)
          yield* together(
            [
              ...orders.flatMap((keys, at) => [
                act("set_memories", { memories: keys.map((key) => ({ key, value: `${key} ${at} ${round}` })) }),
                act("set_goals", { goals: keys.map((id) => ({ id, description: `${id} ${at} ${round}` })) }),
                act("delete_memories", { keys: keys.toReversed() }),
                act("delete_goals", { ids: keys }),
              ]),
              ...[ids, ids.toReversed()].map((some) =>
                act("set_plans", { plans: some.map((id) => ({ id, instruction: `In round ${round}.` })) }),
              ),
              request(bot, "POST", "/memory", { kind: "memory", namespace: "gateway", key: "bob", content: "alone" }),
            ],
            [200, 201],
          )
        assert.deepStrictEqual(again, [])
      }),
    )
  })
