/** How many at once: places that one principal takes are not another's, and are free again when it leaves them. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Guest, house } from "../house.ts"

const atOnce = (resource: string, count: number) => ({ principal: "*", resource, count, seconds: 0 })
const config = {
  limits: [
    { principal: "*", resource: "*", count: 1_000_000, seconds: 60 },
    atOnce("waits/messages", 2),
    atOnce("waits", 2),
  ],
}

interface Answer {
  readonly id: string
  readonly state: string
  readonly token: string
  readonly error?: { readonly message: string }
}

for (const store of ["sqlite", "postgres"] as const)
  describe(`places at once on ${store}`, () => {
    layer(house({ store, config }), { timeout: 120_000 })((it) => {
      const ask = (token: string, method: string, path: string, body?: object) =>
        Effect.flatMap(Guest, ({ raw }) =>
          Effect.promise(async () => {
            const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
            const init = body === undefined ? {} : { body: JSON.stringify(body) }
            const response = await raw(`/api/v1${path}`, { method, headers, ...init })
            return (response.status === 204 ? {} : await response.json()) as Answer
          }),
        )
      const wait = (token: string, more: object) =>
        ask(token, "POST", "/tools/wait_for_messages/call", { input: { seconds: 50 }, ...more })

      it.effect(
        "G-10 who waits in more places than it has is told the number; others wait, and a place left is free",
        () =>
          Effect.gen(function* () {
            const { adminToken } = yield* Guest
            const tokens: Array<string> = []
            for (const name of ["mallory", "victoria"]) {
              yield* ask(adminToken, "POST", "/principals", { kind: "agent", name, toolsets: ["stoa"] })
              tokens.push((yield* ask(adminToken, "POST", "/tokens", { principal: name })).token)
            }
            const [mallory, victoria] = tokens as [string, string]
            yield* ask(adminToken, "POST", "/spaces", {
              name: "square",
              kind: "private",
              members: ["mallory", "victoria"],
            })
            const first = yield* wait(mallory, { wait: 0 })
            const second = yield* wait(mallory, { wait: 0 })
            const third = yield* wait(mallory, { wait: 60 })
            assert.strictEqual(third.state, "failed")
            assert.match(third.error?.message ?? "", /2 at once for waits\/messages/)
            const others = yield* wait(victoria, { wait: 0 })
            assert.notStrictEqual(others.state, "failed")
            // With two calls it may stay; a third it has as it stands, and the call goes on.
            const stays = [first, second].map(({ id }) => ask(mallory, "GET", `/calls/${id}?wait=60`))
            const speak = Effect.gen(function* () {
              const asItStands = yield* ask(mallory, "GET", `/calls/${third.id}?wait=60`)
              assert.strictEqual(asItStands.state, "failed")
              yield* ask(adminToken, "POST", "/spaces/square/messages", { text: "good morning" })
            })
            const [ended] = yield* Effect.all([Effect.all(stays, { concurrency: "unbounded" }), speak], {
              concurrency: "unbounded",
            })
            assert.deepStrictEqual(
              ended.map(({ state }) => state),
              ["done", "done"],
            )
            // Its places are free again.
            assert.strictEqual((yield* wait(mallory, { wait: 60 })).state, "done")
          }),
      )
    })
  })

const bytes = { limits: [{ principal: "*", resource: "kilobytes", count: 100, seconds: 3600 }, config.limits[0]!] }
/** The same body by every way it may come. */
const ways: Record<string, (body: string) => { readonly path: string; readonly init: RequestInit }> = {
  "of a known size": (body) => ({ path: "/api/v1/spaces/hall/messages", init: { body } }),
  "in parts": (body) => ({
    path: "/api/v1/spaces/hall/messages",
    init: { body: new Blob([body]).stream(), duplex: "half" } as RequestInit,
  }),
  "over MCP": (body) => ({
    path: "/mcp",
    init: {
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { text: body } }),
      headers: { accept: "application/json, text/event-stream" },
    },
  }),
}

layer(house({ store: "sqlite", config: bytes }), { timeout: 60_000 })("bytes of one", (it) => {
  for (const [way, made] of Object.entries(ways))
    it.effect(`G-10 what one sends in an hour is bounded, and another's is its own: a body ${way}`, () =>
      Effect.gen(function* () {
        const { admin, raw } = yield* Guest
        const send = Effect.fnUntraced(function* (principal: string, kilobytes: number) {
          const { token } = yield* Effect.promise(() => admin.tokens.add({ principal }))
          const { init, path } = made(JSON.stringify({ text: "x".repeat(1 + kilobytes * 1024) }))
          const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers }
          const answer = yield* Effect.promise(() => raw(path, { method: "POST", ...init, headers }))
          yield* Effect.promise(() => answer.text())
          return { status: answer.status, wait: answer.headers.get("retry-after") }
        })
        const [one, other] = [`one ${way}`, `other ${way}`]
        for (const name of [one, other]) yield* Effect.promise(() => admin.principals.add({ kind: "agent", name }))
        yield* Effect.promise(() =>
          admin.spaces.add({ name: "hall", kind: "public" }).catch(() => admin.spaces.get("hall")),
        )
        assert.isBelow((yield* send(one, 55)).status, 300)
        const refused = yield* send(one, 55)
        assert.deepInclude(refused, { status: 429 })
        assert.isAbove(Number(refused.wait), 60)
        assert.isBelow((yield* send(one, 0)).status, 300)
        assert.isBelow((yield* send(other, 55)).status, 300)
      }),
    )
})

