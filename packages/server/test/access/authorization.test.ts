/**
 * The authorization matrix: every route of the contract and beside it, every method of MCP and every tool of the house's
 * toolsets, tried by every standing in a running house. What is observed is what docs/operations/authorization.md says, row by row; what
 * has no row there, or is no longer there, fails. `STOA_MATRIX=write` writes the page anew.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, layer } from "@effect/vitest"
import { Api, type Principal, toolNames } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { times } from "../../../../test/long.ts"
import { rightsChanged } from "../../src/access/rights/Rights.ts"
import { Catalogue } from "../../src/calls/catalogue/Catalogue.ts"
import { newMethods, oldMethods } from "../../src/doors/mcp/eras/methods.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { type Answer, envelope, initialized, newRequest, oldRequest } from "../mcp/mcpKit.ts"
import { pageSamples, type Sample, samples, type World } from "./authorizationSamples.ts"

const page = new URL("../../../../docs/operations/authorization.md", import.meta.url)
const writes = process.env["STOA_MATRIX"] === "write"

/** The first of them have no token that works. */
const strangers = 4

interface Standing {
  readonly name: string
  readonly token: string | undefined
}
type Row = ReadonlyArray<string>

/** Everything the page must have a row of, in its order. */
const routes: Array<{ readonly name: string; readonly method: string; readonly path: string }> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    routes.push({ name: `${group.identifier}.${endpoint.identifier}`, method: endpoint.method, path: endpoint.path })
  },
})
/** Those that pages and links add to the router, as they are written: a new one has to be tried as well. */
const doors = fileURLToPath(new URL("../../src/doors", import.meta.url))
const added = globSync("**/*.ts", { cwd: doors })
  .toSorted()
  .flatMap((file) => [
    ...readFileSync(`${doors}/${file}`, "utf8").matchAll(/HttpRouter\s*\.add\(\s*"([A-Z*]+)",\s*"([^"]+)"/g),
  ])
const besides = [["", "GET", "/openapi.json"], ...added].map(([, method = "", path = ""]) => ({
  name: `${method} ${path}`,
  method: method === "*" ? "GET" : method,
  path: path.replace("/*", "/nothing"),
}))
const methods = [...new Set(["initialize", ...newMethods.keys(), ...oldMethods.keys(), "subscriptions/listen"])]

/** Whoever guesses at tokens is told to wait after a while; that they are refused is the same. */
const cellOf = (status: number): string => (status === 429 ? "401" : String(status))
const said = ({ body, status }: Answer): string =>
  status === 401 || body?.error === undefined ? cellOf(status) : String(body.error.code)

/** What each method is asked with; of a thing that is nobody's. */
const asked: Readonly<Record<string, Record<string, unknown>>> = {
  "tools/call": { name: "whoami", arguments: {} },
  "prompts/get": { name: "none" },
  "completion/complete": { ref: { type: "ref/prompt", name: "none" }, argument: { name: "a", value: "" } },
  "logging/setLevel": { level: "info" },
  "subscriptions/listen": { notifications: { toolsListChanged: true } },
  "resources/read": { uri: "stoa://nothing" },
  "resources/subscribe": { uri: "stoa://nothing" },
  "resources/unsubscribe": { uri: "stoa://nothing" },
  "tasks/get": { taskId: "none" },
  "tasks/update": { taskId: "none", inputResponses: {} },
  "tasks/cancel": { taskId: "none" },
}
const paramsOf = (method: string): Record<string, unknown> => asked[method] ?? {}
const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } }

/** Tools that wait, unless they are told not to. */
const patient: ReadonlySet<string> = new Set(["wait_for_messages"])

const sections = ["Routes", "Pages and links", "Methods of MCP", "Tools"] as const
const readTables = (text: string): ReadonlyMap<string, ReadonlyMap<string, Row>> =>
  new Map(
    sections.map((section) => {
      const part = text.split(`## ${section}\n`)[1]?.split("\n## ")[0] ?? ""
      const rows = part
        .split("\n")
        .filter((line) => line.startsWith("|") && !/^\|[\s|:-]+\|$/.test(line))
        .map((line) =>
          line
            .split("|")
            .slice(1, -1)
            .map((cell) => cell.trim().replaceAll("`", "")),
        )
      return [section, new Map(rows.map(([first = "", ...rest]) => [first, rest]))]
    }),
  )

