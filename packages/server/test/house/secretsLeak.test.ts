/**
 * Secrets drawn at random, repeated by whoever they were sent to, in encodings and pieces drawn at random: eight characters
 * of one in a row are in no sink. An http tool, a webhook and its callback, images, MCP servers over HTTP and stdio.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { leaksIn } from "../../../tools/test/secrets/leaks.ts"
import { headerRepeats, partsOf, type Repeat } from "../../../tools/test/secrets/repeats.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import {
  admin,
  callsHouse,
  callTool,
  config,
  configure,
  httpTool,
  request,
  room,
  settled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { times } from "../../../../test/long.ts"
import { resultSignature } from "../signing.ts"
import { ask, Guest } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { fresh, listen, someone } from "../spaces/spacesGuests.ts"
import { parrot } from "./parrot.ts"

const rounds = { sqlite: times(3, 6), postgres: times(1, 3) }
const imageKey = ["sk-image", "Zq81LmX0vB47tK29"].join("-")
const modelKeys = [["sk-model", "Pw63HnC9dR15sY84"].join("-"), ["sk-other", "Ju27GbV4eT68oQ31"].join("-")] as const
const sentryKey = "c0ffee1234567890abcdef"
const tables = [
  "calls",
  "journal",
  "audit",
  "decisions",
  "messages",
  "timers",
  "tools",
  "mcp_tools",
  "mcp_servers",
] as const

/** Whatever is said anywhere, each piece of it by itself. */
const gathering = () => {
  const sinks = new Map<string, Array<string>>()
  const into = (sink: string, said: unknown) => {
    const text = typeof said === "string" ? said : JSON.stringify(said)
    sinks.set(sink, [...(sinks.get(sink) ?? []), text])
  }
  return { sinks, into }
}

/** Hears what goes to standard error until its scope closes. */
const heardOn = (into: (text: string) => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.stderr.write.bind(process.stderr)
      process.stderr.write = (text: string | Uint8Array) => {
        into(typeof text === "string" ? text : Buffer.from(text).toString())
        return true
      }
      return before
    }),
    (before) => Effect.sync(() => void (process.stderr.write = before)),
  )

