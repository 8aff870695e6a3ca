/** kill -9 between ask, answer and execution: what was asked is answerable, what was answered runs once or not at all. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { holding, told } from "../callsKit.ts"
import { homes, kill, look, send, start, token } from "../../killedHouse.ts"

/** An agent and two tools of a service: one that asks first, one that does not. */
const furnish = Effect.fnUntraced(function* (url: string, service: string) {
  yield* send(url, token, "POST", "/principals", { kind: "agent", name: "bot" })
  const issued = yield* send(url, token, "POST", "/tokens", { principal: "bot" })
  const bot = issued.body["token"] as string
  assert.isString(bot, JSON.stringify(issued.body))
  for (const [name, requiresApproval] of [
    ["asks", true],
    ["acts", false],
  ] as const) {
    const made = yield* send(url, token, "POST", "/tools", {
      name,
      description: "Does it.",
      inputSchema: { type: "object", properties: { word: { type: "string" } } },
      executionType: "gateway",
      execution: { url: `${service}/do`, method: "POST", body: { word: "{{input.word}}" } },
      requiresApproval,
    })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  }
  return bot
})

const settled = (url: string, id: string) => Effect.map(send(url, token, "GET", `/calls/${id}?wait=20`), told)

for (const [name, home] of homes)
  describe(`calls and kill -9 on ${name}`, () => {
    it.live(
      "S4-118 G-13 killed between ask and answer: the question is still there, and its answer runs the stored call once",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const seen: Array<string> = []
          const service = yield* http((_, response, body) => {
            seen.push(body)
            response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}')
          })
          const first = yield* start(at)
          const bot = yield* furnish(first.url, service.url)
          const asked = told(
            yield* send(first.url, bot, "POST", "/tools/asks/call", { input: { word: "stored" } }, "k1"),
          )
          assert.strictEqual(asked.state, "waiting")
          yield* kill(at, first.child)
          const second = yield* start(at)
          const again = yield* send(second.url, bot, "POST", "/tools/asks/call", { input: { word: "stored" } }, "k1")
          assert.deepStrictEqual([again.status, told(again).id, told(again).on], [202, asked.id, asked.on])
          const answer = yield* send(second.url, token, "POST", `/decisions/${asked.on!.id}/answer`, {
            verdict: "approve",
          })
          assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
          assert.deepInclude(yield* settled(second.url, asked.id), { state: "done", output: { ok: true } })
          assert.deepStrictEqual(seen, ['{"word":"stored"}'])
          // One that had expired by the next start is a no, without anybody asking.
          yield* send(second.url, token, "PUT", "/tools/asks", {
            name: "asks",
            description: "Does it.",
            inputSchema: { type: "object" },
            executionType: "gateway",
            execution: { url: `${service.url}/do`, method: "POST" },
            requiresApproval: true,
            approval: { expiresInSeconds: 1 },
          })
          const late = told(yield* send(second.url, bot, "POST", "/tools/asks/call", {}))
          yield* kill(at, second.child)
          const third = yield* start(at)
          const end = yield* settled(third.url, late.id)
          assert.deepStrictEqual([end.state, end.error?.tag], ["refused", "ToolAuthorizationError"])
          assert.lengthOf(seen, 1)
          yield* third.child.kill
        }),
      90_000,
    )

    it.live(
      "S4-118 G-22 killed between answer and execution: once or not at all, never twice",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const counts = new Map<string, number>()
          const service = yield* http((_, response, body) => {
            const { word } = JSON.parse(body) as { word: string }
            counts.set(word, (counts.get(word) ?? 0) + 1)
            response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}')
          })
          let now = yield* start(at)
          const bot = yield* furnish(now.url, service.url)
          let between = 0
          for (let round = 0; round < 8 && (between === 0 || round < 2); round++) {
            const calls = yield* Effect.forEach(
              Array.from({ length: 20 }, (_, n) => `r${round}n${n}`),
              (word) =>
                Effect.map(send(now.url, bot, "POST", "/tools/asks/call", { input: { word } }), (answer) => ({
                  word,
                  id: told(answer).id,
                  decision: told(answer).on!.id,
                })),
              { concurrency: "unbounded" },
            )
            const { url } = now
            // All answers at once; killed with the first that is acknowledged.
            yield* Effect.raceAllFirst(
              calls.map(({ decision }) =>
                Effect.asVoid(
                  Effect.catchDefect(
                    send(url, token, "POST", `/decisions/${decision}/answer`, { verdict: "approve" }),
                    () => Effect.never,
                  ),
                ),
              ),
            )
            yield* kill(at, now.child)
            const left = yield* look(
              at,
              Effect.gen(function* () {
                const sql = yield* SqlClient.SqlClient
                return yield* sql<{
                  id: string
                  state: string
                  decided: string
                }>`SELECT c.id, c.state, d.state AS decided
                FROM calls c JOIN decisions d ON d.call = c.id`
              }),
            )
            const of = (id: string) => left.find((row) => row.id === id)!
            const approved = calls.filter(({ id }) => of(id).state === "waiting" && of(id).decided === "answered")
            between += approved.length
            // What had not begun has done nothing.
            for (const { word } of approved) assert.isUndefined(counts.get(word), word)
            now = yield* start(at)
            for (const call of calls) {
              const { decided, state } = of(call.id)
              if (decided === "open")
                assert.strictEqual(
                  (yield* send(now.url, token, "POST", `/decisions/${call.decision}/answer`, { verdict: "approve" }))
                    .status,
                  200,
                )
              const end = yield* settled(now.url, call.id)
              const times = counts.get(call.word) ?? 0
              if (state === "running") {
                assert.deepStrictEqual([end.state, end.error?.tag], ["failed", "ToolExecutionError"])
                assert.match(end.error!.message, /not known/)
                assert.isAtMost(times, 1)
              } else assert.deepStrictEqual([end.state, times], ["done", 1])
            }
          }
          assert.isAbove(between, 0, "no round was killed between answer and execution")
          yield* now.child.kill
        }),
      120_000,
    )

    it.live(
      "S4-118 G-22 killed while it runs: failed, outcome unknown, and never run again by itself or by a retry",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const service = yield* holding
          const first = yield* start(at)
          const bot = yield* furnish(first.url, service.url)
          const call = (url: string) =>
            send(url, bot, "POST", "/tools/acts/call", { input: { word: "x" }, wait: 0 }, "k1")
          const { id } = told(yield* call(first.url))
          yield* service.arrived
          // And one that was approved.
          const asked = told(yield* send(first.url, bot, "POST", "/tools/asks/call", { input: { word: "y" } }, "k2"))
          yield* send(first.url, token, "POST", `/decisions/${asked.on!.id}/answer`, { verdict: "approve" })
          yield* service.arrived
          yield* kill(at, first.child)
          const second = yield* start(at)
          for (const one of [id, asked.id]) {
            const end = told(yield* send(second.url, token, "GET", `/calls/${one}`))
            assert.deepStrictEqual([end.state, end.error?.tag], ["failed", "ToolExecutionError"])
            assert.match(end.error!.message, /The house stopped while this ran\. Whether it had an effect is not known/)
          }
          const retried = yield* call(second.url)
          assert.deepStrictEqual([retried.status, told(retried).id, told(retried).state], [200, id, "failed"])
          const again = yield* send(second.url, token, "POST", `/decisions/${asked.on!.id}/answer`, {
            verdict: "approve",
          })
          assert.strictEqual(again.status, 409)
          assert.lengthOf(service.seen, 2)
          const events = yield* look(
            at,
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              return yield* sql<{ kind: string }>`SELECT kind FROM journal
              WHERE kind LIKE 'call.%' AND body LIKE ${`%${id}%`} ORDER BY cursor`
            }),
          )
          assert.deepStrictEqual(
            events.map((row) => row.kind),
            ["call.received", "call.settled"],
          )
          yield* second.child.kill
        }),
      60_000,
    )
  })
