/** The five built-in skills: their definitions, and web-search, http-get and code-execute against real loopback servers. */
import { assert, describe, it } from "@effect/vitest"
import { ToolDefinitionSchema, type ToolExecutionError } from "@stoa/contract"
import { Effect, Redacted, Schema } from "effect"
import { CurrentEgressPolicy } from "../../src/egress/Egress.ts"
import { defaultEgressPolicy } from "../../src/egress/Policy.ts"
import { defaultSandboxOptions, Sandbox, type SandboxFault, sandboxLayer } from "../../src/sandbox/Sandbox.ts"
import { timeoutFault } from "../../src/sandbox/Timeout.ts"
import { builtinSkills } from "../../src/skills/builtin.ts"
import { codeExecute } from "../../src/skills/codeExecute.ts"
import { httpGet } from "../../src/skills/httpGet.ts"
import { CurrentSearchProvider } from "../../src/skills/Search.ts"
import {
  CurrentSkillsConfig,
  defaultSkillsConfig,
  type SearchName,
  skillsConfigFromEnv,
} from "../../src/skills/SkillsConfig.ts"
import { webSearch } from "../../src/skills/webSearch.ts"
import { defaultToolsConfig } from "../../src/ToolsConfig.ts"
import { http, text } from "../egress/egressLoopback.ts"
import { call } from "./skillsCall.ts"

describe("builtinSkills", () => {
  it("S4-83 are seed 004's five, in its order, and sound", () => {
    const names = builtinSkills.map((it) => it.definition.name)
    assert.deepStrictEqual(names, ["web-search", "file-read", "file-write", "http-get", "code-execute"])
    assert.deepStrictEqual(names, [...defaultToolsConfig.builtinTools])
    for (const { definition } of builtinSkills) {
      assert.deepStrictEqual(Schema.decodeSync(ToolDefinitionSchema)(definition), definition)
      assert.isUndefined(timeoutFault(definition))
      assert.strictEqual(definition.source, "builtin")
    }
  })

  it("S4-84 S4-87 S4-89 S4-90 S4-91 X-54 risk, time and approval are as the ledger says", () => {
    const table = builtinSkills.map(({ definition: it }) => [
      it.name,
      it.category,
      it.riskLevel,
      it.timeoutMs,
      it.requiresApproval,
    ])
    assert.deepStrictEqual(table, [
      ["web-search", "search", "low", 10_000, false],
      ["file-read", "file", "medium", 5_000, false],
      ["file-write", "file", "high", 5_000, true],
      ["http-get", "http", "medium", 15_000, false],
      ["code-execute", "code", "critical", 30_000, true],
    ])
  })

  it("S4-87 S4-89 S4-90 S4-91 each takes the parameters the ledger says, with their defaults", () => {
    const table = builtinSkills
      .slice(1)
      .map(({ definition: { name, parameters } }) => [
        name,
        parameters.map((it) => [it.name, it.type, it.required, it.default]),
      ])
    const encoding = ["encoding", "string", false, "utf-8"]
    assert.deepStrictEqual(table, [
      ["file-read", [["path", "string", true, undefined], encoding]],
      ["file-write", [["path", "string", true, undefined], ["content", "string", true, undefined], encoding]],
      [
        "http-get",
        [
          ["url", "string", true, undefined],
          ["headers", "object", false, undefined],
        ],
      ],
      [
        "code-execute",
        [
          ["code", "string", true, undefined],
          ["language", "string", false, "javascript"],
        ],
      ],
    ])
  })

  it("S4-84 web-search is defined word for word", () => {
    assert.deepStrictEqual(webSearch.definition, {
      name: "web-search",
      description: "Search the web for information using a query string",
      parameters: [
        { name: "query", type: "string", description: "Search query", required: true },
        { name: "maxResults", type: "number", description: "Max results to return", required: false, default: 5 },
      ],
      category: "search",
      riskLevel: "low",
      timeoutMs: 10_000,
      requiresApproval: false,
      source: "builtin",
    })
  })

  it.effect("S4-92 every handler fails with a ToolExecutionError that names its tool", () =>
    Effect.gen(function* () {
      for (const { definition, handler } of builtinSkills)
        for (const args of [
          {},
          { query: 1, path: 1, url: 1, code: 1 },
          { query: "", path: "", url: "", code: "throw 1" },
        ]) {
          const error = yield* Effect.flip(handler(args, call))
          assert.strictEqual(error._tag, "ToolExecutionError")
          assert.strictEqual(error.toolName, definition.name)
        }
      const inherited = Object.create({ path: "package.json" }) as Record<string, unknown>
      yield* Effect.flip(builtinSkills[1]?.handler(inherited, call) ?? Effect.void)
    }),
  )
})