const intro = `# Who may do what

A test tries every route, page, MCP method and tool below in a running house and writes this page (\`packages/server/test/access/authorization.test.ts\`; \`STOA_MATRIX=write\` rewrites it). Each cell shows the answer that a caller gets: an HTTP status, a JSON-RPC error code, \`in\` (the tool accepts the call) or \`refused\`. The requested object belongs to somebody else, or is the private space \`harbour\`, of which only the caller \`member\` is a member. A link acts as the person it was made for, whoever opens it.

| standing      | is                                                                   |
| ------------- | -------------------------------------------------------------------- |
| nobody        | no token                                                             |
| wrong         | a token the house does not know                                      |
| expired       | a token that has ended                                               |
| retired       | a token of somebody who has left                                     |
| service       | a new service: role guest, context crossroads                        |
| guest         | an agent with the role guest                                         |
| agent         | a new agent with a wallet: role agent-standard                       |
| outside       | the same with a token in the context crossroads                      |
| paused        | an agent that is paused                                              |
| orchestrator  | an agent with the role orchestrator                                  |
| person        | a new person: role member                                            |
| member        | the same, in the space \`harbour\`                                     |
| admin-outside | an admin with a token in the context crossroads                      |
| admin         | an admin, context internal                                           |
`

/** Nobody thinks with it: its agents are held. */
const models = { demo: { provider: "scripted", rules: "rules.json" } }

