/** An approved call goes on as it was made: by the same token, in the same run and scope, and only where it may still be called. */
import { assert, layer } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { Caller } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Calls } from "../../src/calls/Calls.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import {
  admin,
  callsHouse,
  callTool,
  config,
  configure,
  request,
  room,
  ruler,
  settled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"

const decide = (who: Pick<Someone, "token">, decision: string) =>
  request(who as Someone, "POST", `/decisions/${decision}/answer`, { verdict: "approve" })

/** From now on these tools ask when this principal calls them. */
const asking = Effect.fnUntraced(function* (who: Someone, ...tools: ReadonlyArray<string>) {
  for (const tool of tools) {
    const grant = { principal: who.id, resource: `tools/${tool}`, actions: ["execute"], effect: "ask" }
    assert.strictEqual((yield* request(yield* admin, "POST", "/grants", grant)).status, 201)
  }
})

const toolsets = Effect.fnUntraced(function* (who: Someone, ...sets: ReadonlyArray<"gateway" | "stoa" | "office">) {
  const { transact } = yield* Journal
  yield* Effect.orDie(transact((yield* Principals).change(who.principal.id, { toolsets: sets })))
})

const waiting = (answer: { readonly body: unknown }) => {
  assert.strictEqual(told(answer).state, "waiting", JSON.stringify(answer.body))
  return { call: told(answer).id, decision: told(answer).on!.id }
}

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`approved calls on ${store}`, (it) => {
    it.effect("X-63 S1-36 an approved enter_space moves the token that called it, and no other", () =>
      Effect.gen(function* () {
        const [pam, bot] = [yield* someone(), yield* someone("agent")]
        yield* toolsets(bot, "gateway")
        const [here, there] = [yield* room(pam, bot), yield* room(pam, bot)]
        assert.strictEqual(told(yield* callTool(bot, "enter_space", { input: { spaceId: here } })).state, "done")
        yield* asking(bot, "enter_space")
        const { call, decision } = waiting(yield* callTool(bot, "enter_space", { input: { spaceId: there } }))
        assert.strictEqual((yield* decide(yield* admin, decision)).status, 200)
        assert.strictEqual((yield* settled(bot, call)).state, "done")
        assert.strictEqual(told(yield* callTool(bot, "send_message", { input: { text: "Where am I?" } })).state, "done")
        const said = (space: string) =>
          Effect.map(request(pam, "GET", `/spaces/${space}/messages`), ({ body }) =>
            (body as unknown as { items: ReadonlyArray<{ text: string }> }).items.map(({ text }) => text),
          )
        assert.deepStrictEqual([yield* said(here), yield* said(there)], [[], ["Where am I?"]])
      }),
    )

    it.effect("X-59 a call at a toolset's own endpoint is approved as the tool of that toolset", () =>
      Effect.gen(function* () {
        const calls = yield* Calls
        const [pam, bot] = [yield* someone(), yield* someone("agent")]
        yield* toolsets(bot, "stoa", "office", "gateway")
        const space = yield* room(pam, bot)
        yield* asking(bot, "send_message", "read_messages")
        const caller = yield* (yield* Tokens).authenticate(bot.token)
        const inputs = {
          office: ["send_message", { channelId: space, text: "By office." }],
          gateway: ["read_messages", { spaceId: space }],
        } as const
        for (const [set, [tool, input]] of Object.entries(inputs)) {
          const scope = { kind: "set", set: set as keyof typeof inputs } as const
          const row = yield* Effect.provideService(calls.call({ tool, input, scope, wait: 0 }), Caller, caller)
          assert.strictEqual(row.state, "waiting", set)
          assert.strictEqual((yield* decide(yield* admin, row.onId!)).status, 200)
          const end = yield* settled(bot, row.id)
          assert.strictEqual(end.state, "done", `${set}: ${JSON.stringify(end.error)}`)
        }
      }),
    )

    it.effect("G-13 two people are two, also through an answer that is itself approved", () =>
      Effect.gen(function* () {
        const [jim, pam, bot] = [yield* ruler(), yield* ruler(), yield* someone("agent")]
        yield* toolsets(pam, "stoa")
        const { name } = yield* configure({ requiresApproval: true, approval: { people: 2 } })
        yield* asking(pam, "answer_decision")
        const first = waiting(yield* callTool(bot, name))
        assert.strictEqual((yield* decide(jim, first.decision)).status, 200)
        const late = (yield* request(jim, "POST", "/tokens", { principal: pam.id })).body as { token: string }
        const input = { decision: first.decision, verdict: "approve" }
        const second = waiting(yield* callTool({ ...pam, token: late.token }, "answer_decision", { input }))
        assert.strictEqual((yield* decide(jim, second.decision)).status, 200)
        assert.strictEqual((yield* settled(pam, second.call)).state, "failed")
        assert.strictEqual(told(yield* request(bot, "GET", `/calls/${first.call}`)).state, "waiting")
      }),
    )

    it.effect("G-13 G-15 whoever rotates another's token, or rotates by a token made since, is its hand", () =>
      Effect.gen(function* () {
        const [boss, pam] = [yield* ruler(), yield* ruler()]
        const { name } = yield* configure({ requiresApproval: true })
        const tokensOf = Effect.map(
          request(yield* admin, "GET", `/tokens?principal=${pam.id}`),
          ({ body }) => (body as unknown as { items: ReadonlyArray<{ id: string }> }).items,
        )
        const rotated = (by: Pick<Someone, "token">, id: string) =>
          Effect.map(request(by as Someone, "POST", `/tokens/${id}/rotate`), ({ body, status }) => {
            assert.strictEqual(status, 201, JSON.stringify(body))
            return body as unknown as { id: string; token: string }
          })
        const [old] = yield* tokensOf
        const extra = (yield* request(pam, "POST", "/tokens", { principal: pam.id })).body as {
          id: string
          token: string
        }
        const { decision } = waiting(yield* callTool(boss, name))
        const taken = yield* rotated(boss, extra.id)
        assert.strictEqual((yield* decide(taken, decision)).status, 403)
        assert.strictEqual((yield* request(taken as never, "POST", `/decisions/${decision}/link`, {})).status, 403)
        const forged = (yield* request(boss, "POST", "/tokens", { principal: pam.id })).body as { token: string }
        const anew = yield* rotated(forged, old!.id)
        assert.strictEqual((yield* decide(anew, decision)).status, 403)
      }),
    )

    it.effect("G-13 who may renew their own token, answers with the new one", () =>
      Effect.gen(function* () {
        const [boss, pam] = [yield* ruler(), yield* ruler()]
        const { name } = yield* configure({ requiresApproval: true })
        const { decision } = waiting(yield* callTool(boss, name))
        const { body } = yield* request(yield* admin, "GET", `/tokens?principal=${pam.id}`)
        const [own] = (body as unknown as { items: ReadonlyArray<{ id: string }> }).items
        const anew = (yield* request(pam, "POST", `/tokens/${own!.id}/rotate`)).body as { token: string }
        assert.strictEqual((yield* decide(anew, decision)).status, 200)
      }),
    )

    it.effect(
      "an approved call does not run when its token was revoked or rotated since; signing out is no revocation",
      () =>
        Effect.gen(function* () {
          const boss = yield* admin
          const { raw, url } = yield* Guest
          const { name } = yield* configure({ requiresApproval: true })
          const ends = {
            revoked: (id: string) => request(boss, "DELETE", `/tokens/${id}`),
            rotated: (id: string) => request(boss, "POST", `/tokens/${id}/rotate`),
          }
          const tokenOf = (who: Someone) =>
            Effect.map(
              request(boss, "GET", `/tokens?principal=${who.id}`),
              ({ body }) => (body as unknown as { items: ReadonlyArray<{ id: string }> }).items[0]!.id,
            )
          for (const [way, end] of Object.entries(ends)) {
            const bot = yield* someone("agent")
            const { call, decision } = waiting(yield* callTool(bot, name))
            assert.isBelow((yield* end(yield* tokenOf(bot))).status, 300, way)
            assert.strictEqual((yield* decide(boss, decision)).status, 200)
            const ended = yield* settled(boss, call)
            assert.deepStrictEqual([way, ended.state], [way, "refused"])
            assert.match(ended.error!.message, /token that this call was made with was revoked/)
          }
          const pam = yield* ruler()
          const opened = yield* ask(() =>
            raw("/api/v1/session", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ token: pam.token }),
            }),
          )
          const cookie = /stoa_session=[^;]+/.exec(opened.headers.get("set-cookie") ?? "")![0]
          const asPage = (method: string, path: string, body: object) =>
            ask(() =>
              raw(`/api/v1${path}`, {
                method,
                headers: { "content-type": "application/json", cookie, origin: url, "x-stoa-page": "1" },
                body: JSON.stringify(body),
              }),
            )
          const answer = yield* asPage("POST", `/tools/${name}/call`, { input: {} })
          const { call, decision } = waiting({ body: yield* ask(() => answer.json()) })
          assert.isBelow((yield* asPage("DELETE", "/session", {})).status, 300)
          assert.strictEqual((yield* decide(boss, decision)).status, 200)
          assert.strictEqual((yield* settled(pam, call)).state, "done")
        }),
    )

    it.effect("G-13 an open question that a policy now asks two people about is not answered by one", () =>
      Effect.gen(function* () {
        const { admin: client, configFile } = yield* Guest
        const bot = yield* someone("agent")
        const { name } = yield* configure()
        const policy = (approval: object) =>
          writeFileSync(
            configFile,
            JSON.stringify({
              ...config,
              policies: [
                {
                  principal: bot.name,
                  resource: `tools/${name}`,
                  actions: ["execute"],
                  effect: "ask",
                  approval,
                },
              ],
            }),
          )
        policy({})
        yield* ask(() => client.house.reload())
        const { call, decision } = waiting(yield* callTool(bot, name))
        policy({ people: 2 })
        yield* ask(() => client.house.reload())
        assert.strictEqual((yield* decide(yield* admin, decision)).status, 200)
        const ended = yield* settled(bot, call)
        assert.strictEqual(ended.state, "refused")
        assert.match(ended.error!.message, /more people must approve it/)
      }),
    )

    it.effect("an approved call does not act in a space that its caller has left, or that was archived", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const boss = yield* admin
        for (const end of ["removed", "archived"] as const) {
          const [pam, bot] = [yield* someone(), yield* someone("agent")]
          const space = yield* room(pam, bot)
          const { name } = yield* configure({ requiresApproval: true })
          const { call, decision } = waiting(yield* callTool(bot, name, { space }))
          const gone =
            end === "removed"
              ? yield* request(boss, "DELETE", `/spaces/${space}/members/${bot.id}`)
              : yield* request(boss, "PATCH", `/spaces/${space}`, { archived: true })
          assert.isBelow(gone.status, 300)
          assert.strictEqual((yield* decide(boss, decision)).status, 200)
          const ended = yield* settled(bot, call)
          assert.deepStrictEqual([end, ended.state], [end, "refused"])
          assert.match(ended.error!.message, /may no longer be called in its space/)
          const rows = yield* sql<{ result: string }>`SELECT state AS result FROM calls WHERE id = ${call}`
          assert.strictEqual(rows[0]!.result, "refused")
        }
      }),
    )
  })