/** What each service answers, in its own form. */
const answers: Record<SearchName, (n: number) => unknown> = {
  tavily: (n) => ({
    query: "q",
    answer: null,
    results: list(n, (i) => ({
      title: `t${i}`,
      url: `https://e.com/${i}`,
      content: `c${i}`,
      score: 0.5,
      raw_content: null,
    })),
  }),
  serpapi: (n) => ({
    search_metadata: { status: "Success" },
    organic_results: list(n, (i) => ({ position: i, title: `t${i}`, link: `https://e.com/${i}`, snippet: `c${i}` })),
  }),
  brave: (n) => ({
    type: "search",
    web: {
      type: "search",
      results: list(n, (i) => ({ title: `t${i}`, url: `https://e.com/${i}`, description: `c${i}` })),
    },
  }),
  searxng: (n) => ({
    query: "q",
    number_of_results: 0,
    results: list(n, (i) => ({ title: `t${i}`, url: `https://e.com/${i}`, content: `c${i}`, engine: "x", score: 0.5 })),
  }),
}
const list = <A>(length: number, make: (i: number) => A) => Array.from({ length }, (_, i) => make(i + 1))
const names = ["tavily", "serpapi", "brave", "searxng"] as const

const search = (
  provider: SearchName,
  endpoint: string | undefined,
  key: string | undefined,
  args: Record<string, unknown>,
) =>
  webSearch.handler(args, call).pipe(
    Effect.provideService(CurrentSkillsConfig, {
      ...defaultSkillsConfig,
      search: { provider, key: key === undefined ? undefined : Redacted.make(key), endpoint },
    }),
  )

