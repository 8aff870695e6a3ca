/** One durable row a call, whichever way it ends: what is written, what a retry finds, and what never happens twice. */
import { assert, describe, it as test, layer } from "@effect/vitest"
import { CallState } from "@stoa/contract"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { makeSettleMany } from "../../../src/calls/road/record/settleMany.ts"
import { from, isSettled, next, type Step, to as endOf } from "../../../src/calls/road/record/lifecycle.ts"
import {
  admin,
  answering,
  callNow,
  callsHouse,
  callTool,
  configure,
  eventsOf,
  holding,
  httpTool,
  request,
  rowOf,
  room,
  settled,
  stores,
  told,
} from "../callsKit.ts"
import { fresh, someone, type Someone } from "../../spaces/spacesGuests.ts"

const steps: ReadonlyArray<Step> = ["wait", "start", "takeOver", "finish", "fail", "refuse", "cancel", "expire"]

describe("the life of a call", () => {
  test("X-44 the table is total, and what has settled stays settled whatever is tried", () => {
    assert.deepStrictEqual(Object.keys(next).toSorted(), [...CallState.literals].toSorted())
    for (const state of CallState.literals) {
      assert.deepStrictEqual(Object.keys(next[state]).toSorted(), [...steps].toSorted(), state)
      for (const step of steps) {
        const to = next[state][step]
        assert.strictEqual(from(step).includes(state), to !== null)
        if (isSettled(state)) assert.isNull(to, `${state} ${step}`)
        if (to !== null) assert.strictEqual(to, endOf(step))
      }
    }
    assert.deepStrictEqual(CallState.literals.filter(isSettled), ["done", "failed", "refused", "canceled", "expired"])
    // A random walk of any length settles at most once.
    let seed = 7
    const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648
    for (let walk = 0; walk < 2000; walk++) {
      let state: CallState = "received"
      let ends = 0
      for (let n = 0; n < 12; n++) {
        const to: CallState | null = next[state][steps[Math.floor(random() * steps.length)]!]
        if (to === null) continue
        if (isSettled(to)) ends++
        state = to
      }
      assert.isAtMost(ends, 1)
    }
  })
})