for (const store of stores)
  layer(
    callsHouse({
      store,
      log: "debug",
      config: { ...config, env: ["PLANTED_VARIABLE"] },
      env: {
        OPENAI_API_KEY: imageKey,
        ANTHROPIC_API_KEY: modelKeys[0],
        GOOGLE_GENERATIVE_AI_API_KEY: modelKeys[1],
        SENTRY_DSN: `http://${sentryKey}@127.0.0.1:9/1`,
        OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
        PLANTED_VARIABLE: "planted-Variable-7Xk2",
      },
    }),
    { excludeTestServices: true, timeout: 240_000 },
  )(`secrets on ${store}`, (it) => {
    it.effect(
      "G-17 no eight characters of a secret reach an agent, a row, the feed, a log line or a backup, however they are repeated",
      () =>
        Effect.gen(function* () {
          const { raw, url } = yield* Guest
          const boss = yield* admin
          const [bot, pam] = [yield* someone("agent"), yield* someone()]
          const space = yield* room(pam, bot)
          const { into, sinks } = gathering()
          yield* heardOn((text) => into("log", text))
          yield* listen(boss, {}, (frame) => into("feed", frame))
          yield* listen(bot, {}, (frame) => into("feed", frame))
          const planted = [imageKey, "planted-Variable-7Xk2"]

          const drawn = fc.sample(headerRepeats, { seed: 20_261_116, numRuns: rounds[store] })
          for (const one of drawn) {
            const name = fresh("KEY").replace("-", "_")
            planted.push(one.secret)
            const repeat = (key: string): ReadonlyArray<string> => partsOf(one, key)
            const kept = yield* request(boss, "PUT", `/secrets/${name}`, { value: one.secret })
            assert.include([200, 201, 204], kept.status, JSON.stringify(kept.body))
            yield* throughTools(one, name, repeat)
            yield* throughServer(name, repeat)
          }

          /** An http tool and a webhook that say it again; the webhook a second time, by a callback. */
          function throughTools(one: Repeat, name: string, repeat: (key: string) => ReadonlyArray<string>) {
            return Effect.gen(function* () {
              const parts = repeat(one.secret)
              const all = parts.join("")
              const answers = {
                json: JSON.stringify({ parts, all, ...Object.fromEntries(parts.map((part, n) => [`f${n}`, part])) }),
                text: `it is ${all}`,
                bytes: Buffer.concat([Buffer.from([0, 1, 2]), Buffer.from(one.secret), Buffer.from([0, 255])]),
              }
              const stub = yield* http((asked, response) => {
                const kind = asked.url!.slice(1).split("?")[0] as keyof typeof answers | "error"
                const body = kind === "error" ? answers.json : answers[kind]
                // Another test's client may still ask at a port that was its own.
                if (body === undefined) return void response.writeHead(404).end()
                const half = Math.floor(body.length / 2)
                response.writeHead(kind === "error" ? 500 : 200, {
                  "content-type":
                    kind === "json" ? "application/json" : kind === "bytes" ? "application/octet-stream" : "text/plain",
                  "x-request-id": encodeURIComponent(all).slice(0, 900),
                })
                response.write(body.slice(0, half))
                response.end(body.slice(half))
              })
              for (const kind of ["json", "text", "bytes", "error"]) {
                const execution = {
                  url: `${stub.url}/${kind}?k=\${secret.${name}}`,
                  headers: { "x-variable": "${env.PLANTED_VARIABLE}" },
                }
                const tool = yield* httpTool(stub.url, { execution, visibility: "visible" })
                const answer = yield* callTool(bot, tool.name, { space, wait: 30 })
                into("answer", answer.body)
                into("call", (yield* request(boss, "GET", `/calls/${told(answer).id}`)).body)
              }
              const hook = yield* http((_, response) => void response.writeHead(202).end(answers.json))
              const signing = fresh("SIGN").replace("-", "_")
              yield* request(boss, "PUT", `/secrets/${signing}`, { value: `${one.secret}-signing` })
              const { name: tool } = yield* configure({
                executionType: "external",
                execution: {
                  webhookUrl: hook.url,
                  headers: { "x-key": "${env.PLANTED_VARIABLE}" },
                  signingSecret: signing,
                },
              })
              const waiting = told(yield* callTool(bot, tool))
              const body = JSON.stringify({ output: { parts: repeat(`${one.secret}-signing`), all } })
              const signature = resultSignature(`${one.secret}-signing`, waiting.id, body)
              const back = yield* ask(() =>
                raw(`/api/v1/calls/${waiting.id}/result`, {
                  method: "POST",
                  headers: { "content-type": "application/json", "stoa-signature": signature },
                  body,
                }),
              )
              assert.strictEqual(back.status, 200, yield* ask(() => back.clone().text()))
              into("callback", yield* ask(() => back.text()))
              into("answer", yield* settled(bot, waiting.id))
            })
          }

          /** Everything an MCP server may say, to callers over HTTP and over MCP. */
          function throughServer(name: string, repeat: (key: string) => ReadonlyArray<string>) {
            return Effect.gen(function* () {
              const server = fresh("parrot")
              const address = yield* parrot(repeat)
              const added = yield* request(boss, "POST", "/mcp-servers", {
                name: server,
                url: address,
                transport: "http",
                headers: { Authorization: `Bearer \${secret.${name}}` },
              })
              assert.strictEqual((added.body as { status: string }).status, "connected", JSON.stringify(added.body))
              into("server", added.body)
              into("server", (yield* request(boss, "GET", `/mcp-servers/${server}`)).body)
              into("server", (yield* request(boss, "GET", `/mcp-servers/${server}/tools`)).body)
              into("tools", (yield* request(boss, "GET", "/tools?limit=100")).body)
              for (const tool of ["say", "fail", "refuse"])
                into("answer", (yield* callTool(boss, `${server}__${tool}`, { input: {} })).body)
              const place = `${url}/mcp/servers/${server}`
              const asks: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
                ["server/discover", {}],
                ["tools/list", {}],
                ["tools/call", { name: "say", arguments: {} }],
                ["tools/call", { name: "fail", arguments: {} }],
                ["tools/call", { name: "refuse", arguments: {} }],
                ["resources/list", {}],
                ["resources/templates/list", {}],
                ["resources/read", { uri: "mem://key" }],
                ["prompts/list", {}],
                ["prompts/get", { name: "ask", arguments: { a: "b" } }],
                [
                  "completion/complete",
                  { ref: { type: "ref/prompt", name: "ask" }, argument: { name: "a", value: "" } },
                ],
              ]
              for (const [method, params] of asks) {
                const meta = { progressToken: 1, "io.modelcontextprotocol/logLevel": "debug" }
                const answer = yield* ask(() => newRequest(place, boss.token, method, params, { meta }))
                into("mcp", answer)
              }
            })
          }

          // A program that dies with its key on its lips.
          const dying = yield* request(boss, "POST", "/mcp-servers", {
            name: fresh("dying"),
            command: process.execPath,
            args: [
              "-e",
              "console.error('my key is ' + process.env.KEY + ' ' + btoa(process.env.KEY)); process.exit(1)",
            ],
            env: { KEY: "${env.PLANTED_VARIABLE}" },
          })
          into("server", dying.body)
          assert.include(JSON.stringify(dying.body), "my key is [secret]")

          yield* (yield* Readers).receipt("audit")
          const sql = yield* SqlClient.SqlClient
          for (const table of tables)
            for (const row of yield* sql<Record<string, unknown>>`SELECT * FROM ${sql(table)}`)
              for (const cell of Object.values(row))
                into(table, cell instanceof Uint8Array ? Buffer.from(cell).toString("latin1") : String(cell))
          for (const row of yield* sql<{ bytes: Uint8Array }>`SELECT bytes FROM files`)
            into("files", Buffer.from(row.bytes).toString("latin1"))
          for (const path of ["/metrics", "/openapi.json", "/docs", "/", "/api/v1/doctor", "/api/v1/audit?limit=100"]) {
            const page = yield* ask(() => raw(path, { headers: { authorization: `Bearer ${boss.token}` } }))
            assert.strictEqual(page.status, 200, path)
            into(path, yield* ask(() => page.text()))
          }
          const copy = yield* ask(() =>
            raw("/api/v1/backup", { method: "POST", headers: { authorization: `Bearer ${boss.token}` } }),
          )
          into("backup", Buffer.from(yield* ask(() => copy.arrayBuffer())).toString("latin1"))

          for (const [sink, said] of sinks)
            for (const text of said)
              assert.deepStrictEqual(leaksIn(text, ...planted), [], `${sink}: ${text.slice(0, 2000)}`)
          for (const sink of [
            "log",
            "feed",
            "mcp",
            "answer",
            "server",
            "calls",
            "journal",
            "audit",
            "mcp_tools",
            "backup",
          ])
            assert.isAbove(sinks.get(sink)?.join("").length ?? 0, 100, sink)
          for (const sink of ["mcp", "answer", "calls", "mcp_tools", "callback"])
            assert.match(sinks.get(sink)!.join(""), /\[secret\]|AAAAAAAA/, sink)
        }),
      240_000,
    )

    it.effect("G-17 the house's own keys are in no log line, and neither is a credential by its looks", () =>
      Effect.gen(function* () {
        const { adminToken, raw } = yield* Guest
        const { into, sinks } = gathering()
        yield* heardOn((text) => into("log", text))
        yield* Effect.logError(`token ${adminToken} and ${Buffer.from(adminToken).toString("base64")}`, {
          cause: new Error(`keys ${[imageKey, ...modelKeys, sentryKey].join(" ")}`),
        })
        const [password, key, bearer] = ["pass-word", "abcdefgh1234", "zyxwvut-987654"] as const
        yield* Effect.logWarning(
          `GET http://ada:${password}@example.org/x?access_token=${key} Authorization: Bearer ${bearer}`,
        )
        yield* ask(() => raw("/api/v1/nowhere", { headers: { authorization: `Bearer ${adminToken}x` } }))
        const log = sinks.get("log")!.join("")
        assert.deepStrictEqual(leaksIn(log, adminToken, imageKey, ...modelKeys, sentryKey), [])
        for (const word of [password, key, bearer]) assert.notInclude(log, word)
        assert.include(log, "[secret]")
      }),
    )

    it.effect("S1-25 G-17 whatever a tool was given is in no log line from then on, by whomever it is logged", () =>
      Effect.gen(function* () {
        const { into, sinks } = gathering()
        yield* heardOn((text) => into("log", text))
        const boss = yield* admin
        const value = "a-Value-of-9Lr3-only-here"
        assert.strictEqual((yield* request(boss, "PUT", "/secrets/LOGGED", { value })).status, 204)
        const places = { "x-secret": "${secret.LOGGED}", "x-variable": "${env.PLANTED_VARIABLE}" }
        const { name } = yield* httpTool("http://127.0.0.1:9", {
          execution: { url: "http://127.0.0.1:9", headers: places },
        })
        yield* callTool(boss, name)
        yield* Effect.logError(`Something else met ${value} and planted-Variable-7Xk2`)
        const log = sinks.get("log")!.join("")
        assert.include(log, "Something else met")
        assert.deepStrictEqual(leaksIn(log, value, "planted-Variable-7Xk2"), [])
      }),
    )
  })
