/** The kill switch over what is no call: resources, prompts and completions, of servers and of the house's own toolsets. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { admin, request, room, stores } from "../calls/callsKit.ts"
import { Fixtures, scene, until } from "../proxied/proxiedKit.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { initialized, newRequest, oldRequest } from "../mcp/mcpKit.ts"
import { someone } from "../spaces/spacesGuests.ts"

const config = { ...roomy, agents: [{ name: "ada" }, { name: "bob" }] }

const pause = Effect.fnUntraced(function* (subject: string) {
  assert.strictEqual((yield* request(yield* admin, "POST", "/pauses", { subject })).status, 201)
})
const lift = Effect.fnUntraced(function* (subject: string) {
  const path = `/pauses/${encodeURIComponent(subject)}`
  assert.strictEqual((yield* request(yield* admin, "DELETE", path)).status, 204)
})

type Era = "old" | "new"

/** A client that keeps nothing of what it was told: each request is asked anew. */
const clientOf = Effect.fnUntraced(function* (era: Era, url: string, token: string) {
  const session = era === "old" ? yield* ask(() => initialized(url, token)) : undefined
  return (method: string, params: Record<string, unknown> = {}) =>
    Effect.map(
      ask(() =>
        era === "old" ? oldRequest(url, token, method, params, session) : newRequest(url, token, method, params),
      ),
      ({ body }) => body as { result?: Record<string, unknown>; error?: { code: number; message: string } },
    )
})

/** Everything a client may ask of a server beside its tools, by method. */
const questionsOf = (server: string, place: string): Record<string, Record<string, unknown>> => {
  const own = place !== "/mcp"
  const name = (text: string) => (own ? text : `${server}__${text}`)
  return {
    "resources/list": {},
    "resources/templates/list": {},
    "prompts/list": {},
    "resources/read": { uri: own ? "test://static-text" : `stoa-mcp://${server}/test://static-text` },
    "prompts/get": { name: name("test_simple_prompt") },
    "completion/complete": {
      ref: { type: "ref/prompt", name: name("test_prompt_with_arguments") },
      argument: { name: "arg1", value: "pa" },
    },
  }
}