/** Rows of this principal, oldest first. */
const rowsOf = Effect.fnUntraced(function* (who: Someone) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Record<string, string>>`SELECT * FROM calls WHERE principal = ${who.id} ORDER BY created_at`
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`rows of calls on ${store}`, (it) => {
    if (store === "sqlite")
      it.effect("a call that ends is found by its id, however many others wait", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { sql: statement } = makeSettleMany(sql, "nobody").settleAll([])
          const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${statement}`, ["[]"])
          const [, ofCalls] = plan.map(({ detail }) => detail)
          assert.match(ofCalls!, /^SEARCH calls USING INDEX sqlite_autoindex_calls_1 \(id=\?\)$/)
        }),
      )

    it.effect("X-44 G-22 each call is one row, also one that is refused or invalid", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const boss = yield* admin
        const stub = yield* answering()
        const broken = yield* http((_, response) => void response.writeHead(500).end("no"))
        const plain = yield* configure({ execution: { output: { status: "ok" } } })
        const outside = yield* httpTool(stub.url)
        const failing = yield* httpTool(broken.url)
        const barred = yield* configure()
        const paused = yield* configure()
        const asking = yield* configure({ requiresApproval: true })
        yield* request(boss, "POST", "/grants", {
          principal: bot.id,
          resource: `tools/${barred.name}`,
          actions: ["execute"],
          effect: "deny",
        })
        yield* request(boss, "POST", "/pauses", { subject: `tools/${paused.name}` })
        const seen: Array<[number, string]> = []
        for (const [tool, input] of [
          [plain.name, {}],
          [outside.name, {}],
          [failing.name, {}],
          ["no-such-tool", {}],
          [plain.name, { other: 1 }],
          [barred.name, {}],
          [paused.name, {}],
          [asking.name, { word: "please" }],
        ] as const) {
          const answer = yield* callTool(bot, tool, { input })
          seen.push([answer.status, told(answer).state ?? told(answer).tag!])
        }
        assert.deepStrictEqual(seen, [
          [200, "done"],
          [200, "done"],
          [200, "failed"],
          [404, "ToolNotFoundError"],
          [400, "ToolValidationError"],
          [403, "ToolAuthorizationError"],
          [403, "ToolAuthorizationError"],
          [202, "waiting"],
        ])
        const rows = yield* rowsOf(bot)
        assert.deepStrictEqual(
          rows.map((row) => [row["tool"], row["state"]]),
          [
            [plain.name, "done"],
            [outside.name, "done"],
            [failing.name, "failed"],
            ["no-such-tool", "refused"],
            [plain.name, "refused"],
            [barred.name, "refused"],
            [paused.name, "refused"],
            [asking.name, "waiting"],
          ],
        )
        assert.lengthOf(new Set(rows.map((row) => row["id"])), rows.length)
        assert.strictEqual(rows[6]!["rule"], `paused:tools/${paused.name}`)
        for (const row of rows)
          assert.deepStrictEqual(
            yield* eventsOf(row["id"]!),
            row["state"] === "waiting"
              ? ["decision.asked", "call.received", "call.waiting"]
              : ["call.received", "call.settled"],
          )
      }),
    )

    it.effect("G-22 a retry finds the first call and its end, also a refusal, also while it waits", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const stub = yield* answering()
        const { name } = yield* httpTool(stub.url)
        const { name: asks } = yield* configure({ requiresApproval: true })
        const broken = yield* http((_, response) => void response.writeHead(500).end("no"))
        const { name: fails } = yield* httpTool(broken.url)
        for (const [tool, input, status] of [
          [name, { word: "a" }, 200],
          [fails, { word: "a" }, 200],
          [asks, { word: "b" }, 202],
          [name, { word: 7 }, 400],
          ["no-such-tool", {}, 404],
        ] as const) {
          const key = fresh("key")
          const before = (yield* rowsOf(bot)).length
          const [one, two, three] = [
            yield* callTool(bot, tool, { input }, key),
            yield* callTool(bot, tool, { input }, key),
            yield* callTool(bot, tool, { input }, key),
          ]
          assert.strictEqual(one.status, status)
          assert.deepStrictEqual(two, one)
          assert.deepStrictEqual(three, one)
          assert.strictEqual((yield* rowsOf(bot)).length, before + 1)
          const other = yield* callTool(bot, tool, { input: { word: "another" } }, key)
          assert.deepStrictEqual([other.status, told(other).tag], [409, "WrongState"])
        }
        assert.lengthOf(stub.seen, 1)
        assert.lengthOf(broken.seen, 1)
        // A key is its caller's own: another one's call with it is another call.
        const key = fresh("key")
        const mine = told(yield* callTool(bot, name, { input: { word: "a" } }, key))
        const theirs = told(yield* callTool(yield* someone("agent"), name, { input: { word: "a" } }, key))
        assert.notStrictEqual(mine.id, theirs.id)
        assert.lengthOf(stub.seen, 3)
        // What was called without a key is found by none, not even by its id.
        const free = told(yield* callTool(bot, name, { input: { word: "a" } }))
        const taken = told(yield* callTool(bot, name, { input: { word: "a" } }, free.id))
        assert.notStrictEqual(taken.id, free.id)
      }),
    )

    it.effect("G-22 20 requests at once with one key are one call, and the service is asked once", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const stub = yield* holding
        const { name } = yield* httpTool(stub.url)
        const key = fresh("key")
        const all = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 20 }),
            () => callTool(bot, name, { input: { word: "once" }, wait: 20 }, key),
            { concurrency: "unbounded" },
          ),
        )
        ;(yield* stub.arrived).answer()
        const answers = yield* Fiber.join(all)
        assert.lengthOf(new Set(answers.map((one) => told(one).id)), 1)
        for (const one of answers) assert.deepStrictEqual(told(one).output, { said: "yes" })
        assert.lengthOf(stub.seen, 1)
        assert.lengthOf(yield* rowsOf(bot), 1)
        // And of those that wait for an answer: one question.
        const { name: asks } = yield* configure({ requiresApproval: true })
        const asked = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => callTool(bot, asks, { input: {} }, "the same"),
          { concurrency: "unbounded" },
        )
        assert.lengthOf(new Set(asked.map((one) => told(one).on?.id)), 1)
        const sql = yield* SqlClient.SqlClient
        assert.lengthOf(yield* sql`SELECT id FROM decisions WHERE asked_by = ${bot.id}`, 1)
      }),
    )

    it.effect("G-30 a large result is a file, which its caller can read and nobody else", () =>
      Effect.gen(function* () {
        const [bot, other] = [yield* someone("agent"), yield* someone("agent")]
        const big = { text: `${"x".repeat(70_000)} of ${bot.id}` }
        const stub = yield* answering(JSON.stringify(big))
        const { name } = yield* httpTool(stub.url)
        const done = told(yield* callTool(bot, name))
        assert.strictEqual(done.state, "done")
        const { file } = done.outputFile!
        assert.deepStrictEqual(done.output, done.outputFile)
        assert.deepInclude(done.outputFile!, {
          size: Buffer.byteLength(JSON.stringify(big)),
          mediaType: "application/json",
        })
        assert.isNull((yield* rowOf(done.id))!["output"])
        assert.deepStrictEqual<unknown>((yield* request(bot, "GET", `/files/${file}`)).body, big)
        assert.deepStrictEqual<unknown>((yield* request(yield* admin, "GET", `/files/${file}`)).body, big)
        assert.strictEqual((yield* request(other, "GET", `/files/${file}`)).status, 403)
        // Naming it in a result of one's own opens nothing.
        const echo = yield* http((_, response, body) => void response.writeHead(200).end(body))
        const { name: echoes } = yield* httpTool(echo.url, {
          execution: { url: echo.url, method: "POST", body: { file: "{{input.word}}" } },
        })
        yield* callTool(other, echoes, { input: { word: file } })
        assert.strictEqual((yield* request(other, "GET", `/files/${file}`)).status, 403)
      }),
    )

    it.effect("G-30 what just fits is kept in the row, and what is too large fails clearly", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const sized = (bytes: number) => JSON.stringify("y".repeat(bytes - 2))
        const stub = yield* http(
          (asked, response) =>
            void response
              .writeHead(200, { "content-type": "application/json" })
              .end(sized(Number(new URL(asked.url!, "http://x").searchParams.get("n")))),
        )
        const { name } = yield* httpTool(stub.url, {
          execution: { url: `${stub.url}/?n={{input.word}}`, maxBytes: 8 * 1024 * 1024 },
        })
        const asked = (bytes: number) =>
          Effect.map(callTool(bot, name, { input: { word: String(bytes) }, wait: 30 }), told)
        assert.isString((yield* asked(64 * 1024)).output)
        assert.isDefined((yield* asked(64 * 1024 + 1)).outputFile)
        assert.isDefined((yield* asked(8 * 1024 * 1024)).outputFile)
        const over = yield* asked(8 * 1024 * 1024 + 1)
        assert.deepStrictEqual([over.state, over.error?.tag], ["failed", "ToolExecutionError"])
        assert.isUndefined(over.outputFile)
        // Longer as it is kept than as it came.
        const quotes = yield* http((_, response) => void response.writeHead(200).end('"'.repeat(5 * 1024 * 1024)))
        const { name: grows } = yield* httpTool(quotes.url, {
          execution: { url: quotes.url, maxBytes: 8 * 1024 * 1024 },
        })
        const grown = told(yield* callTool(bot, grows, { wait: 30 }))
        assert.deepStrictEqual([grown.state, grown.error?.tag], ["failed", "ToolExecutionError"])
        assert.match(grown.error!.message, /larger than 8388608 bytes, and was not kept/)
        // What is given from outside is bounded too.
        const { name: form } = yield* configure({ executionType: "space" })
        const pam = yield* someone()
        const space = yield* room(pam, bot)
        const waiting = told(yield* callTool(bot, form, { space }))
        const sent = yield* request(pam, "POST", `/calls/${waiting.id}/result`, { output: "z".repeat(100_000) })
        assert.strictEqual(sent.status, 200, JSON.stringify(sent.body).slice(0, 200))
        assert.strictEqual(told(sent).outputFile?.size, 100_002)
      }),
    )

    it.effect("G-33 a dry run judges and validates, shows what would be sent, and leaves nothing behind", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const boss = yield* admin
        const stub = yield* answering()
        const secret = fresh("SECRET").replace("-", "_")
        yield* request(boss, "PUT", `/secrets/${secret}`, { value: "hunter2 hunter2" })
        const { name } = yield* httpTool(stub.url, {
          riskLevel: "high",
          execution: {
            url: `${stub.url}/x?k=\${secret.${secret}}`,
            method: "POST",
            headers: { authorization: `Bearer \${secret.${secret}}` },
            body: { word: "{{input.word}}" },
          },
        })
        const end = (yield* SqlClient.SqlClient)`SELECT count(*) AS n FROM journal`
        const before = yield* end
        const shown = yield* callTool(bot, name, { input: { word: "hi" }, dryRun: true })
        assert.strictEqual(shown.status, 200, JSON.stringify(shown.body))
        assert.deepInclude(shown.body as object, { dryRun: true, tool: name, verdict: "ask", asks: true })
        assert.deepInclude(JSON.parse(JSON.stringify((shown.body as { sends: object }).sends)) as object, {
          method: "POST",
          body: { word: "hi" },
        })
        const text = JSON.stringify(shown.body)
        assert.notInclude(text, "hunter2")
        assert.include(text, `secret.${secret}`)
        assert.strictEqual((yield* callTool(bot, name, { input: { word: 1 }, dryRun: true })).status, 400)
        assert.lengthOf(stub.seen, 0)
        assert.lengthOf(yield* rowsOf(bot), 0)
        assert.deepStrictEqual(yield* end, before)
      }),
    )

    it.effect("G-13 G-33 a dry run that is refused is a denial in the audit, and nothing else", () =>
      Effect.gen(function* () {
        const [bot, boss] = [yield* someone("agent"), yield* admin]
        const { name } = yield* configure()
        const barred = { principal: bot.id, resource: `tools/${name}`, actions: ["execute"], effect: "deny" }
        yield* request(boss, "POST", "/grants", barred)
        assert.strictEqual((yield* callTool(bot, name, { dryRun: true })).status, 403)
        assert.strictEqual((yield* callTool(bot, "none-such", { dryRun: true })).status, 404)
        assert.lengthOf(yield* rowsOf(bot), 0)
        const { body } = yield* request(boss, "GET", `/audit?principal=${bot.id}`)
        const { items } = body as { readonly items: ReadonlyArray<Record<string, string>> }
        assert.deepStrictEqual(
          items.map(({ action, resource, result }) => [action, resource, result]),
          [
            ["execute", "tools/none-such", "denied"],
            ["execute", `tools/${name}`, "denied"],
          ],
        )
      }),
    )

    it.effect("X-15 a caller is kept for as long as it asks, and the call goes on without it", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const stub = yield* holding
        const { name } = yield* httpTool(stub.url)
        const begun = yield* callTool(bot, name, { wait: 0 })
        assert.deepStrictEqual([begun.status, told(begun).state], [202, "running"])
        const one = yield* stub.arrived
        assert.strictEqual((yield* callNow(bot, told(begun).id)).state, "running")
        one.answer()
        assert.deepStrictEqual((yield* settled(bot, told(begun).id)).output, { said: "yes" })
        const stays = yield* Effect.forkChild(callTool(bot, name, { wait: 20 }))
        ;(yield* stub.arrived).answer()
        assert.strictEqual((yield* Fiber.join(stays)).status, 200)
        // Also with one that waits for a person, if it says so.
        const pam = yield* someone()
        const space = yield* room(pam, bot)
        const asks = yield* configure({ requiresApproval: true })
        const patient = yield* Effect.forkChild(callTool(bot, asks.name, { space, wait: 20 }))
        const sql = yield* SqlClient.SqlClient
        const open = sql<{ id: string }>`SELECT id FROM decisions WHERE asked_by = ${bot.id} AND state = 'open'`
        const [asked] = yield* Effect.repeat(open, { until: (rows) => rows.length > 0 })
        yield* request(pam, "POST", `/decisions/${asked!.id}/answer`, { verdict: "approve" })
        const answer = yield* Fiber.join(patient)
        assert.deepStrictEqual([answer.status, told(answer).state], [200, "done"])
      }),
    )

    it.effect(
      "G-12 a cancel reaches the handler; the call is canceled once, and a result that comes late is refused",
      () =>
        Effect.gen(function* () {
          const [bot, other] = [yield* someone("agent"), yield* someone("agent")]
          const stub = yield* holding
          const { name } = yield* httpTool(stub.url)
          const { id } = told(yield* callTool(bot, name, { wait: 0 }))
          const one = yield* stub.arrived
          assert.strictEqual((yield* request(other, "POST", `/calls/${id}/cancel`)).status, 404)
          const canceled = yield* request(bot, "POST", `/calls/${id}/cancel`)
          assert.deepStrictEqual([canceled.status, told(canceled).state], [200, "canceled"])
          yield* one.closed
          assert.strictEqual((yield* request(bot, "POST", `/calls/${id}/cancel`)).status, 409)
          assert.strictEqual((yield* request(bot, "POST", `/calls/${id}/result`, { output: 1 })).status, 409)
          assert.deepStrictEqual(yield* eventsOf(id), ["call.received", "call.settled"])
          // One that waits: its question goes with it.
          const pam = yield* someone()
          const space = yield* room(pam, bot)
          const { name: form } = yield* configure({ executionType: "space" })
          const waiting = told(yield* callTool(bot, form, { space }))
          assert.strictEqual((yield* request(bot, "POST", `/calls/${waiting.id}/cancel`)).status, 200)
          const decision = told(yield* request(pam, "GET", `/decisions/${waiting.on!.id}`))
          assert.strictEqual(decision.state, "canceled", JSON.stringify(decision))
          assert.strictEqual((yield* request(pam, "POST", `/calls/${waiting.id}/result`, { output: 1 })).status, 409)
        }),
    )
  })
