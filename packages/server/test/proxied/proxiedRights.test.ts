/** Who may use what of a server: its tools one by one, and the rest of it only as a whole. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Fixtures, joined, behind } from "./proxiedKit.ts"
import { ask, Guest, made, house, roomy } from "../house.ts"
import { newRequest, oldRequest, initialized } from "../mcp/mcpKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }] }
const Test = house({ store: "sqlite", config }).pipe(Layer.provideMerge(Fixtures.layer))

const scene = Effect.gen(function* () {
  const fixtures = yield* Fixtures
  const server = yield* behind(fixtures.url, "old", fixtures.token)
  const it = yield* joined(server.url)
  const lists = (tools: ReadonlyArray<string>) => ask(() => it.admin.allowLists.set("upstream", "agent", { tools }))
  yield* Effect.addFinalizer(() => Effect.ignore(lists(["*"])))
  const at = (method: string, params: Record<string, unknown> = {}, place = `${it.url}/mcp`) =>
    Effect.map(
      ask(() => newRequest(place, it.token, method, params)),
      ({ body }) => body,
    )
  const own = (body: { readonly result?: { readonly tools?: ReadonlyArray<{ readonly name: string }> } }) =>
    (body.result?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith(`${it.name}__`))
  /** What it sees of the server at the endpoint of all. */
  const seen = Effect.gen(function* () {
    const uri = `stoa-mcp://${it.name}/test://static-text`
    const listed = yield* at("resources/list")
    const prompts = yield* at("prompts/list")
    const ref = { type: "ref/prompt", name: `${it.name}__test_prompt_with_arguments` }
    return {
      tools: own(yield* at("tools/list")).length,
      resources: JSON.stringify(listed.result?.resources ?? []).includes(it.name),
      prompts: JSON.stringify(prompts.result?.prompts ?? []).includes(it.name),
      reads: (yield* at("resources/read", { uri })).result !== undefined,
      gets: (yield* at("prompts/get", { name: `${it.name}__test_simple_prompt` })).result !== undefined,
      completes:
        (yield* at("completion/complete", { ref, argument: { name: "arg1", value: "pa" } })).result !== undefined,
    }
  })
  return { ...it, lists, at, own, seen }
})
const beside = (so: boolean) => ({ resources: so, prompts: so, reads: so, gets: so, completes: so })