describe("web-search", () => {
  for (const provider of names)
    it.live(`S4-86 speaks to ${provider} in its own form, with the query and the count`, () =>
      Effect.gen(function* () {
        const server = yield* http((_, response) => response.end(JSON.stringify(answers[provider](8))))
        const found = yield* search(provider, `${server.url}/search`, "key-1", { query: "cats & dogs", maxResults: 3 })
        const score = provider === "tavily" || provider === "searxng" ? { score: 0.5 } : {}
        assert.deepStrictEqual(found, {
          query: "cats & dogs",
          provider,
          results: list(3, (i) => ({ title: `t${i}`, url: `https://e.com/${i}`, content: `c${i}`, ...score })),
        })
        const [asked] = server.seen
        const query = new URL(asked?.url ?? "", server.url).searchParams
        const sent = {
          tavily: () => {
            assert.strictEqual(asked?.headers.authorization, "Bearer key-1")
            assert.deepStrictEqual(JSON.parse(asked?.body ?? ""), { query: "cats & dogs", max_results: 3 })
          },
          serpapi: () =>
            assert.deepStrictEqual(
              [query.get("q"), query.get("num"), query.get("api_key")],
              ["cats & dogs", "3", "key-1"],
            ),
          brave: () =>
            assert.deepStrictEqual(
              [query.get("q"), query.get("count"), asked?.headers["x-subscription-token"]],
              ["cats & dogs", "3", "key-1"],
            ),
          searxng: () => assert.deepStrictEqual([query.get("q"), query.get("format")], ["cats & dogs", "json"]),
        }
        sent[provider]()
      }),
    )

  it.live("S4-85 without a key there is a clear error and no request", () =>
    Effect.gen(function* () {
      const server = yield* http(text("{}"))
      for (const provider of ["tavily", "serpapi", "brave"] as const) {
        const error = yield* Effect.flip(search(provider, server.url, undefined, { query: "q" }))
        assert.match(error.message, /not set up: \w+ needs (TAVILY|SERPAPI|BRAVE)_API_KEY/)
        yield* Effect.flip(search(provider, server.url, "", { query: "q" }))
      }
      assert.include(
        (yield* Effect.flip(search("searxng", undefined, undefined, { query: "q" }))).message,
        "SEARXNG_URL",
      )
      assert.include((yield* Effect.flip(webSearch.handler({ query: "q" }, call))).message, "TAVILY_API_KEY")
      assert.lengthOf(server.seen, 0)
    }),
  )

  it.live("S4-85 what goes wrong over there is a failure, and never shows the key", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<readonly [number, string, RegExp]> = [
        [401, '{"detail":{"error":"Unauthorized: missing or invalid API key."}}', /answered 401: Unauthorized/],
        [429, '{"error":"Your account has run out of searches."}', /answered 429: Your account/],
        [432, '{"detail":"bad key key-1"}', /answered 432: bad key \[secret\]/],
        [500, "<html>oops</html>", /answered 500\./],
        [200, "<html>a login page</html>", /did not answer in JSON/],
      ]
      for (const [status, body, words] of faults)
        for (const provider of names) {
          const server = yield* http(text(body, status))
          const error = yield* Effect.flip(search(provider, server.url, "key-1", { query: "q" }))
          assert.match(error.message, words)
          assert.notInclude(JSON.stringify(error), "key-1")
        }
    }),
  )

  it.live("answers of any other form are no results, and counts are held between 1 and 20", () =>
    Effect.gen(function* () {
      for (const body of ["null", "[]", "5", '{"results":{}}', '{"results":[null,5,{"title":"no url"}]}']) {
        const server = yield* http(text(body))
        assert.deepInclude(yield* search("tavily", server.url, "k", { query: "q" }), { results: [] })
      }
      const server = yield* http(text(JSON.stringify(answers.tavily(50))))
      for (const maxResults of [-5, 0.2, 1, 20, 1e9])
        yield* search("tavily", server.url, "k", { query: "q", maxResults })
      yield* search("tavily", server.url, "k", { query: "q" })
      const counts = server.seen.map((it) => (JSON.parse(it.body) as { readonly max_results: number }).max_results)
      assert.deepStrictEqual(counts, [1, 1, 1, 20, 20, 5])
      yield* Effect.flip(search("tavily", server.url, "k", { query: "q", maxResults: Number.NaN }))
    }),
  )

  it.effect("S4-84 S4-86 any other provider takes its place, and gets the query and the count, 5 unless asked", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const provider = {
        name: "stub",
        search: (query: string, max: number) => Effect.sync(() => (asked.push([query, max]), [])),
      }
      const stubbed = (args: Record<string, unknown>) =>
        webSearch.handler(args, call).pipe(Effect.provideService(CurrentSearchProvider, provider))
      assert.deepStrictEqual(yield* stubbed({ query: " q " }), { query: "q", provider: "stub", results: [] })
      yield* stubbed({ query: "cats", maxResults: 3 })
      assert.deepStrictEqual(asked, [
        ["q", 5],
        ["cats", 3],
      ])
    }),
  )

  it("S4-85 the environment's usual names are mapped by a pure function, and keys are redacted", () => {
    const from = (env: Record<string, string>) => skillsConfigFromEnv(env).search
    assert.deepStrictEqual(from({}), defaultSkillsConfig.search)
    assert.strictEqual(from({ TAVILY_API_KEY: "a", BRAVE_API_KEY: "b" }).provider, "tavily")
    assert.strictEqual(from({ TAVILY_API_KEY: " ", SERPAPI_API_KEY: "b" }).provider, "serpapi")
    assert.strictEqual(from({ BRAVE_API_KEY: "b" }).provider, "brave")
    assert.strictEqual(from({ SEARXNG_URL: "http://s:8888" }).endpoint, "http://s:8888")
    assert.strictEqual(Redacted.value(from({ TAVILY_API_KEY: "hush" }).key!), "hush")
    assert.notInclude(JSON.stringify(from({ TAVILY_API_KEY: "hush" })), "hush")
  })
})

