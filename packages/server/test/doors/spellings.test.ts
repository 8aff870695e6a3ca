/**
 * One path, one identity, one id: however a request spells its path, the guards and the handler go by the same one. Every
 * route of the contract is tried in spellings that proxies, routers and patterns are known to read differently.
 */
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import fc from "fast-check"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { admin, callsHouse, callTool, configure, request, stores, told } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { resultSignature } from "../signing.ts"
import { someone } from "../spaces/spacesGuests.ts"

interface Answer {
  readonly status: number
  readonly tag: string
}

/** As it is written, byte for byte: a client would mend the path before it sends it. */
const sendRaw = (
  url: string,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { host, hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let text = ""
    const lines = Object.entries({ host, connection: "close", ...headers }).map(([name, value]) => `${name}: ${value}`)
    const length = body === "" ? [] : [`content-type: application/json`, `content-length: ${Buffer.byteLength(body)}`]
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      // A stream does not end by itself: its head is enough.
      if (/^HTTP[^]*?\r\ncontent-type: text\/event-stream[^]*?\r\n\r\n/i.test(text)) socket.destroy()
    })
    socket.on("error", reject)
    socket.on("close", () => {
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
      resolve({ status, tag: /"tag":"(\w+)"/.exec(text)?.[1] ?? "" })
    })
    socket.write(Buffer.from([`${method} ${target} HTTP/1.1`, ...lines, ...length, "", body].join("\r\n"), "latin1"))
  })

/** Every route of the contract, with ids that are nobody's. */
const routes: Array<{ readonly name: string; readonly method: string; readonly path: string }> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    const path = endpoint.path.replace(/:[A-Za-z]+/g, (name) => (name === ":emoji" ? "%F0%9F%91%8D" : "nobody-here"))
    routes.push({ name: `${group.identifier}.${endpoint.identifier}`, method: endpoint.method, path })
  },
})

const encoded = (text: string) => `%${text.charCodeAt(0).toString(16)}`
/** Ways to write a path that something on the way might take for it. */
const spellings: Record<string, (path: string) => string> = {
  "a letter as its code": (path) => path.replace(/[a-z](?=[^/]*$)/, encoded),
  "the first letter as its code": (path) => path.replace(/[a-z]/, encoded),
  capitals: (path) => path.replace(/[a-z]+/, (word) => word.toUpperCase()),
  "two slashes": (path) => path.replace("/", "//"),
  "two slashes inside": (path) => path.replace(/\/(?=[^/]*$)/, "//"),
  "a dot segment": (path) => `/.${path}`,
  "a way up": (path) => `/healthz/..${path}`,
  "an encoded way up": (path) => `/healthz/%2e%2E${path}`,
  "a semicolon": (path) => `${path};x=1`,
  "a semicolon inside": (path) => path.replace(/\/(?=[^/]*$)/, ";x=1/"),
  "a fragment": (path) => `${path}#/healthz`,
  backslashes: (path) => path.replaceAll("/", "\\"),
  "an address in front": (path) => `http://127.0.0.1${path}`,
  "an encoded slash": (path) => path.replace(/\/(?=[^/]*$)/, "%2F"),
  "encoded twice": (path) => path.replace(/[a-z](?=[^/]*$)/, (one) => encoded(one).replace("%", "%25")),
  "a letter that grows when it is folded": (path) => `/\u0130${path}`,
  "a NUL": (path) => `${path}%00`,
  "another path in the query": (path) => `${path}?x=/healthz&y=/api/v1/calls/other/result`,
}
/** Those that are the same path, and are answered as such. */
const same = new Set(["another path in the query"])
/** Some routes do not know these parameters, and read none of them. */
const isRefused = ({ status, tag }: Answer) => status === 400 || (status === 404 && tag !== "Missing")

