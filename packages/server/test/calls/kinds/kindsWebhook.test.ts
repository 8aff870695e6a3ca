/** Tools whose work another service does: what it is sent, how it answers now or later, and who may answer for it. */
import { createHmac } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { digestOf } from "@stoa/tools"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../../src/access/limits/Limits.ts"
import { Calls } from "../../../src/calls/Calls.ts"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { times } from "../../../../../test/long.ts"
import { callSignature, nowSeconds, resultSignature } from "../../signing.ts"
import { ask, Guest } from "../../house.ts"
import {
  admin,
  callNow,
  callsHouse,
  callTool,
  configure,
  eventsOf,
  request,
  room,
  settled,
  stores,
  told,
} from "../callsKit.ts"
import { fresh, someone } from "../../spaces/spacesGuests.ts"

interface Sent {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** A service that keeps what it was sent and answers as it is told. */
const service = (answer: { readonly status: number; readonly body: string }) =>
  Effect.gen(function* () {
    const sent: Array<Sent> = []
    const stub = yield* http((received, response, body) => {
      sent.push({ headers: received.headers as Sent["headers"], body })
      response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body)
    })
    return { ...stub, sent }
  })

const webhook = (url: string, over: object = {}, form: object = {}) =>
  configure({
    executionType: "external",
    inputSchema: { type: "object", properties: { word: { type: "string" } } },
    execution: { webhookUrl: `${url}/tools/process`, headers: { "x-team": "stoa" }, ...over },
    ...form,
  })

const keyOf = (name: string) =>
  Effect.gen(function* () {
    const answer = yield* request(yield* admin, "GET", `/tools/${name}/signing-key`)
    assert.strictEqual(answer.status, 200)
    return (answer.body as { key: string }).key
  })
const signed = (key: string, seconds: number, call: string, body: string) => resultSignature(key, call, body, seconds)

