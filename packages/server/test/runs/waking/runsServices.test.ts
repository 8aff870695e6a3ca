/** Services that call agents: with a token or a signature, and with nothing but the right to call that agent. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, Guest } from "../../house.ts"
import { nowSeconds, triggerSignature } from "../../signing.ts"
import { call, fresh, refused, someone } from "../../spaces/spacesGuests.ts"
import { ended, room, runsHouse, runsOf, setRules, stores, thinker } from "../runsKit.ts"

const signed = (key: string, agent: string, body: string, seconds = nowSeconds()) =>
  triggerSignature(key, { agent, body }, seconds)

/** As an operator makes one, who gives it nothing but this. */
const caller = Effect.fnUntraced(function* (agent: { readonly name: string }) {
  const { admin } = yield* Guest
  const service = yield* ask(() => admin.principals.add({ kind: "service", name: fresh("ci") }))
  yield* ask(() => admin.grants.add({ principal: service.id, resource: `agents/${agent.name}`, actions: ["execute"] }))
  return service
})

const send = Effect.fnUntraced(function* (agent: string, body: string, headers: Record<string, string>) {
  const { raw } = yield* Guest
  const answer = yield* ask(() =>
    raw(`/api/v1/agents/${agent}/trigger`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    }),
  )
  return {
    status: answer.status,
    body: (yield* ask(() => answer.json())) as { readonly run?: string; readonly detail?: string },
  }
})

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(`services on ${store}`, (it) => {
    it.effect("S1-92 S1-39 the right to call an agent is enough, and the agent stands in a space that it sees", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const [bot, other] = [yield* thinker(), yield* thinker()]
        yield* setRules([{ when: { agent: bot.name }, say: "heard" }])
        const service = yield* caller(bot)
        const { token } = yield* ask(() => admin.tokens.add({ principal: service.id }))
        const client = as(token)
        const [its, theirs] = [yield* room("private", bot), yield* room("private", other)]
        const { run } = yield* ask(() => client.agents.trigger(bot.name, { text: "a build failed", space: its.name }))
        yield* ended(bot)
        assert.deepInclude(yield* ask(() => admin.runs.get(run)), { space: its.id, stop: "no_tool_call" })
        const nowhere = yield* refused(() => client.agents.trigger(bot.name, { text: "x", space: theirs.name }))
        assert.strictEqual(nowhere.status, 404)
        assert.strictEqual((yield* refused(() => client.agents.trigger(other.name, { text: "x" }))).status, 403)
        // A name that is not there looks like one that is none of its business.
        assert.strictEqual((yield* refused(() => client.agents.trigger("nobody", { text: "x" }))).status, 403)
        // One key for all who forgot theirs would be one run for all of them.
        for (const key of ["", "k".repeat(201)]) {
          const headers = { authorization: `Bearer ${token}`, "idempotency-key": key }
          assert.strictEqual((yield* send(bot.name, JSON.stringify({ text: "x" }), headers)).status, 400)
        }
        // The same key with another text, or another space, is another request.
        const keyed = { authorization: `Bearer ${token}`, "idempotency-key": "nightly" }
        const nightly = (body: object) => send(bot.name, JSON.stringify(body), keyed)
        const first = yield* nightly({ text: "run it" })
        assert.strictEqual(first.status, 202)
        assert.strictEqual((yield* nightly({ text: "run it" })).body.run, first.body.run)
        assert.strictEqual((yield* nightly({ text: "run something else" })).status, 409)
        assert.strictEqual((yield* nightly({ text: "run it", space: its.name })).status, 409)
        // Where nobody can speak any more, no work begins.
        yield* ask(() => admin.spaces.change(its.id, { archived: true }))
        assert.strictEqual(
          (yield* refused(() => client.agents.trigger(bot.name, { text: "x", space: its.name }))).status,
          409,
        )
        yield* ended(bot, 2)
      }),
    )

    it.effect(
      "S1-92 X-30 a person or an agent sends an agent only where it sees itself; elsewhere there is nothing",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const bot = yield* thinker()
          yield* setRules([{ when: { agent: bot.name }, say: "heard" }])
          const its = yield* room("private", bot)
          for (const kind of ["person", "agent"] as const) {
            const sender = yield* someone(kind)
            yield* ask(() =>
              admin.grants.add({ principal: sender.id, resource: `agents/${bot.name}`, actions: ["execute"] }),
            )
            const sent = (space: string) =>
              call(sender, "POST", `/agents/${bot.name}/trigger`, { text: "go there", space })
            const absent = yield* sent("no-such-space")
            assert.strictEqual(absent.status, 404)
            for (const ref of [its.name, its.id]) {
              const { body, status } = yield* sent(ref)
              const same = JSON.parse(JSON.stringify(absent.body).replaceAll("no-such-space", ref)) as object
              assert.deepStrictEqual([status, body], [404, same], ref)
            }
            assert.lengthOf(yield* runsOf(bot), kind === "person" ? 0 : 1)
            yield* ask(() => admin.spaces.addMember(its.id, sender.id))
            assert.strictEqual((yield* sent(its.name)).status, 202)
          }
          yield* ended(bot, 2)
        }),
    )

    it.effect("S1-92 G-18 it may sign instead: the time, the agent and the body; what comes again is the same", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const bot = yield* thinker()
        yield* setRules([{ when: { agent: bot.name }, say: "heard" }])
        const service = yield* caller(bot)
        const { key } = yield* ask(() => admin.principals.signingKey(service.name))
        const body = JSON.stringify({ text: "a build failed" })
        const headers = { "stoa-service": service.name, "stoa-signature": signed(key, bot.name, body) }
        const first = yield* send(bot.name, body, headers)
        assert.strictEqual(first.status, 202)
        assert.deepStrictEqual(yield* send(bot.name, body, headers), first, "a repeated request finds its run")
        const keyed = {
          "stoa-service": service.id,
          "idempotency-key": "build-7",
          "stoa-signature": triggerSignature(key, { agent: bot.name, once: "build-7", body }),
        }
        const second = yield* send(bot.name, body, keyed)
        assert.notStrictEqual(second.body.run, first.body.run)
        const later = {
          ...keyed,
          "stoa-signature": triggerSignature(key, { agent: bot.name, once: "build-7", body }, nowSeconds() - 60),
        }
        assert.strictEqual((yield* send(bot.name, body, later)).body.run, second.body.run, "signed anew, the same key")
        yield* ended(bot, 2)
        const run = yield* ask(() => admin.runs.get(first.body.run!))
        assert.deepInclude(run.trigger, { kind: "service", summary: "a build failed" })
        const { items } = yield* ask(() => admin.runs.messages(run.id))
        assert.include(items[1]!.text!, `author="${service.name}" from="an outside service"`)
        assert.strictEqual((yield* runsOf(bot)).length, 2)
      }),
    )

    it.effect("G-18 a signed request has one reading, and is one request however its time is written", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const short = yield* thinker()
        const long = yield* thinker({ name: `${short.name}.deploy` })
        yield* setRules([
          { when: { agent: short.name }, say: "heard" },
          { when: { agent: long.name }, say: "heard" },
        ])
        const service = yield* caller(short)
        const { key } = yield* ask(() => admin.principals.signingKey(service.name))
        yield* ask(() =>
          admin.grants.add({ principal: service.id, resource: `agents/${long.name}`, actions: ["execute"] }),
        )
        const body = JSON.stringify({ text: "ship it" })
        const mine = { "stoa-service": service.name }
        // For one agent, with a key; not for the agent whose name is made of both.
        const forShort = triggerSignature(key, { agent: short.name, once: "deploy", body })
        const forLong = triggerSignature(key, { agent: long.name, body })
        assert.strictEqual((yield* send(long.name, body, { ...mine, "stoa-signature": forShort })).status, 401)
        const moved = { ...mine, "idempotency-key": "deploy", "stoa-signature": forLong }
        assert.strictEqual((yield* send(short.name, body, moved)).status, 401)
        assert.lengthOf(yield* runsOf(long), 0)
        const first = yield* send(long.name, body, { ...mine, "stoa-signature": forLong })
        assert.strictEqual(first.status, 202)
        for (const again of ["0", "00", "+", "-0", " ", "1e0", "\t"]) {
          const headers = { ...mine, "stoa-signature": forLong.replace("t=", `t=${again}`) }
          assert.strictEqual((yield* send(long.name, body, headers)).status, 401, again)
        }
        const upper = forLong.replace(/[0-9a-f]{64}$/, (mac) => mac.toUpperCase())
        assert.strictEqual((yield* send(long.name, body, { ...mine, "stoa-signature": upper })).status, 401)
        assert.deepStrictEqual(yield* send(long.name, body, { ...mine, "stoa-signature": forLong }), first)
        yield* ended(long)
        assert.lengthOf(yield* runsOf(long), 1)
        assert.lengthOf(yield* runsOf(short), 0)
      }),
    )

    it.effect(
      "G-18 another's signature, an old one, one for another agent, and one of who is no service are refused",
      () =>
        Effect.gen(function* () {
          const { admin, adminToken } = yield* Guest
          const [bot, other] = [yield* thinker(), yield* thinker()]
          const [service, stranger] = [yield* caller(bot), yield* caller(other)]
          const { key } = yield* ask(() => admin.principals.signingKey(service.id))
          const body = JSON.stringify({ text: "x" })
          const mine = { "stoa-service": service.name }
          const good = signed(key, bot.name, body)
          const wrong: ReadonlyArray<readonly [string, string, Record<string, string>]> = [
            [bot.name, body, { ...mine, "stoa-signature": "t=1,v2=2" }],
            [bot.name, body, { ...mine, "stoa-signature": signed(key, bot.name, body, nowSeconds() - 400) }],
            [bot.name, `${body} `, { ...mine, "stoa-signature": good }],
            [bot.name, body, { ...mine, "stoa-signature": good, "idempotency-key": "another" }],
            [other.name, body, { ...mine, "stoa-signature": good }],
            [bot.name, body, { "stoa-service": stranger.name, "stoa-signature": good }],
            [bot.name, body, { "stoa-service": "admin", "stoa-signature": good }],
            [bot.name, body, { "stoa-signature": good }],
            [bot.name, body, { ...mine, "stoa-signature": "", authorization: `Bearer ${adminToken}` }],
          ]
          for (const [agent, sent, headers] of wrong) {
            const { body: answer, status } = yield* send(agent, sent, headers)
            assert.strictEqual(status, 401)
            assert.include(answer.detail!, "Compare key and clock")
          }
          // The signature says who sends it, and no more: the right is judged as with a token.
          const elsewhere = { ...mine, "stoa-signature": signed(key, other.name, body) }
          assert.strictEqual((yield* send(other.name, body, elsewhere)).status, 403)
          assert.strictEqual((yield* refused(() => admin.principals.signingKey(bot.id))).status, 409)
          yield* ask(() => admin.principals.retire(service.id))
          const late = { ...mine, "stoa-signature": signed(key, bot.name, body) }
          assert.strictEqual((yield* send(bot.name, body, late)).status, 401)
          assert.strictEqual((yield* runsOf(bot)).length, 0)
        }),
    )
  })
