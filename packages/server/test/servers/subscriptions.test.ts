/** Subscriptions to resources: judged, stopped and written down as reading is, and judged again whenever one is told. */
import { fileURLToPath } from "node:url"
import { assert, layer } from "@effect/vitest"
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { admin, request, room } from "../calls/callsKit.ts"
import { ask, Guest, house, made, roomy } from "../house.ts"
import { initialized, oldRequest } from "../mcp/mcpKit.ts"
import { Fixtures, newClient, oldClient, scene, until } from "../proxied/proxiedKit.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"

const config = { ...roomy, agents: [{ name: "ada" }] }

const pause = Effect.fnUntraced(function* (subject: string) {
  assert.strictEqual((yield* request(yield* admin, "POST", "/pauses", { subject })).status, 201)
})
const lift = Effect.fnUntraced(function* (subject: string) {
  const path = `/pauses/${encodeURIComponent(subject)}`
  assert.strictEqual((yield* request(yield* admin, "DELETE", path)).status, 204)
})

/** Ways to take from somebody what a resource needs; each returns how to give it back. */
const takings = (who: Someone, resource: string) => [
  Effect.gen(function* () {
    const { admin: house } = yield* Guest
    const rule = { principal: who.id, resource, actions: ["execute"], effect: "deny" } as const
    const { id } = made(yield* ask(() => house.grants.add(rule)))
    return Effect.asVoid(ask(() => house.grants.revoke(id)))
  }),
  Effect.gen(function* () {
    const { admin: house } = yield* Guest
    const change = (role: "guest" | "agent-standard") =>
      Effect.asVoid(ask(() => house.principals.change(who.id, { roles: [role] })))
    yield* change("guest")
    return change("agent-standard")
  }),
  Effect.as(pause(`agents/${who.name}`), lift(`agents/${who.name}`)),
]

/** What the audit says of subscriptions to a server's resources, newest last. */
const audited = Effect.fnUntraced(function* (server: string) {
  yield* (yield* Readers).receipt("audit")
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ result: string; resource: string; rule: string }>`SELECT result, resource, rule FROM audit
    WHERE action = 'resource.subscribe' AND resource LIKE ${`servers/${server}/%`} ORDER BY seq`
  return rows.map(({ resource, result, rule }) => `${result} ${resource.slice(`servers/${server}/`.length)} ${rule}`)
})

/** A client of the old era with its stream open, and what it is told. */
const listening = Effect.fnUntraced(function* (place: string, token: string, ...uris: ReadonlyArray<string>) {
  const heard: Array<string> = []
  const it = yield* oldClient(place, token, {}, (one) =>
    one.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri)),
  )
  for (const uri of uris) yield* ask(() => it.subscribeResource({ uri }))
  return { it, heard }
})