const get = (url: string, allow: ReadonlyArray<string>, headers?: unknown) =>
  httpGet
    .handler(headers === undefined ? { url } : { url, headers }, call)
    .pipe(Effect.provideService(CurrentEgressPolicy, { ...defaultEgressPolicy, allow }))

describe("http-get", () => {
  it.live("S4-90 gives status, words, headers and body, also of an error status", () =>
    Effect.gen(function* () {
      const server = yield* http((request, response) => {
        response.writeHead(404, "Gone Fishing", {
          "content-type": "text/plain; charset=iso-8859-1",
          "x-got": request.headers["x-send"],
        })
        response.end(Buffer.from("h\u00e9", "latin1"))
      })
      const got = yield* get(server.url, [server.host], { "X-Send": "this" })
      assert.deepInclude(got, { status: 404, statusText: "Gone Fishing", body: "hé" })
      assert.deepInclude((got as { headers: Record<string, string> }).headers, { "x-got": "this" })
    }),
  )

  it.live("S4-90 private addresses and bad headers are refused; long and binary bodies are bounded", () =>
    Effect.gen(function* () {
      const server = yield* http((request, response) => {
        if (request.url === "/bin") response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from([1, 0, 2]))
        else response.end("x".repeat(2 << 20))
      })
      const inside = yield* Effect.flip(get(server.url, []))
      assert.include(inside.message, "is a loopback address, which tools may not reach")
      for (const headers of ["x", [], { a: 1 }, { Host: "evil" }, { a: "b\r\nc: d" }])
        yield* Effect.flip(get(server.url, [server.host], headers))
      assert.lengthOf(server.seen, 0)
      assert.deepInclude(yield* get(`${server.url}/bin`, [server.host]), { body: "AQAC", encoding: "base64" })
      const long = (yield* get(server.url, [server.host])) as { readonly body: string; readonly truncated: boolean }
      assert.isTrue(long.truncated)
      assert.match(long.body, /x… \[cut: the answer is longer\]$/)
    }),
  )
})

describe("code-execute", () => {
  it.effect("S4-91 runs JavaScript and nothing else", () =>
    Effect.gen(function* () {
      const run = (args: Record<string, unknown>) => codeExecute.handler(args, call)
      assert.deepStrictEqual(yield* run({ code: "console.log('hi'); [1, 2].length" }), { result: 2, logs: "hi" })
      assert.deepStrictEqual(yield* run({ code: "1", language: "javascript" }), { result: 1, logs: "" })
      assert.include((yield* Effect.flip(run({ code: "1", language: "bash" }))).message, "must be one of javascript")
      assert.include((yield* Effect.flip(run({ code: "rm -rf /" }))).message, "SyntaxError")
    }),
  )

  it.effect("S4-61 S4-91 a busy loop in it is killed in its time, and this process goes on meanwhile", () =>
    Effect.gen(function* () {
      let ticks = 0
      let on = true
      const tick = () => {
        ticks++
        if (on) setImmediate(tick)
      }
      tick()
      const error = yield* Effect.flip(codeExecute.handler({ code: "for (;;);" }, call))
      on = false
      assert.strictEqual(error._tag, "ToolExecutionError")
      assert.strictEqual(((error as ToolExecutionError).cause as SandboxFault).reason, "time")
      assert.isAbove(ticks, 50)
      // By the sandbox, unless it is told otherwise, before the tool's own time is over.
      assert.isBelow(defaultSandboxOptions.timeMs, codeExecute.definition.timeoutMs)
    }).pipe(Effect.provide(sandboxLayer({ timeMs: 300, size: 1 }))),
  )

  it.effect("S4-91 X-64 the description says there is no shell, and the sandbox is replaceable", () =>
    Effect.gen(function* () {
      assert.include(codeExecute.definition.description, "no shell")
      const stub = { run: (code: string) => Effect.succeed({ value: code, logs: "", truncated: true }) }
      const got = yield* codeExecute.handler({ code: "c" }, call).pipe(Effect.provideService(Sandbox, stub))
      assert.deepStrictEqual(got, { result: "c", logs: "", truncated: true })
    }),
  )
})