for (const store of stores)
  layer(house({ store, config }).pipe(Layer.provideMerge(Fixtures.layer)), {
    excludeTestServices: true,
    timeout: 60_000,
  })(`pauses over MCP on ${store}`, (it) => {
    for (const era of ["old", "new"] as const)
      it.effect(`G-12 no resource, prompt or completion goes through a switch that is pulled, ${era} era`, () =>
        Effect.gen(function* () {
          const { name: server, server: behind, token, url } = yield* scene(era)
          for (const place of ["/mcp", `/mcp/servers/${server}`]) {
            const client = yield* clientOf(era, url + place, token)
            const questions = Object.entries(questionsOf(server, place))
            const all = Effect.gen(function* () {
              for (const [method, params] of questions) assert.isDefined((yield* client(method, params)).result, method)
            })
            yield* all
            for (const subject of ["agents/ada", "everything", `servers/${server}`]) {
              yield* pause(subject)
              const sent = behind.heard.length
              for (const [method, params] of questions) {
                const { error, result } = yield* client(method, params)
                // Where several share an endpoint, a paused server is left out of their lists.
                if (subject.startsWith("servers/") && place === "/mcp" && method.endsWith("/list")) {
                  assert.isDefined(result, method)
                  assert.notInclude(JSON.stringify(result), server)
                  continue
                }
                const shown = subject === "agents/ada" ? "ada" : subject
                assert.strictEqual(
                  error?.message,
                  `"${method}" does not run now: ${shown} is paused. Try again when an admin has lifted the pause`,
                )
              }
              const asked = behind.heard.slice(sent).map(({ body }) => String(body.method))
              assert.deepStrictEqual(
                asked.filter((method) => method in questionsOf(server, place)),
                [],
                subject,
              )
              yield* lift(subject)
              // A server has to be reached again first.
              const [method, params] = questions[3]!
              yield* until(() => Effect.map(client(method, params), ({ result }) => result !== undefined))
            }
            yield* all
          }
        }),
      )

    it.effect("G-12 a call of a paused server's tool is told why over MCP, and is written down", () =>
      Effect.gen(function* () {
        const { name: server, token, url } = yield* scene("new")
        yield* pause(`servers/${server}`)
        const places = { "/mcp": `${server}__test_simple_text`, [`/mcp/servers/${server}`]: "test_simple_text" }
        for (const [place, name] of Object.entries(places)) {
          const client = yield* clientOf("new", url + place, token)
          yield* until(() => Effect.map(client("tools/list"), (it) => !JSON.stringify(it).includes(name)))
          const { result } = yield* client("tools/call", { name, arguments: {} })
          assert.strictEqual(result?.["isError"], true)
          assert.include(JSON.stringify(result), `servers/${server} is paused. Try again when an admin`)
        }
        const client = yield* clientOf("new", `${url}/mcp`, token)
        assert.match((yield* client("tools/call", { name: "nobody__x" })).error!.message, /^Unknown tool/)
        const { items } = (yield* request(yield* admin, "GET", "/calls?state=refused")).body as {
          items: Array<{ tool: string; rule: string }>
        }
        const mine = items.filter((one) => one.tool === `${server}/test_simple_text`)
        assert.deepStrictEqual(
          mine.map((one) => one.rule),
          Array<string>(2).fill(`paused:servers/${server}`),
        )
        yield* lift(`servers/${server}`)
      }),
    )

    for (const era of ["old", "new"] as const)
      it.effect(`G-12 what is being read when the switch is pulled ends, and says why, ${era} era`, () =>
        Effect.gen(function* () {
          const { name: server, server: behind, token, url } = yield* scene(era)
          const client = yield* clientOf(era, `${url}/mcp/servers/${server}`, token)
          for (const subject of ["agents/ada", "everything"]) {
            behind.hangs = true
            const sent = behind.heard.length
            const reading = yield* Effect.forkChild(client("resources/read", { uri: "test://static-text" }))
            yield* until(() => behind.heard.slice(sent).some(({ body }) => body.method === "resources/read"))
            yield* pause(subject)
            assert.match((yield* Fiber.join(reading)).error!.message, /is paused\. Try again/)
            behind.hangs = false
            yield* lift(subject)
          }
        }),
      )

    it.effect("G-12 a paused agent reads no space over MCP; another does", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const [bot, other] = [yield* someone("agent"), yield* someone("agent")]
        const uri = `stoa://spaces/${yield* room(bot, other)}`
        const mine = yield* clientOf("new", `${url}/mcp`, bot.token)
        const theirs = yield* clientOf("new", `${url}/mcp`, other.token)
        assert.isDefined((yield* mine("resources/read", { uri })).result)
        yield* pause(`agents/${bot.name}`)
        for (const method of ["resources/read", "resources/list"])
          assert.include((yield* mine(method, { uri })).error?.message, `${bot.name} is paused. Try again`)
        assert.isDefined((yield* theirs("resources/read", { uri })).result)
        yield* lift(`agents/${bot.name}`)
        assert.isDefined((yield* mine("resources/read", { uri })).result)
      }),
    )

    it.effect(
      "G-12 while read_messages is paused nobody reads a space as a resource, and other resources are read",
      () =>
        Effect.gen(function* () {
          const { name: server, token, url } = yield* scene("new")
          const bot = yield* someone("agent")
          const uri = `stoa://spaces/${yield* room(bot)}`
          const places = [
            yield* clientOf("new", `${url}/mcp`, bot.token),
            yield* clientOf("old", `${url}/mcp/stoa`, bot.token),
          ]
          const ada = yield* clientOf("new", `${url}/mcp`, token)
          yield* pause("tools/read_messages")
          for (const client of places)
            assert.strictEqual(
              (yield* client("resources/read", { uri })).error?.message,
              `"resources/read" does not run now: tools/read_messages is paused. Try again when an admin has lifted the pause`,
            )
          const other = { uri: `stoa-mcp://${server}/test://static-text` }
          assert.isDefined((yield* ada("resources/read", other)).result)
          yield* lift("tools/read_messages")
          for (const client of places) assert.isDefined((yield* client("resources/read", { uri })).result)
        }),
    )
  })