layer(house({ store: "sqlite", config }).pipe(Layer.provideMerge(Fixtures.layer)), {
  excludeTestServices: true,
  timeout: 60_000,
})("subscriptions to resources", (it) => {
  it.effect("X-28 G-12 each is written down once: done, hidden by a grant, hidden by a list, paused", () =>
    Effect.gen(function* () {
      const other = yield* scene("new")
      const { admin: house, name, token, url } = yield* scene("new")
      const session = yield* ask(() => initialized(`${url}/mcp`, token))
      const uri = `stoa-mcp://${name}/test://static-text`
      const old = Effect.map(
        ask(() => oldRequest(`${url}/mcp`, token, "resources/subscribe", { uri }, session)),
        ({ body }) => body as { result?: object; error?: { code: number; message: string; data?: unknown } },
      )
      const client = yield* newClient(`${url}/mcp`, token)
      /** Which of its wishes a client of the new era gets. */
      const listen = Effect.gen(function* () {
        const given = yield* ask(() => client.listen({ promptsListChanged: true, resourceSubscriptions: [uri, uri] }))
        const { resourceSubscriptions = [] } = given.honoredFilter
        yield* ask(() => given.close())
        return resourceSubscriptions
      })
      let seen = 0
      const news = Effect.map(audited(name), (rows) => {
        const those = rows.slice(seen)
        seen = rows.length
        return those
      })
      const row = (result: string, rule: string) => `${result} resources/test://static-text ${rule}`

      assert.deepStrictEqual((yield* old).result, {})
      assert.deepStrictEqual(yield* listen, [uri])
      assert.deepStrictEqual(yield* news, Array<string>(2).fill(row("success", "role:agent-standard")))

      const grant = made(
        yield* ask(() =>
          house.grants.add({ principal: "ada", resource: `tools/${name}/*`, actions: ["execute"], effect: "deny" }),
        ),
      )
      assert.strictEqual((yield* old).error?.code, -32_002)
      assert.deepStrictEqual(yield* listen, [])
      assert.deepStrictEqual(yield* news, Array<string>(2).fill(row("denied", `grant:${grant.id}`)))
      yield* ask(() => house.grants.revoke(grant.id))

      yield* ask(() =>
        house.allowLists.set("upstream", "agent", { tools: [`${name}/test_simple_text`, `${other.name}/*`] }),
      )
      assert.strictEqual((yield* old).error?.code, -32_002)
      assert.deepStrictEqual(yield* listen, [])
      assert.deepStrictEqual(yield* news, Array<string>(2).fill(row("denied", "allow-list:upstream/agent")))
      yield* ask(() => house.allowLists.set("upstream", "agent", { tools: ["*"] }))

      const subject = `servers/${name}`
      yield* pause(subject)
      const { error } = yield* old
      assert.include(error?.message, `"resources/subscribe" does not run now: ${subject} is paused`)
      assert.deepStrictEqual(error?.data, { tag: "ToolAuthorizationError", rule: `paused:${subject}` })
      assert.deepStrictEqual(yield* listen, [])
      assert.deepStrictEqual(yield* news, Array<string>(2).fill(row("denied", `paused:${subject}`)))
      yield* lift(subject)
      yield* until(() => Effect.map(old, ({ result }) => result !== undefined))
    }).pipe(Effect.scoped),
  )

  it.effect("X-28 G-12 who has lost a server, or is paused, is told of no change of its resources", () =>
    Effect.gen(function* () {
      const { admin: house, url } = yield* Guest
      const args = [fileURLToPath(new URL("../proxied/proxiedFixture.ts", import.meta.url))]
      yield* ask(() => house.mcpServers.add({ name: "mem", command: process.execPath, args }))
      const { token } = yield* ask(() => house.tokens.add({ principal: "ada" }))
      const other = yield* someone("agent")
      const all = ["stoa-mcp://mem/mem://one", "stoa-mcp://mem/mem://two"] as const
      const bob = yield* listening(`${url}/mcp`, other.token, ...all)
      const ada = yield* listening(`${url}/mcp/servers/mem`, token)
      const touch = (uri?: string) =>
        Effect.map(
          ask(() => ada.it.callTool({ name: uri === undefined ? "subscribed" : "touch", arguments: { uri } })),
          (result) => (result.content as ReadonlyArray<{ readonly text: string }>)[0]!.text,
        )
      yield* until(() => Effect.map(touch(), (now) => now === "mem://one mem://two"))
      // Who began first is told first: once ada has heard of a change, bob's was decided.
      yield* ask(() => ada.it.subscribeResource({ uri: "mem://one" }))
      let touched = 0
      yield* until(() => {
        if (ada.heard.length > 0) return true
        touched++
        return Effect.as(touch("mem://one"), false)
      })
      yield* until(() => bob.heard.length === touched)
      for (const taken of takings(other, "tools/mem/*")) {
        bob.heard.length = 0
        ada.heard.length = 0
        const giveBack = yield* taken
        yield* touch("mem://one")
        yield* until(() => ada.heard.length === 1)
        yield* giveBack
        yield* touch("mem://two")
        yield* until(() => bob.heard.length > 0)
        assert.deepStrictEqual(bob.heard, [all[1]])
      }
      yield* ask(() => house.mcpServers.remove("mem"))
    }).pipe(Effect.scoped),
  )

  it.effect("G-12 a space is told as a resource only while it may be read as one", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const [bot, other] = [yield* someone("agent"), yield* someone("agent")]
      const spaces = [yield* room(other, bot), yield* room(other, bot)] as const
      const uris = spaces.map((space) => `stoa://spaces/${space}`)
      const [mine, theirs] = [
        yield* listening(`${url}/mcp`, bot.token, ...uris),
        yield* listening(`${url}/mcp/stoa`, other.token, ...uris),
      ]
      const say = (space: string) => ask(() => other.client.spaces.post(space, { text: "hello" }))
      for (const taken of takings(bot, "tools/read_messages")) {
        mine.heard.length = 0
        theirs.heard.length = 0
        const giveBack = yield* taken
        yield* say(spaces[0])
        yield* until(() => theirs.heard.length === 1)
        yield* giveBack
        yield* say(spaces[1])
        yield* until(() => mine.heard.length > 0)
        assert.deepStrictEqual(mine.heard, [uris[1]])
      }
      // While the tool is paused that reads a space, nobody begins.
      yield* pause("tools/read_messages")
      const begun = yield* Effect.exit(ask(() => mine.it.subscribeResource({ uri: uris[0]! })))
      assert.include(String(begun), "tools/read_messages is paused")
      yield* lift("tools/read_messages")
    }).pipe(Effect.scoped),
  )
})