const few = {
  limits: [{ principal: "*", resource: "calls/refused", count: 3, seconds: 60 }, config.limits[0]!],
}
for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, config: few }), { timeout: 120_000 })(`refused calls on ${store}`, (it) => {
    it.effect("a loop of refused calls leaves the first ones and a count, whatever the reason for the refusal", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const asked = <A>(question: () => Promise<A>) => Effect.promise(question)
        yield* asked(() => admin.principals.add({ kind: "agent", name: "mallory", toolsets: ["stoa"] }))
        yield* asked(() => admin.principals.add({ kind: "agent", name: "victoria", toolsets: ["stoa"] }))
        yield* asked(() =>
          admin.grants.add({ principal: "mallory", resource: "tools/react", actions: ["execute"], effect: "deny" }),
        )
        const tokenOf = (principal: string) =>
          Effect.map(
            asked(() => admin.tokens.add({ principal })),
            ({ token }) => token,
          )
        const mallory = as(yield* tokenOf("mallory"))
        const loop = [
          () => mallory.tools.call("no_such_tool", { input: {} }),
          () => mallory.tools.call("react", { input: { message: "msg_1", emoji: "👍" } }),
          () => mallory.tools.call("call_status", { input: { nonsense: true } }),
        ]
        const tags: Array<string> = []
        for (let n = 0; n < 12; n++)
          tags.push(
            yield* asked(() =>
              loop[n % 3]!().then(
                () => "done",
                (error: Error) => error.message,
              ),
            ),
          )
        // The answer is the same, recorded or not.
        assert.deepStrictEqual(tags.slice(0, 3), tags.slice(9))
        assert.notInclude(tags, "done")
        const recorded = () =>
          asked(() => admin.calls.list({ state: "refused" })).pipe(Effect.map(({ items }) => items))
        assert.strictEqual((yield* recorded()).length, 3)
        // Another's are its own.
        const victoria = as(yield* tokenOf("victoria"))
        yield* asked(() => victoria.tools.call("no_such_tool", { input: {} }).catch(() => "refused"))
        assert.strictEqual((yield* recorded()).length, 4)
        const sql = yield* SqlClient.SqlClient
        const counted = Effect.map(
          sql<{ body: string }>`SELECT body FROM journal WHERE kind = 'access.denied' ORDER BY cursor`,
          (rows) => rows.map(({ body }) => JSON.parse(body) as { resource: string; rule: string }),
        )
        assert.deepStrictEqual(yield* counted, [])
        yield* TestClock.adjust("1 minute")
        let events = yield* counted
        for (let n = 0; n < 1000 && events.length === 0; n++) events = yield* counted
        assert.deepStrictEqual(
          events.map(({ resource, rule }) => [resource, rule]),
          [["tools/*", "9 more refused within a minute, not recorded one by one"]],
        )
      }).pipe(Effect.orDie),
    )

    it.effect("a loop of refused requests that are no calls leaves the first ones and a count, too", () =>
      Effect.gen(function* () {
        const { admin, raw } = yield* Guest
        yield* Effect.promise(() => admin.principals.add({ kind: "agent", name: "walter", roles: ["guest"] }))
        const { token } = yield* Effect.promise(() => admin.tokens.add({ principal: "walter" }))
        const [kept, more] = [300, 7]
        const headers = { authorization: `Bearer ${token}` }
        const refused = Effect.promise(() => raw("/api/v1/grants", { headers })).pipe(
          Effect.tap((answer) => Effect.promise(() => answer.text())),
          Effect.map(({ status }) => assert.strictEqual(status, 403)),
        )
        yield* Effect.replicateEffect(refused, kept + more, { discard: true })
        const sql = yield* SqlClient.SqlClient
        const denied = Effect.map(
          sql<{ body: string }>`SELECT body FROM journal WHERE kind = 'access.denied' AND body LIKE '%grants/%'`,
          (rows) => rows.length,
        )
        const counted = Effect.map(
          sql<{ body: string }>`SELECT body FROM journal WHERE kind = 'access.denied' AND body LIKE '%"resource":"*"%'`,
          (rows) => rows.map(({ body }) => (JSON.parse(body) as { rule: string }).rule),
        )
        assert.strictEqual(yield* denied, kept)
        assert.deepStrictEqual(yield* counted, [])
        yield* TestClock.adjust("1 minute")
        let rules = yield* counted
        for (let n = 0; n < 1000 && rules.length === 0; n++) rules = yield* counted
        assert.deepStrictEqual(rules, [`${more} more refused within a minute, not recorded one by one`])
      }).pipe(Effect.orDie),
    )
  })