for (const store of stores.slice(0, 1))
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 120_000 })(`spellings on ${store}`, (it) => {
    it.effect("a path of any route has one spelling: every other is refused before a guard or a handler reads it", () =>
      Effect.gen(function* () {
        const { adminToken, url } = yield* Guest
        assert.isAbove(routes.length, 70)
        const headers = { authorization: `Bearer ${adminToken}` }
        for (const { method, name, path } of routes)
          for (const [how, spell] of Object.entries(spellings)) {
            const target = spell(path)
            if (target === path || same.has(how)) continue
            for (const given of [headers, {}]) {
              const answer = yield* ask(() => sendRaw(url, method, target, given))
              // An encoded slash can make a parameter of two segments; then it is that parameter's, and nobody's.
              const fine = how === "an encoded slash" || how === "encoded twice" || how === "capitals"
              assert.isTrue(
                isRefused(answer) || (fine && [400, 401, 404].includes(answer.status)),
                `${name}: ${method} ${target}: ${answer.status} ${answer.tag}`,
              )
            }
          }
      }),
    )

    it.effect("what stands in the query or comes twice changes neither who asks nor what for", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const bot = yield* someone("agent")
        const headers = { authorization: `Bearer ${bot.token}` }
        const unknown = { status: 400, tag: "BadInput" }
        for (const { method, name, path } of routes.filter((one) => one.method === "GET")) {
          const plain = yield* ask(() => sendRaw(url, method, path, headers))
          const asked = yield* ask(() =>
            sendRaw(
              url,
              method,
              same.values().next().value === undefined ? path : spellings["another path in the query"]!(path),
              headers,
            ),
          )
          // A parameter that the endpoint does not have is refused by its name; what it holds is never read.
          assert.deepInclude([plain, unknown], asked, name)
          const nobody = yield* ask(() => sendRaw(url, method, `${path}?authorization=Bearer%20x&token=x`, {}))
          const plainly = yield* ask(() => sendRaw(url, method, path, {}))
          // Whoever needs a token and has none is told that first.
          assert.deepInclude(plainly.status === 401 ? [plainly] : [plainly, unknown], nobody, name)
        }
      }),
    )

    it.effect("the same of the MCP door: a path that is not plain reaches no endpoint", () =>
      Effect.gen(function* () {
        const { adminToken, url } = yield* Guest
        const headers = { authorization: `Bearer ${adminToken}` }
        const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        for (const path of ["/mcp", "/mcp/stoa", "/mcp/servers/x", "/mcp/jsonrpc"])
          for (const [how, spell] of Object.entries(spellings)) {
            const target = spell(path)
            if (same.has(how) || target === path) continue
            const answer = yield* ask(() => sendRaw(url, "POST", target, headers, body))
            assert.isTrue([400, 404].includes(answer.status), `${target}: ${answer.status} ${answer.tag}`)
          }
      }),
    )

    it.effect("G-18 a signature for one call never settles another, however the path is written", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const stub = yield* http((_, response) => void response.writeHead(202).end())
        const bot = yield* someone("agent")
        const execution = { webhookUrl: `${stub.url}/later` }
        const inputSchema = { type: "object", properties: {} }
        const own = yield* configure({ executionType: "external", inputSchema, execution })
        const other = yield* configure({ executionType: "external", inputSchema, execution })
        const mine = told(yield* callTool(bot, own.name)).id
        const victim = told(yield* callTool(bot, other.name)).id
        const key = (yield* request(yield* admin, "GET", `/tools/${own.name}/signing-key`)).body as { key: string }
        const body = '{"output":{"stolen":true}}'
        const headers = { "stoa-signature": resultSignature(key.key, mine, body) }
        const result = (id: string) => `/api/v1/calls/${id}/result`
        const stateOf = (id: string) =>
          Effect.map(request(bot, "GET", `/calls/${id}`), (answer) => (answer.body as { state: string }).state)

        const pieces = fc.constantFrom(...Object.values(spellings), (path: string) => path)
        const join = fc.constantFrom(
          (a: string, b: string) => `${a}?x=${b}`,
          (a: string, b: string) => `${a};x=${b}`,
          (a: string, b: string) => `${a}#${b}`,
          (a: string, b: string) => `${a}/..${b}`,
          (a: string, b: string) => `${a}%2f..${b.replaceAll("/", "%2F")}`,
          (a: string, b: string) => `${a}${b}`,
          (a: string, b: string) => `${a}%3Fx=${b}`,
          (a: string) => a,
        )
        const tries = [
          `/api/v1/%63alls/${victim}/result?x=${result(mine)}`,
          `/API/v1/calls/${victim}/result?x=${result(mine)}`,
          `${result(victim)}?x=${result(mine)}`,
          `${result(mine).replace("/result", "")}/../${victim}/result`,
          ...fc
            .sample(fc.tuple(pieces, pieces, join), { numRuns: 300, seed: 11 })
            .map(([first, second, joined]) => joined(first(result(victim)), second(result(mine)))),
        ]
        for (const target of tries) {
          const answer = yield* ask(() => sendRaw(url, "POST", target, headers, body))
          assert.isTrue([400, 401, 404, 429].includes(answer.status), `${target}: ${answer.status}`)
        }
        assert.deepStrictEqual([yield* stateOf(victim), yield* stateOf(mine)], ["waiting", "waiting"])
        // Its own call it settles, once the guesses are forgotten or from where none were made.
        const settled = yield* ask(() => sendRaw(url, "POST", result(mine), headers, body))
        assert.strictEqual(settled.status, 200)
        assert.strictEqual(yield* stateOf(victim), "waiting")
      }).pipe(Effect.scoped),
    )
  })
