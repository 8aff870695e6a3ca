/** Tools that people act on: they wait in a space, are answered once by somebody there, and hold nothing meanwhile. */
import { assert, layer } from "@effect/vitest"
import type { CallId } from "@stoa/contract"
import { Clock, Effect } from "effect"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { Calls } from "../../../src/calls/Calls.ts"
import {
  admin,
  callNow,
  callsHouse,
  callTool,
  configure,
  eventsOf,
  request,
  resumed,
  room,
  settled,
  stores,
  told,
} from "../callsKit.ts"
import { someone, type Someone } from "../../spaces/spacesGuests.ts"

const inputSchema = {
  type: "object",
  properties: { question: { type: "string" } },
  required: ["question"],
  additionalProperties: false,
}
const outputSchema = {
  type: "object",
  properties: { seats: { type: "integer", minimum: 1 } },
  required: ["seats"],
  additionalProperties: false,
}

const form = (over: object = {}) =>
  configure({
    executionType: "space",
    description: "Asks how many seats are needed.",
    display: { customUI: "seat-picker" },
    inputSchema,
    outputSchema,
    ...over,
  })

const scene = Effect.fnUntraced(function* (over: object = {}) {
  const [bot, pam] = [yield* someone("agent"), yield* someone()]
  const space = yield* room(pam, bot)
  const { name } = yield* form(over)
  const ask = Effect.fnUntraced(function* () {
    const answer = yield* callTool(bot, name, { space, input: { question: "how many?" } })
    assert.deepStrictEqual([answer.status, told(answer).state], [202, "waiting"], JSON.stringify(answer.body))
    const { kind, id } = told(answer).on!
    assert.strictEqual(kind, "client")
    assert.match(id, /^dcs_/)
    return { call: told(answer).id, decision: id }
  })
  return { bot, pam, space, name, ask }
})

