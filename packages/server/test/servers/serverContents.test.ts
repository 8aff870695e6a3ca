/** Resources, prompts and completions of servers: judged, stopped and written down as calls are, whatever came of them. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { admin, request, stores } from "../calls/callsKit.ts"
import { Fixtures, joined, scene, until } from "../proxied/proxiedKit.ts"
import { refused, served } from "../proxied/proxiedServer.ts"
import { ask, house, roomy } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }] }

/** What there is beside tools, as a client asks for it where servers share an address, and what the auditor then reads. */
const methods = (server: string) => ({
  "resources/read": {
    params: { uri: `stoa-mcp://${server}/test://static-text` },
    kind: "resource.read",
    action: "resource.read",
    resource: `servers/${server}/resources/test://static-text`,
  },
  "prompts/get": {
    params: { name: `${server}__test_simple_prompt` },
    kind: "prompt.got",
    action: "prompt.get",
    resource: `servers/${server}/prompts/test_simple_prompt`,
  },
  "completion/complete": {
    params: {
      ref: { type: "ref/prompt", name: `${server}__test_prompt_with_arguments` },
      argument: { name: "arg1", value: "pa" },
    },
    kind: "completion.got",
    action: "completion.get",
    resource: `servers/${server}/completions/test_prompt_with_arguments arg1`,
  },
})

interface Row {
  readonly action: string
  readonly resource: string
  readonly result: string
  readonly rule?: string
}

/** What the journal and the audit say of a server's things, newest last; both have read everything. */
const written = Effect.fnUntraced(function* (server: string) {
  yield* (yield* Readers).receipt("audit")
  const sql = yield* SqlClient.SqlClient
  const events = yield* sql<{ kind: string }>`SELECT kind FROM journal
    WHERE kind IN ('resource.read', 'prompt.got', 'completion.got') AND body LIKE ${`%"${server}"%`} ORDER BY cursor`
  const rows = yield* sql<Row>`SELECT action, resource, result, rule FROM audit
    WHERE resource LIKE ${`servers/${server}/%`} ORDER BY seq`
  return { events: events.map(({ kind }) => kind), rows }
})