/** A result as the service posts it: with a signature and without a token. */
const answerBack = Effect.fnUntraced(function* (call: string, body: string, signature: string) {
  const { raw } = yield* Guest
  const headers = { "content-type": "application/json", "stoa-signature": signature }
  const answer = yield* ask(() => raw(`/api/v1/calls/${call}/result`, { method: "POST", headers, body }))
  return { status: answer.status, body: (yield* ask(() => answer.json())) as Record<string, unknown> }
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 30_000 })(`webhooks on ${store}`, (it) => {
    it.effect(
      "S1-07 S1-30 G-18 G-39 the service gets tool, call and input, signed with the moment, and its trace; its JSON is the result",
      () =>
        Effect.gen(function* () {
          const { seen, sent, url } = yield* service({ status: 200, body: '{"weather":["sun",1]}' })
          const bot = yield* someone("agent")
          const { name } = yield* webhook(url)
          const call = told(yield* callTool(bot, name, { input: { word: "hi" } }, "my-key"))
          assert.deepInclude(call, { state: "done", output: { weather: ["sun", 1] } })
          assert.strictEqual(sent.length, 1)
          const { body, headers } = sent[0]!
          const said = JSON.parse(body) as Record<string, unknown>
          assert.deepInclude(said, { tool: name, callId: call.id, input: { word: "hi" }, principal: bot.id })
          assert.deepInclude(headers, { "x-team": "stoa", "stoa-call": call.id })
          assert.strictEqual(headers["idempotency-key"], digestOf([bot.id, "my-key"]))
          const sql = yield* SqlClient.SqlClient
          const [event] = yield* sql<{ correlationId: string }>`SELECT correlation_id FROM journal
            WHERE kind = 'call.settled' AND body LIKE ${`%${call.id}%`}`
          assert.match(headers["traceparent"]!, new RegExp(`^00-${event!.correlationId}-[0-9a-f]{16}-01$`))
          const [, seconds] = /^t=(\d+),/.exec(headers["stoa-signature"]!)!
          assert.isAtMost(Math.abs(nowSeconds() - Number(seconds)), 5)
          assert.strictEqual(
            headers["stoa-signature"],
            callSignature(yield* keyOf(name), call.id, body, Number(seconds)),
          )
          const put = yield* webhook(url, { webhookUrl: `${url}/tools/put?as=is`, method: "PUT" })
          assert.strictEqual(told(yield* callTool(bot, put.name)).state, "done")
          assert.deepStrictEqual(
            seen.map((one) => [one.method, one.url]),
            [
              ["POST", "/tools/process"],
              ["PUT", "/tools/put?as=is"],
            ],
          )
        }).pipe(Effect.scoped),
    )

    it.effect("S1-23 S1-30 a failure of the service is the call's failure, and so is its silence", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const broken = yield* service({ status: 500, body: "out of order" })
        const failed = told(yield* callTool(bot, (yield* webhook(broken.url)).name))
        assert.strictEqual(failed.state, "failed")
        assert.match(failed.error!.message, /answered 500: out of order/)
        const silent = yield* http(() => {})
        const late = told(yield* callTool(bot, (yield* webhook(silent.url, { timeout: 100 })).name))
        assert.deepInclude(late, { state: "failed" })
        assert.strictEqual(late.error!.tag, "ToolTimeoutError")
      }).pipe(Effect.scoped),
    )

    it.effect(
      "G-22 a webhook under one key is sent once, retried or several times at once, also one that is to call back",
      () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          for (const answer of [
            { status: 200, body: '{"ok":true}' },
            { status: 202, body: "" },
            { status: 500, body: "no" },
          ]) {
            const { sent, url } = yield* service(answer)
            const { name } = yield* webhook(url)
            const key = fresh("key")
            const post = callTool(bot, name, { input: { word: "once" } }, key)
            const first = told(yield* post)
            const all = yield* Effect.all([post, post, post], { concurrency: "unbounded" })
            for (const one of all) assert.deepInclude(told(one), { id: first.id, state: first.state })
            assert.lengthOf(sent, 1)
            // Whoever comes while it is under way stays for its end, and that of one that calls back is not here.
            if (answer.status === 202) continue
            const other = fresh("key")
            const burst = yield* Effect.all(
              Array.from({ length: 5 }, () => callTool(bot, name, { input: { word: "burst" } }, other)),
              { concurrency: "unbounded" },
            )
            assert.lengthOf(new Set(burst.map((one) => told(one).id)), 1)
            assert.lengthOf(sent, 2)
          }
        }).pipe(Effect.scoped),
    )

    it.effect("G-18 202 says later: the call waits for a signed callback, which is taken once and never replayed", () =>
      Effect.gen(function* () {
        const { sent, url } = yield* service({ status: 202, body: "" })
        const bot = yield* someone("agent")
        const { name } = yield* webhook(url)
        const asked = yield* callTool(bot, name, { input: { word: "later" } })
        assert.strictEqual(asked.status, 202)
        const { id, on } = told(asked)
        assert.deepStrictEqual(on, { kind: "callback", id })
        const { callback } = JSON.parse(sent[0]!.body) as { callback: string }
        assert.match(callback, new RegExp(`/api/v1/calls/${id}/result$`))
        const key = yield* keyOf(name)
        const body = '{"output":{"done":true}}'
        // Each tool has a key of its own: one service cannot speak for another.
        const keyOfAnother = yield* keyOf((yield* webhook(url)).name)
        const refused = [
          signed(key, nowSeconds() - 360, id, body),
          // The house's own signature on the call is none on a result, and one moment is written in one way.
          callSignature(key, id, body),
          ...["0", "+", "-", " ", "1e0"].map((prefix) => resultSignature(key, id, body).replace("t=", `t=${prefix}`)),
          resultSignature(key, id, body).replace("t=1", "t=\u00b9"),
          resultSignature(key, id, body).replace(",v2", ".0,v2"),
          `t=${nowSeconds()},v1=${createHmac("sha256", key).update(`${nowSeconds()}.${id}.${body}`).digest("hex")}`,
          signed(key, nowSeconds() + 360, id, body),
          signed(keyOfAnother, nowSeconds(), id, body),
          signed("another key", nowSeconds(), id, body),
          signed(key, nowSeconds(), "call_00000000-0000-0000-0000-000000000000", body),
          signed(key, nowSeconds(), id, '{"output":1}'),
          "t=1,v2=00",
          "",
        ]
        for (const signature of refused) assert.strictEqual((yield* answerBack(id, body, signature)).status, 401)
        assert.strictEqual((yield* callNow(bot, id)).state, "waiting")
        // Not by token either: not by its maker, and not by whoever else is here.
        for (const who of [bot, yield* someone()])
          assert.include([403, 404], (yield* request(who, "POST", `/calls/${id}/result`, { output: 1 })).status)
        const good = signed(key, nowSeconds(), id, body)
        const done = yield* answerBack(id, body, good)
        assert.strictEqual(done.status, 200, JSON.stringify(done.body))
        assert.deepInclude(told(done), { state: "done", output: { done: true } })
        assert.strictEqual((yield* answerBack(id, body, good)).status, 409)
        assert.deepInclude(yield* settled(bot, id), { state: "done", output: { done: true } })
        const kinds = (yield* eventsOf(id)).filter((kind) => kind.startsWith("call."))
        assert.deepStrictEqual(kinds, ["call.received", "call.waiting", "call.settled"])
      }).pipe(Effect.scoped),
    )

    it.effect("a named secret signs instead of the house's key, and a callback that never comes expires the call", () =>
      Effect.gen(function* () {
        const { sent, url } = yield* service({ status: 202, body: "" })
        const bot = yield* someone("agent")
        const secret = fresh("SIGN").replace("-", "_")
        const value = "a secret of the service's own"
        assert.strictEqual((yield* request(yield* admin, "PUT", `/secrets/${secret}`, { value })).status, 204)
        const { name } = yield* webhook(url, { signingSecret: secret, callbackTimeout: 1000 })
        const { id } = told(yield* callTool(bot, name))
        // A secret is shown to nobody, not even as a key.
        const shown = yield* request(yield* admin, "GET", `/tools/${name}/signing-key`)
        assert.strictEqual(shown.status, 409)
        assert.notInclude(JSON.stringify(shown.body), value)
        const { body, headers } = sent[0]!
        const [, seconds] = /^t=(\d+),/.exec(headers["stoa-signature"]!)!
        assert.strictEqual(headers["stoa-signature"], callSignature(value, id, body, Number(seconds)))
        const ended = yield* settled(bot, id)
        assert.strictEqual(ended.state, "expired")
        assert.strictEqual(ended.error!.tag, "ToolTimeoutError")
        const late = '{"output":1}'
        assert.include([401, 409], (yield* answerBack(id, late, signed(value, nowSeconds(), id, late))).status)
        assert.strictEqual((yield* callNow(bot, id)).state, "expired")
      }).pipe(Effect.scoped),
    )

    it.effect("a key opens nothing but a call that waits for its service: not one that waits for a person", () =>
      Effect.gen(function* () {
        const { url } = yield* service({ status: 202, body: "" })
        const [bot, pam] = [yield* someone("agent"), yield* someone()]
        const { name } = yield* webhook(url, {}, { requiresApproval: true })
        const { id, on } = told(yield* callTool(bot, name, { space: yield* room(pam, bot) }))
        assert.strictEqual(on?.kind, "decision")
        const body = '{"output":1}'
        const signature = signed(yield* keyOf(name), nowSeconds(), id, body)
        assert.strictEqual((yield* answerBack(id, body, signature)).status, 401)
        const { signedBy } = yield* Calls
        assert.isUndefined(yield* signedBy({ call: id, signature, body: Effect.succeed(body) }))
      }).pipe(Effect.scoped),
    )

    it.effect("a signature counts for the call it was checked for, and none that the room has not checked itself", () =>
      Effect.gen(function* () {
        const { url } = yield* service({ status: 202, body: "" })
        const bot = yield* someone("agent")
        const { name } = yield* webhook(url)
        const [id, other] = [told(yield* callTool(bot, name)).id, told(yield* callTool(bot, name)).id]
        const { result, signedBy } = yield* Calls
        const body = '{"output":1}'
        const signature = signed(yield* keyOf(name), nowSeconds(), id, body)
        const proof = (yield* signedBy({ call: id, signature, body: Effect.succeed(body) }))!
        assert.deepStrictEqual(proof, { call: id, tool: name })
        for (const [call, by] of [
          [id, { ...proof }],
          [other, { ...proof, call: other }],
          [other, proof],
        ] as const)
          assert.strictEqual((yield* Effect.flip(result(call, by, { output: 1 })))._tag, "Missing")
        assert.strictEqual((yield* callNow(bot, id)).state, "waiting")
        assert.strictEqual((yield* result(id, proof, { output: 1 })).state, "done")
        assert.strictEqual((yield* callNow(bot, other)).state, "waiting")
      }).pipe(Effect.scoped),
    )

    it.effect("a result is not read before it is known who brings it, and guessing is counted", () =>
      Effect.gen(function* () {
        const nobody = "call_01a1de7e-9c83-7000-a0b5-000000000000"
        const statuses = new Set<number>()
        for (let n = 0; n < 40; n++)
          statuses.add(
            (yield* answerBack(nobody, '{"neither":"output","nor":"error"}', signed("k", nowSeconds(), nobody, "")))
              .status,
          )
        assert.deepStrictEqual([...statuses].toSorted(), [401, 429])
      }),
    )

    it.effect("signed results are counted per tool: a service that floods waits, and others do not", () =>
      Effect.gen(function* () {
        const { url } = yield* service({ status: 202, body: "" })
        const bot = yield* someone("agent")
        const limits = yield* Limits
        const body = '{"output":{"done":true}}'
        const waiting = Effect.gen(function* () {
          const { name } = yield* webhook(url)
          const { id } = told(yield* callTool(bot, name, { input: { word: "later" } }))
          return { name, answer: answerBack(id, body, signed(yield* keyOf(name), nowSeconds(), id, body)) }
        })
        const [flooded, other] = [yield* waiting, yield* waiting]
        // Others come just before each: a slot is free again every few milliseconds, so a flood from here is too slow.
        const { takeResult } = limits
        const take = (tool: string) => Effect.runSyncExit(takeResult(tool))
        const afterOthers = (tool: string) =>
          Effect.suspend(() => {
            while (Exit.isSuccess(take(flooded.name)));
            return take(tool)
          })
        yield* Effect.acquireRelease(
          Effect.sync(() => Object.assign(limits, { takeResult: afterOthers })),
          () => Effect.sync(() => Object.assign(limits, { takeResult })),
        )
        let last = yield* flooded.answer
        for (let n = 0; n < 5 && last.status !== 429; n++) last = yield* flooded.answer
        assert.strictEqual(last.status, 429)
        assert.deepInclude(last.body, { resource: "signed results", limit: "12000 in 60 s" })
        assert.strictEqual((yield* other.answer).status, 200)
      }).pipe(Effect.scoped),
    )

    it.effect("a host that has finished many calls at once sends all their results, and none is refused", () =>
      Effect.gen(function* () {
        const { url } = yield* service({ status: 202, body: "" })
        const bot = yield* someone("agent")
        const { name } = yield* webhook(url)
        const key = yield* keyOf(name)
        const calls = yield* Effect.forEach(Array.from({ length: times(20, 300) }), () => callTool(bot, name), {
          concurrency: "unbounded",
        })
        const body = '{"output":{"done":true}}'
        const answers = yield* Effect.forEach(
          calls.map((call) => told(call).id),
          (id) => answerBack(id, body, signed(key, nowSeconds(), id, body)),
          { concurrency: "unbounded" },
        )
        // A machine under load may answer 503; no limit may answer 429.
        assert.notInclude(
          answers.map(({ status }) => status),
          429,
        )
      }).pipe(Effect.scoped),
    )

    it.effect("G-33 a dry run shows what would be posted, and posts nothing", () =>
      Effect.gen(function* () {
        const { sent, url } = yield* service({ status: 200, body: "{}" })
        const bot = yield* someone("agent")
        const { name } = yield* webhook(url)
        const shown = yield* callTool(bot, name, { input: { word: "hi" }, dryRun: true })
        assert.strictEqual(shown.status, 200)
        assert.deepInclude((shown.body as { sends: object }).sends, { method: "POST", url: `${url}/tools/process` })
        assert.strictEqual(sent.length, 0)
      }).pipe(Effect.scoped),
    )
  })