const submit = (who: Someone, call: string, result: object) => request(who, "POST", `/calls/${call}/result`, result)
const decide = (who: Someone, decision: string, answer: object) =>
  request(who, "POST", `/decisions/${decision}/answer`, answer)

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`ui tools on ${store}`, (it) => {
    it.effect("S1-19 without a space it is refused at once, and nobody is asked", () =>
      Effect.gen(function* () {
        const { bot, name } = yield* scene()
        const before = yield* Clock.currentTimeMillis
        const answer = yield* callTool(bot, name, { input: { question: "?" }, wait: 60 })
        assert.deepStrictEqual([answer.status, told(answer).tag], [400, "ToolValidationError"])
        assert.match(told(answer).detail ?? "", /needs a space/)
        assert.isBelow((yield* Clock.currentTimeMillis) - before, 30_000)
        const { items } = (yield* request(bot, "GET", "/decisions")).body as { items: Array<unknown> }
        assert.lengthOf(items, 0)
        const calls = (yield* request(bot, "GET", "/calls")).body as { items: Array<{ state: string }> }
        assert.deepStrictEqual(
          calls.items.map((one) => one.state),
          ["refused"],
        )
        // Nor in a space it cannot post to.
        const elsewhere = yield* room(yield* someone())
        assert.strictEqual((yield* callTool(bot, name, { space: elsewhere, input: { question: "?" } })).status, 404)
      }),
    )

    it.effect("G-37 it waits as a form with its component and a schema to fall back to", () =>
      Effect.gen(function* () {
        const { ask, bot, pam } = yield* scene()
        const { call, decision } = yield* ask()
        const shown = (yield* request(pam, "GET", `/decisions/${decision}`)).body
        assert.deepInclude(shown as object, {
          kind: "form",
          state: "open",
          customUI: "seat-picker",
          question: "Asks how many seats are needed.",
          schema: outputSchema,
        })
        assert.deepInclude(shown["call"] as object, { id: call, input: { question: "how many?" } })
        // Where the result has no schema, the form is built from the input's.
        const loose = yield* configure({
          executionType: "space",
          display: { customUI: "never-heard-of-it" },
          inputSchema,
        })
        const space = yield* room(pam, bot)
        const waiting = told(yield* callTool(bot, loose.name, { space, input: { question: "?" } }))
        const fallback = (yield* request(pam, "GET", `/decisions/${waiting.on!.id}`)).body
        assert.deepInclude(fallback as object, { customUI: "never-heard-of-it", schema: inputSchema })
        // Which is what a form looks like, not what an answer must be.
        assert.strictEqual((yield* submit(pam, waiting.id, { output: ["anything", 1] })).status, 200)
      }),
    )

    it.effect("S1-79 S1-81 S1-82 a member's result settles it once; unknown, late and outside are refused", () =>
      Effect.gen(function* () {
        const { ask, bot, pam } = yield* scene()
        const { call, decision } = yield* ask()
        const [outsider, stranger] = [yield* someone(), yield* someone("agent")]
        const good = { output: { seats: 4 } }
        assert.strictEqual((yield* submit(pam, "call_00000000-0000-4000-8000-000000000000", good)).status, 404)
        assert.strictEqual((yield* submit(outsider, call, good)).status, 404)
        assert.strictEqual((yield* submit(stranger, call, { output: "nonsense" })).status, 404)
        assert.strictEqual((yield* submit(bot, call, good)).status, 403)
        assert.strictEqual((yield* submit({ token: "" } as Someone, call, good)).status, 401)
        const sent = yield* submit(pam, call, good)
        assert.deepStrictEqual([sent.status, told(sent).state, told(sent).output], [200, "done", { seats: 4 }])
        assert.deepInclude((yield* request(pam, "GET", `/decisions/${decision}`)).body as object, {
          state: "answered",
          verdict: "submit",
          value: { seats: 4 },
          answeredBy: pam.id,
        })
        assert.strictEqual((yield* submit(pam, call, { output: { seats: 9 } })).status, 409)
        assert.strictEqual((yield* decide(pam, decision, { verdict: "submit", value: { seats: 9 } })).status, 409)
        assert.strictEqual((yield* submit(outsider, call, good)).status, 404)
        assert.deepStrictEqual((yield* callNow(bot, call)).output, { seats: 4 })
        assert.deepStrictEqual(
          (yield* eventsOf(call)).filter((kind) => kind !== "message.created" && kind !== "message.settled"),
          ["decision.asked", "call.received", "call.waiting", "decision.answered", "call.settled"],
        )
        // A call that does not wait for a result takes none.
        const plain = yield* configure()
        const { id } = told(yield* callTool(bot, plain.name))
        assert.strictEqual((yield* submit(bot, id, { output: 1 })).status, 409)
        assert.strictEqual((yield* submit(pam, id, { output: 1 })).status, 404)
      }),
    )

    it.effect(
      "S1-82 where somebody is named to answer, nobody else of the space submits, and the named one need not be there",
      () =>
        Effect.gen(function* () {
          const named = yield* someone()
          const { ask, bot, pam } = yield* scene({ approval: { approver: named.name } })
          const { call } = yield* ask()
          assert.strictEqual((yield* submit(pam, call, { output: { seats: 4 } })).status, 403)
          assert.strictEqual((yield* submit(yield* someone(), call, { output: { seats: 4 } })).status, 404)
          assert.strictEqual((yield* callNow(bot, call)).state, "waiting")
          const sent = yield* submit(named, call, { output: { seats: 5 } })
          assert.deepStrictEqual([sent.status, told(sent).state, told(sent).output], [200, "done", { seats: 5 }])
        }),
    )

    it.effect("S1-81 the answer of the form and the result of the call are one act, either way round", () =>
      Effect.gen(function* () {
        const { ask, bot, pam } = yield* scene()
        const { call, decision } = yield* ask()
        const answered = yield* decide(pam, decision, { verdict: "submit", value: { seats: 2 } })
        assert.strictEqual(answered.status, 200, JSON.stringify(answered.body))
        assert.deepStrictEqual((yield* settled(bot, call)).output, { seats: 2 })
        assert.strictEqual((yield* submit(pam, call, { output: { seats: 3 } })).status, 409)
        assert.deepStrictEqual((yield* callNow(bot, call)).output, { seats: 2 })
      }),
    )

    it.effect("S1-81 G-37 several clients at once: of 20 results one wins, and it is the one that is kept", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, space } = yield* scene()
        const jim = yield* someone()
        yield* request(pam, "PUT", `/spaces/${space}/members/${jim.id}`)
        for (let round = 0; round < 3; round++) {
          const { call, decision } = yield* ask()
          const all = yield* Effect.forEach(
            Array.from({ length: 20 }, (_, n) => n + 1),
            (seats) =>
              seats % 2 === 0
                ? submit(pam, call, { output: { seats } })
                : decide(jim, decision, { verdict: "submit", value: { seats } }),
            { concurrency: "unbounded" },
          )
          const won = all.flatMap((one, n) => (one.status === 200 ? [n + 1] : []))
          assert.lengthOf(won, 1)
          assert.lengthOf(
            all.filter((one) => one.status === 409),
            19,
          )
          assert.deepStrictEqual((yield* settled(bot, call)).output, { seats: won[0] })
        }
        // And results of different calls at once are all kept.
        const many = yield* Effect.forEach(Array.from({ length: 20 }), () => ask(), { concurrency: "unbounded" })
        yield* Effect.forEach(many, ({ call }, n) => submit(pam, call, { output: { seats: n + 1 } }), {
          concurrency: "unbounded",
        })
        for (const [n, { call }] of many.entries())
          assert.deepStrictEqual((yield* callNow(bot, call)).output, { seats: n + 1 })
      }),
    )

    it.effect("G-30 a result that does not fit is refused by its path, and the form stays open", () =>
      Effect.gen(function* () {
        const { ask, bot, pam } = yield* scene()
        const { call, decision } = yield* ask()
        const bad = yield* submit(pam, call, { output: { seats: 0 } })
        assert.deepStrictEqual([bad.status, told(bad).issues?.map((one) => one.path)], [400, ["output.seats"]])
        const worse = yield* decide(pam, decision, { verdict: "submit", value: {} })
        assert.strictEqual(worse.status, 400)
        for (const odd of [{}, { output: 1, error: "both" }, { error: 7 }])
          assert.strictEqual((yield* submit(pam, call, odd)).status, 400, JSON.stringify(odd))
        assert.strictEqual((yield* decide(pam, decision, { verdict: "approve" })).status, 400)
        assert.strictEqual((yield* decide(pam, decision, { verdict: "submit" })).status, 400)
        assert.strictEqual((yield* callNow(bot, call)).state, "waiting")
        assert.strictEqual((yield* submit(pam, call, { output: { seats: 1 } })).status, 200)
      }),
    )

    it.effect("an error, a no and silence end it as failed, failed and expired", () =>
      Effect.gen(function* () {
        const { ask, bot, pam } = yield* scene()
        const failed = yield* ask()
        const sent = yield* submit(pam, failed.call, { error: { message: "the picker broke", tag: "Whatever" } })
        assert.deepStrictEqual([sent.status, told(sent).state], [200, "failed"])
        assert.deepStrictEqual(told(sent).error, { tag: "ToolExecutionError", message: "the picker broke" })
        const declined = yield* ask()
        assert.strictEqual((yield* decide(pam, declined.decision, { verdict: "deny", note: "no seats" })).status, 200)
        const end = yield* settled(bot, declined.call)
        assert.deepStrictEqual([end.state, end.error?.tag], ["failed", "ToolExecutionError"])
        assert.match(end.error!.message, /was declined by .+: no seats$/)
        const slow = yield* scene({ execution: { timeout: 1000 } })
        const late = yield* slow.ask()
        const over = yield* settled(slow.bot, late.call)
        assert.deepStrictEqual([over.state, over.error?.tag], ["expired", "ToolTimeoutError"])
        assert.strictEqual((yield* submit(slow.pam, late.call, { output: { seats: 1 } })).status, 409)
      }),
    )

    it.effect("X-23 one that needs approval asks that first, and then for the form", () =>
      Effect.gen(function* () {
        const [bot, pam] = [yield* someone("agent"), yield* someone()]
        const space = yield* room(pam, bot)
        const { name } = yield* form({ requiresApproval: true })
        const first = told(yield* callTool(bot, name, { space, input: { question: "?" } }))
        assert.strictEqual(first.on?.kind, "decision")
        assert.strictEqual((yield* submit(pam, first.id, { output: { seats: 1 } })).status, 404)
        assert.strictEqual((yield* decide(pam, first.on!.id, { verdict: "approve" })).status, 200)
        yield* resumed
        // It was begun in the background: staying with it tells when it waits again.
        const second = yield* Effect.repeat(callNow(bot, first.id), { until: (now) => now.on?.kind === "client" })
        assert.notStrictEqual(second.on!.id, first.on!.id)
        // A reader may hear of the approval again: the call waits for something else by now, and is not begun again.
        yield* (yield* Calls).resume(first.id as CallId, first.on!.id)
        assert.deepStrictEqual((yield* callNow(bot, first.id)).on, second.on)
        assert.strictEqual((yield* submit(pam, first.id, { output: { seats: 5 } })).status, 200)
        assert.deepStrictEqual((yield* callNow(bot, first.id)).output, { seats: 5 })
      }),
    )

    it.effect("G-18 a webhook's later answer is signed: nobody's token stands in for it, not even an admin's", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const later = yield* http((_, response) => void response.writeHead(202).end())
        const { name } = yield* configure({ executionType: "external", execution: { webhookUrl: `${later.url}/hook` } })
        const answer = yield* callTool(bot, name)
        assert.deepStrictEqual([answer.status, told(answer).on?.kind], [202, "callback"], JSON.stringify(answer.body))
        const { id } = told(answer)
        for (const [who, status] of [
          [bot, 403],
          [yield* someone(), 404],
          [yield* someone("agent"), 404],
          [yield* admin, 404],
        ] as const)
          assert.strictEqual((yield* submit(who, id, { output: "forged" })).status, status)
        assert.strictEqual((yield* callNow(bot, id)).state, "waiting")
      }),
    )
  })