for (const store of stores)
  layer(house({ store, config }).pipe(Layer.provideMerge(Fixtures.layer)), {
    excludeTestServices: true,
    timeout: 60_000,
  })(`contents of servers on ${store}`, (it) => {
    it.effect("X-28 X-44 G-12 S2-05 each is written down once: done, hidden by a grant, hidden by a list, paused", () =>
      Effect.gen(function* () {
        // Another one is there throughout, so that there is something to ask for.
        const other = yield* scene("new")
        const { admin: house, name, token, url } = yield* scene("new")
        const at = (method: string, params: Record<string, unknown>) =>
          Effect.map(
            ask(() => newRequest(`${url}/mcp`, token, method, params)),
            ({ body }) => body as { result?: unknown; error?: { code: number; message: string; data?: unknown } },
          )
        const all = Object.entries(methods(name))
        let seen = 0
        /** Asks for all three, and says what came of it. */
        const asked = Effect.fnUntraced(function* () {
          const answers: Array<Effect.Success<ReturnType<typeof at>>> = []
          for (const [method, { params }] of all) answers.push(yield* at(method, params))
          const { events, rows } = yield* written(name)
          const news = { answers, events: events.slice(seen), rows: rows.slice(seen) }
          seen = rows.length
          assert.deepStrictEqual(
            news.events,
            all.map(([, { kind }]) => kind),
          )
          assert.deepStrictEqual(
            news.rows.map(({ action, resource }) => ({ action, resource })),
            all.map(([, { action, resource }]) => ({ action, resource })),
          )
          return news
        })
        const results = (rows: ReadonlyArray<Row>) => [...new Set(rows.map(({ result, rule }) => `${result} ${rule}`))]

        const done = yield* asked()
        for (const { result } of done.answers) assert.isDefined(result)
        assert.deepStrictEqual(results(done.rows), ["success role:agent-standard"])

        const grant = (yield* ask(() =>
          house.grants.add({ principal: "ada", resource: `tools/${name}/*`, actions: ["execute"], effect: "deny" }),
        )) as { readonly id: string }
        const denied = yield* asked()
        for (const { error } of denied.answers) assert.include([-32_602, -32_601], error?.code)
        assert.deepStrictEqual(results(denied.rows), [`denied grant:${grant.id}`])
        yield* ask(() => house.grants.revoke(grant.id))

        yield* ask(() =>
          house.allowLists.set("upstream", "agent", { tools: [`${name}/test_simple_text`, `${other.name}/*`] }),
        )
        const unlisted = yield* asked()
        for (const { error } of unlisted.answers) assert.include([-32_602, -32_601], error?.code)
        assert.deepStrictEqual(results(unlisted.rows), ["denied allow-list:upstream/agent"])
        yield* ask(() => house.allowLists.set("upstream", "agent", { tools: ["*"] }))

        const subject = `servers/${name}`
        const pause = { subject, reason: "the disk is full" }
        assert.strictEqual((yield* request(yield* admin, "POST", "/pauses", pause)).status, 201)
        const paused = yield* asked()
        for (const { error } of paused.answers) {
          assert.include(error?.message, `${subject} is paused (the disk is full). Try again when an admin`)
          assert.deepStrictEqual(error?.data, { tag: "ToolAuthorizationError", rule: `paused:${subject}` })
        }
        assert.deepStrictEqual(results(paused.rows), [`denied paused:${subject}`])
        const lift = `/pauses/${encodeURIComponent(subject)}`
        assert.strictEqual((yield* request(yield* admin, "DELETE", lift)).status, 204)
        const [method, { params }] = all[0]!
        yield* until(() => Effect.map(at(method, params), ({ result }) => result !== undefined))
      }).pipe(Effect.scoped),
    )

    it.effect("what is not there, and what the server refuses, is a failure in the journal and the audit", () =>
      Effect.gen(function* () {
        const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} }
        const server = yield* served(
          "new",
          {},
          {
            "server/discover": () => ({
              supportedVersions: ["2026-07-28"],
              capabilities,
              ttlMs: 0,
              cacheScope: "private",
            }),
            "resources/list": () => ({ resources: [{ uri: "a://b", name: "b" }], ttlMs: 0, cacheScope: "private" }),
            "resources/templates/list": () => ({ resourceTemplates: [], ttlMs: 0, cacheScope: "private" }),
            "prompts/list": () => ({ prompts: [{ name: "p" }], ttlMs: 0, cacheScope: "private" }),
            "resources/read": () => refused(-32_602, "no such thing"),
            "prompts/get": () => refused(-32_603, "the disk is full"),
            "completion/complete": () => refused(-32_603, "the disk is full"),
          },
        )
        const { name, place, token } = yield* joined(server.url)
        const at = (method: string, params: Record<string, unknown>) =>
          Effect.map(
            ask(() => newRequest(place, token, method, params)),
            ({ body }) => body as { error?: { code: number; message: string } },
          )
        yield* until(() => Effect.map(at("prompts/list", {}), (it) => JSON.stringify(it).includes('"p"')))
        assert.include((yield* at("resources/read", { uri: "a://c" })).error?.message, "no resource a://c")
        assert.include((yield* at("prompts/get", { name: "p" })).error?.message, "the disk is full")
        const complete = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }
        assert.include((yield* at("completion/complete", complete)).error?.message, "the disk is full")
        const { events, rows } = yield* written(name)
        assert.deepStrictEqual(events, ["resource.read", "prompt.got", "completion.got"])
        assert.deepStrictEqual(
          rows.map(({ result }) => result),
          ["failure", "failure", "failure"],
        )
      }).pipe(Effect.scoped),
    )

    it.effect("a server nobody has and one that is hidden answer alike; a pause of a hidden one is not told", () =>
      Effect.gen(function* () {
        const { admin: house, name, token, url } = yield* scene("new")
        yield* ask(() =>
          house.grants.add({ principal: "ada", resource: `tools/${name}/*`, actions: ["execute"], effect: "deny" }),
        )
        const ask3 = (server: string) =>
          Effect.forEach(Object.entries(methods(server)), ([method, { params }]) =>
            Effect.map(
              ask(() => newRequest(`${url}/mcp`, token, method, params)),
              ({ body }) => JSON.stringify(body.error).replaceAll(server, "SERVER"),
            ),
          )
        const call = (server: string) =>
          Effect.map(
            ask(() => newRequest(`${url}/mcp`, token, "tools/call", { name: `${server}__test_simple_text` })),
            ({ body }) => JSON.stringify(body.error).replaceAll(server, "SERVER"),
          )
        const [hidden, unknown] = [yield* ask3(name), yield* ask3("nobody")]
        assert.deepStrictEqual(hidden, unknown)
        assert.strictEqual(yield* call(name), yield* call("nobody"))
        const subject = `servers/${name}`
        assert.strictEqual((yield* request(yield* admin, "POST", "/pauses", { subject })).status, 201)
        assert.deepStrictEqual(yield* ask3(name), unknown)
        assert.strictEqual(yield* call(name), yield* call("nobody"))
        const over = yield* ask(() => house.tools.list())
        assert.isArray(over.items)
        const lift = `/pauses/${encodeURIComponent(subject)}`
        assert.strictEqual((yield* request(yield* admin, "DELETE", lift)).status, 204)
      }).pipe(Effect.scoped),
    )
  })