layer(Test, { excludeTestServices: true, timeout: 60_000 })("rights to servers", (it) => {
  it.effect("X-28 S2-05 a right to one tool is none to resources, prompts and completions", () =>
    Effect.gen(function* () {
      const { at, lists, name, own, place, seen, token } = yield* scene
      const all = yield* seen
      assert.deepInclude(all, beside(true))
      assert.isAbove(all.tools, 5)
      yield* lists([`${name}/test_simple_text`])
      assert.deepStrictEqual(yield* seen, { tools: 1, ...beside(false) })
      // At the server's own endpoint too, where its one tool is still there.
      assert.strictEqual((yield* at("tools/list", {}, place)).result.tools.length, 1)
      const read = yield* at("resources/read", { uri: "test://static-text" }, place)
      assert.isUndefined(read.result)
      const session = yield* ask(() => initialized(place, token))
      const old = yield* ask(() => oldRequest(place, token, "resources/read", { uri: "test://static-text" }, session))
      assert.isUndefined(old.body.result)
      yield* lists([`${name}/*`])
      assert.deepStrictEqual(yield* seen, all)
      yield* lists([`${name}x/*`, "*x", name, `${name}/`])
      assert.deepStrictEqual(yield* seen, { tools: 0, ...beside(false) })
      assert.deepStrictEqual(own(yield* at("tools/list")), [])
    }),
  )

  it.effect("X-28 a server that is listed as a whole is judged as a whole too", () =>
    Effect.gen(function* () {
      const { admin, lists, name, seen } = yield* scene
      yield* lists([`${name}/*`])
      const deny = (resource: string) =>
        ask(() => admin.grants.add({ principal: "ada", resource, actions: ["execute"], effect: "deny" }))
      const all = yield* deny(`tools/${name}/*`)
      assert.deepStrictEqual(yield* seen, { tools: 0, ...beside(false) })
      yield* ask(() => admin.grants.revoke(made(all).id))
      const one = yield* deny(`tools/${name}/test_simple_text`)
      assert.deepInclude(yield* seen, beside(true))
      yield* ask(() => admin.grants.revoke(made(one).id))
    }),
  )

  it.effect("a subscription to nothing, and to what the caller may not see, is refused as reading it is", () =>
    Effect.gen(function* () {
      const { lists, name, token, url } = yield* scene
      const session = yield* ask(() => initialized(`${url}/mcp`, token))
      const send = (method: string, uri: string) =>
        Effect.map(
          ask(() => oldRequest(`${url}/mcp`, token, method, { uri }, session)),
          ({ body }) => body.error?.code ?? "fine",
        )
      const mine = `stoa-mcp://${name}/test://static-text`
      assert.strictEqual(yield* send("resources/subscribe", mine), "fine")
      for (const uri of ["stoa-mcp://nobody/test://static-text", "stoa://spaces/spc_none", "test://static-text"]) {
        assert.strictEqual(yield* send("resources/subscribe", uri), -32_002, uri)
        assert.strictEqual(yield* send("resources/read", uri), -32_002, uri)
      }
      assert.strictEqual(yield* send("resources/subscribe", ""), -32_602)
      yield* lists([`${name}/test_simple_text`])
      assert.strictEqual(yield* send("resources/subscribe", mine), -32_002)
      assert.strictEqual(yield* send("resources/unsubscribe", mine), "fine")
    }),
  )

  it.effect("a session has at most 1,000 subscriptions, of at most 2,048 characters each", () =>
    Effect.gen(function* () {
      const { name, token, url } = yield* scene
      const session = yield* ask(() => initialized(`${url}/mcp`, token))
      const send = (method: string, uri: string) =>
        Effect.map(
          ask(() => oldRequest(`${url}/mcp`, token, method, { uri }, session)),
          ({ body }) => body.error ?? "fine",
        )
      const start = `stoa-mcp://${name}/test://`
      const longest = start.padEnd(2048, "x")
      const long = yield* send("resources/subscribe", `${longest}x`)
      assert.deepStrictEqual(long, { code: -32_602, message: "uri has more than 2048 characters" })
      assert.strictEqual(yield* send("resources/subscribe", longest), "fine")
      const others = Array.from({ length: 999 }, (_, n) => send("resources/subscribe", `${start}${n}`))
      const answers = yield* Effect.all(others, { concurrency: 20 })
      assert.isTrue(answers.every((one) => one === "fine"))
      const more = yield* send("resources/subscribe", `${start}more`)
      const message = "This session has 1000 subscriptions; end one of them first"
      assert.deepStrictEqual(more, { code: -32_602, message })
      assert.strictEqual(yield* send("resources/subscribe", longest), "fine")
      assert.strictEqual(yield* send("resources/unsubscribe", longest), "fine")
      assert.strictEqual(yield* send("resources/subscribe", `${start}more`), "fine")
      // A client of the new era names all of them at once.
      const listen = (uri: string) =>
        ask(() =>
          newRequest(`${url}/mcp`, token, "subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } }),
        )
      assert.strictEqual((yield* listen(`${longest}x`)).body.error?.code, -32_602)
    }),
  )

  it.effect("X-60 a name that nobody has is kept and noted: of a tool, of a server, of a configured tool", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const { lists, name } = yield* scene
      const kept = made(
        yield* lists(["*", `${name}/test_simple_text`, `${name}/*`, "gone/tool", "nh/*", `${name}/none`]),
      )
      assert.deepStrictEqual(kept.unknown, ["gone/tool", "nh/*", `${name}/none`])
      const again = yield* ask(() => admin.allowLists.get("upstream", "agent"))
      assert.deepStrictEqual(again.unknown, kept.unknown)
      const { items } = yield* ask(() => admin.allowLists.list())
      const listed = items.find((one) => one.toolset === "upstream" && one.context === "agent")
      assert.deepStrictEqual(listed?.unknown, kept.unknown)
      const { findings } = yield* ask(() => admin.house.doctor())
      const found = findings.find(({ check }) => check === "allow lists")
      assert.strictEqual(found?.state, "warn")
      assert.match(
        found!.detail,
        /: upstream\/agent: gone\/tool, upstream\/agent: nh\/\*, upstream\/agent: it-\w+\/none$/,
      )
      const own = yield* ask(() => admin.allowLists.set("configured", "crossroads", { tools: ["nothing-here"] }))
      assert.deepStrictEqual(made(own).unknown, ["nothing-here"])
    }),
  )
})