// Doors and rights are the same code on both databases: on Postgres it is tried by `npm run test:long`.
for (const store of ["sqlite", "postgres"].slice(0, times(1, 2)) as ReadonlyArray<"sqlite" | "postgres">)
  layer(house({ store, config: { ...roomy, models, egress: { allow: ["127.0.0.1"] } } }), {
    excludeTestServices: true,
    timeout: 600_000,
  })(`the authorization matrix on ${store}`, (it) => {
    let count = 0
    const fresh = (word: string) => `${word}-${++count}`

    const standings = Effect.gen(function* () {
      const { admin } = yield* Guest
      const sql = yield* SqlClient.SqlClient
      const toolsets = Object.keys(toolNames) as Array<keyof typeof toolNames>
      const make = Effect.fnUntraced(function* (name: string, kind: Principal["kind"], over: object = {}, token = {}) {
        // Without a wallet an agent is offered none of the tools of engrams.
        const wallet = kind === "agent" ? { wallet: `0x${fresh("a")}` } : {}
        const whole = { kind, name: fresh(name), toolsets, ...wallet, ...over }
        const principal = yield* ask(() => admin.principals.add(whole))
        const made = yield* ask(() => admin.tokens.add({ principal: principal.id, ...token }))
        return { name, id: principal.id, principal: principal.name, token: made.token, tokenId: made.id }
      })
      const expired = yield* make("expired", "agent")
      yield* sql`UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${expired.tokenId}`
      yield* (yield* Journal).transact(rightsChanged)
      const retired = yield* make("retired", "person")
      yield* ask(() => admin.principals.retire(retired.id))
      const paused = yield* make("paused", "agent")
      yield* ask(() => admin.pauses.set({ subject: `agents/${paused.principal}` }))
      const member = yield* make("member", "person")
      const room = yield* ask(() => admin.spaces.add({ name: fresh("harbour"), kind: "private", members: [member.id] }))
      const all: ReadonlyArray<Standing> = [
        { name: "nobody", token: undefined },
        { name: "wrong", token: "stoa_nobody" },
        expired,
        retired,
        yield* make("service", "service"),
        yield* make("guest", "agent", { roles: ["guest"] }),
        yield* make("agent", "agent"),
        yield* make("outside", "agent", {}, { context: "crossroads" }),
        paused,
        yield* make("orchestrator", "agent", { roles: ["orchestrator"] }),
        yield* make("person", "person"),
        member,
        yield* make("admin-outside", "person", { roles: ["admin"] }, { context: "crossroads" }),
        yield* make("admin", "person", { roles: ["admin"] }),
      ]
      return { all, room: room.id }
    })

    it.effect(
      "S2-05 S2-06 X-27 X-30 X-53 every route, method and tool answers every standing as the page says",
      () =>
        Effect.gen(function* () {
          const { admin, as, raw, url } = yield* Guest
          const { all, room } = yield* standings
          const world: World = {
            admin,
            fresh,
            room,
            agent: async () => {
              const { id, name } = await admin.principals.add({ kind: "agent", name: fresh("other") })
              return { id, name, client: as((await admin.tokens.add({ principal: id })).token) }
            },
          }
          const tables = [
            { section: "Routes", routes, samples },
            { section: "Pages and links", routes: besides, samples: pageSamples },
          ] as const
          const missing = tables.flatMap(({ routes, samples }) =>
            routes.filter(({ name }) => samples[name] === undefined).map(({ name }) => name),
          )
          assert.deepStrictEqual(missing, [], "routes that nobody tries: give each a sample")

          const answerOf = async (
            method: string,
            path: string,
            token: string | undefined,
            body: unknown,
            more: Readonly<Record<string, string>> = {},
          ) => {
            const stop = new AbortController()
            const headers = {
              ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
              ...(body === undefined ? {} : { "content-type": "application/json" }),
              ...more,
            }
            const init = { method, headers, signal: stop.signal }
            const answer = await raw(path, body === undefined ? init : { ...init, body: JSON.stringify(body) })
            // Streams and copies do not end by themselves, or are long.
            stop.abort()
            return cellOf(answer.status)
          }
          const seen = new Map<string, Map<string, Row>>(sections.map((section) => [section, new Map()]))
          for (const { routes, samples, section } of tables)
            for (const { method, name, path } of routes) {
              const attempt = ({ body, params = {}, query }: Sample, token: string | undefined) => {
                const filled = path.replace(/:([A-Za-z]+)/g, (_, key: string) => encodeURIComponent(params[key]!))
                const answer = answerOf(method, query === undefined ? filled : `${filled}?${query}`, token, body)
                // It tells a stranger that nobody is signed in, and whoever guesses too often to wait.
                return name === "session.look" ? answer.then((cell) => (cell === "401" ? "200" : cell)) : answer
              }
              const first: Sample = yield* ask(() => samples[name]!(world))
              // Looking changes nothing, and whoever has no good token changes nothing of the API either.
              const isShared = (at: number) => method === "GET" || (section === "Routes" && at < strangers)
              const cells = yield* ask(() =>
                Promise.all(
                  all.map(async ({ token }, at) => attempt(isShared(at) ? first : await samples[name]!(world), token)),
                ),
              )
              seen.get(section)!.set(name, cells)
            }

          const mcp = `${url}/mcp`
          const tryMethod = async (method: string, token: string | undefined): Promise<string> => {
            const params = paramsOf(method)
            if (method === "subscriptions/listen") {
              const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope() } }
              const accept = "application/json, text/event-stream"
              const headers = { accept, "mcp-protocol-version": "2026-07-28", "mcp-method": method }
              return answerOf("POST", "/mcp", token, message, headers)
            }
            if (newMethods.has(method)) return said(await newRequest(mcp, token, method, params, { capabilities }))
            const session = token === undefined ? null : await initialized(mcp, token)
            if (session === null) return said(await oldRequest(mcp, token, "ping"))
            return method === "initialize" ? "200" : said(await oldRequest(mcp, token, method, params, session))
          }
          for (const method of methods) {
            const cells = yield* ask(() => Promise.all(all.map(({ token }) => tryMethod(method, token))))
            seen.get("Methods of MCP")!.set(method, cells)
          }

          const { serves } = yield* Catalogue
          for (const [set, names] of Object.entries(toolNames) as Array<
            [keyof typeof toolNames, ReadonlyArray<string>]
          >)
            for (const name of names) {
              if (!(yield* serves(set, name))) continue
              const call = { name, arguments: patient.has(name) ? { seconds: 0 } : {} }
              const attempt = async ({ token }: Standing) => {
                const answer = await newRequest(`${url}/mcp/${set}`, token, "tools/call", call)
                const refused = answer.body?.result?.structuredContent?.error?.tag === "ToolAuthorizationError"
                if (cellOf(answer.status) === "401") return "401"
                if (answer.body?.error !== undefined) return String(answer.body.error.code)
                return refused || /not authorized|paused/.test(answer.text) ? "refused" : "in"
              }
              const cells = yield* ask(() => Promise.all(all.map(attempt)))
              seen.get("Tools")!.set(`${set}/${name}`, cells)
            }

          const header = all.map(({ name }) => name)
          if (writes && store === "sqlite") {
            const table = (section: (typeof sections)[number]) =>
              [
                `## ${section}\n`,
                `| what | ${header.join(" | ")} |`,
                `| --- |${header.map(() => " --- |").join("")}`,
                ...[...seen.get(section)!].map(([name, cells]) => `| \`${name}\` | ${cells.join(" | ")} |`),
              ].join("\n")
            writeFileSync(page, `${intro}\n${sections.map(table).join("\n\n")}\n`)
            return
          }
          const kept = readTables(readFileSync(page, "utf8"))
          for (const section of sections) {
            const rows = kept.get(section)!
            assert.deepStrictEqual(rows.get("what"), header, `${section}: the standings`)
            const names = [...rows.keys()].filter((name) => name !== "what")
            assert.deepStrictEqual(names, [...seen.get(section)!.keys()], `${section}: a row for each, and no other`)
            for (const [name, cells] of seen.get(section)!)
              assert.deepStrictEqual(
                Object.fromEntries(cells.map((cell, at) => [header[at], cell])),
                Object.fromEntries(rows.get(name)!.map((cell, at) => [header[at], cell])),
                `${section}: ${name}`,
              )
          }
        }),
      300_000,
    )
  })
