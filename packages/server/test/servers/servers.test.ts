/** MCP servers of the house: real programs and real HTTP, on both databases. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import { Effect, Exit, Fiber } from "effect"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Servers } from "../../src/servers/Servers.ts"
import { webSocketServer } from "../../../tools/test/fixtures/loopback.ts"
import { until } from "../proxied/proxiedKit.ts"
import { ask, Guest, house } from "../house.ts"
import {
  alive,
  callTool,
  changing,
  everything,
  freePort,
  hears,
  hostile,
  offers,
  raw,
  serveEverything,
  serverEvents,
  stub,
  textOf,
} from "./serversKit.ts"

/** A web server that gives every request the same answer. */
const webServer = (status: number, headers: Readonly<Record<string, string>>, body: string) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((_, response) => response.writeHead(status, headers).end(body))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      }),
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))

const refusal = (question: () => Promise<unknown>) =>
  Effect.map(Effect.flip(ask(question)), (error) => error as StoaError)
/** Where the journal ends now. */
const end = Effect.flatMap(Journal, (journal) => journal.end)

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`servers on ${store}`, (it) => {
    it.effect("S4-36 S4-40 X-26 a program is started, and its tools are the house's until it is removed", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const servers = yield* Servers
        const added = yield* ask(() => admin.mcpServers.add({ name: "every", ...everything("stdio") }))
        assert.deepStrictEqual([added.status, added.version, added.held, added.missing], ["connected", "2.0.0", [], []])
        assert.include(added.tools, "echo")
        assert.notProperty(added, "error")
        const echo = servers.tools().find(({ tool }) => tool.definition.name === "every/echo")!
        assert.deepStrictEqual(
          [echo.server, echo.owner, echo.reviewed, echo.tool.definition.source, echo.tool.definition.riskLevel],
          ["every", null, false, "mcp", "medium"],
        )
        assert.deepStrictEqual(
          [echo.tool.definition.timeoutMs, echo.tool.definition.requiresApproval, echo.tool.definition.visibility],
          [30_000, false, "hidden"],
        )
        assert.strictEqual(textOf(yield* callTool("every/echo", { message: "hi" })), "Echo: hi")
        assert.isTrue(servers.allowed("every", "echo"))
        yield* ask(() => admin.mcpServers.remove("every"))
        assert.deepStrictEqual((yield* ask(() => admin.mcpServers.list())).items, [])
        assert.isFalse(servers.allowed("every", "echo"))
        assert.deepStrictEqual(servers.tools(), [])
        assert.strictEqual((yield* refusal(() => admin.mcpServers.get("every"))).status, 404)
        const late = yield* Effect.flip(echo.tool.handler({ message: "hi" }, {} as never))
        assert.match(late.message, /cannot be called now/)
      }),
    )

    it.effect("S1-84 S1-85 servers over streamable HTTP and SSE, by their address alone", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        for (const mode of ["streamableHttp", "sse"] as const) {
          const port = yield* freePort
          yield* serveEverything(mode, port)
          const url = `http://127.0.0.1:${port}/${mode === "sse" ? "sse" : "mcp"}`
          const added = yield* ask(() => admin.mcpServers.add({ name: "far", url }))
          assert.deepStrictEqual([added.status, added.url, added.error], ["connected", url, undefined])
          assert.strictEqual(textOf(yield* callTool("far/echo", { message: mode })), `Echo: ${mode}`)
          yield* ask(() => admin.mcpServers.remove("far"))
        }
      }),
    )

    it.effect("a server at the end of a WebSocket, with its headers", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { headers, url } = yield* webSocketServer("")
        yield* ask(() => admin.secrets.set("SOCKET", { value: "swordfish" }))
        const added = yield* ask(() =>
          admin.mcpServers.add({ name: "socket", url, headers: { authorization: "Bearer ${secret.SOCKET}" } }),
        )
        assert.deepStrictEqual([added.status, added.transport], ["connected", "websocket"])
        assert.strictEqual(textOf(yield* callTool("socket/echo", { a: 1 })), '{"a":1}')
        assert.deepStrictEqual([...new Set(headers)], ["Bearer swordfish"])
        yield* ask(() => admin.mcpServers.remove("socket"))
      }),
    )

    it.effect("a server that cannot be reached: what is wrong and what to do, without words of libraries", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const closed = `http://127.0.0.1:${yield* freePort}/mcp`
        const answers = (status: number, type: string, body: string) =>
          webServer(status, { "content-type": type }, body)
        const node = (script: string) => ({ command: process.execPath, args: ["-e", script] })
        const cases = [
          [{ url: closed }, "address", /^nothing answers at .* Is the server running/],
          [{ url: closed, transport: "sse" as const }, "address", /^nothing answers at .* Is the server running/],
          [
            { url: closed.replace("http", "ws") },
            "address",
            /^there is no WebSocket connection to .* Is the server running/,
          ],
          [{ url: "http://no-such-host.invalid/mcp" }, "address", /^"no-such-host.invalid" has no address/],
          [{ url: yield* answers(200, "text/html", "<p>Hello</p>") }, "protocol", /answers, but does not speak MCP/],
          [{ url: yield* answers(200, "application/json", "{}") }, "protocol", /answers, but does not speak MCP/],
          [{ url: yield* answers(404, "text/plain", "no") }, "address", /\(HTTP 404\)\. Check the path/],
          [
            { url: yield* answers(401, "text/plain", "no") },
            "sign-in",
            /wants a credential.*Bearer \$\{secret\.NAME\}/,
          ],
          [{ url: yield* answers(500, "text/plain", "no") }, "protocol", /an error of its own \(HTTP 500\)/],
          [
            { command: "no-such-program" },
            "program",
            /^the program "no-such-program" was not found.*Give its full path/,
          ],
          [
            node("console.error('KEY is not set')"),
            "program",
            /^the program ended before it answered\. It said: KEY is/,
          ],
          [node(""), "program", /^the program ended before it answered, and said nothing/],
        ] as const
        for (const [spec, step, words] of cases) {
          const wanted = { name: "away", ...spec }
          const shown = yield* ask(() => admin.mcpServers.look(wanted))
          const { error = "", failed } =
            shown.program === undefined
              ? shown
              : yield* ask(() => admin.mcpServers.look(wanted, { confirm: shown.program!.digest }))
          assert.match(error, words)
          assert.strictEqual(failed, step, error)
          assert.notMatch(
            error,
            /Version negotiation|probe|\bE[A-Z]{4,}|fetch failed|POSTing|Zod|SSE error|Connection closed/,
          )
        }
      }),
    )

    it.effect("S1-86 a dead server costs its own tools only, and is found when it comes to life", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const servers = yield* Servers
        const port = yield* freePort
        const dead = yield* ask(() => admin.mcpServers.add({ name: "dead", url: `http://127.0.0.1:${port}/mcp` }))
        assert.deepStrictEqual([dead.status, dead.tools, dead.version], ["error", [], null])
        const plain = `nothing answers at http://127.0.0.1:${port}/mcp. Is the server running, and is the address correct?`
        assert.strictEqual(dead.error, plain)
        // The technical cause is in its log.
        const lines = (yield* ask(() => admin.mcpServers.log("dead"))).items.map(
          ({ level, text }) => `${level}: ${text}`,
        )
        assert.include(lines, `error: ${plain}`)
        assert.match(lines.join("\n"), /^debug: .*ECONNREFUSED/m)
        const live = yield* ask(() => admin.mcpServers.add({ name: "live", ...raw().spec }))
        assert.strictEqual(live.status, "connected")
        assert.strictEqual(textOf(yield* callTool("live/echo", { a: 1 })), '{"a":1}')
        assert.deepStrictEqual([...new Set(servers.tools().map((one) => one.server))], ["live"])
        yield* serveEverything("streamableHttp", port)
        yield* hears("server.connected", "dead")
        const found = yield* ask(() => admin.mcpServers.get("dead"))
        assert.deepStrictEqual([found.status, found.error], ["connected", undefined])
        assert.strictEqual(textOf(yield* callTool("dead/echo", { message: "risen" })), "Echo: risen")
        for (const name of ["dead", "live"]) yield* ask(() => admin.mcpServers.remove(name))
      }),
    )

    it.effect("S1-84 S1-88 X-60 the allow list holds at listing and at calling; what is not there is reported", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const servers = yield* Servers
        const some = yield* ask(() =>
          admin.mcpServers.add({ name: "some", ...raw().spec, allowedTools: ["echo", "fly", "grow"] }),
        )
        assert.deepStrictEqual([some.tools, some.missing], [["echo", "grow"], ["fly"]])
        assert.deepStrictEqual(
          servers.tools().map(({ tool }) => tool.definition.name),
          ["some/echo", "some/grow"],
        )
        assert.deepStrictEqual(
          ["echo", "env", "fly"].map((tool) => servers.allowed("some", tool)),
          [true, false, false],
        )
        const all = yield* ask(() => admin.mcpServers.add({ name: "all", ...raw().spec, allowedTools: [] }))
        assert.isAbove(all.tools.length, 10)
        assert.deepStrictEqual(all.missing, [])
        for (const name of ["some", "all"]) yield* ask(() => admin.mcpServers.remove(name))
      }),
    )

    it.effect(
      "S1-87 X-54 equal tools of two servers are two tools; a taken name is refused; only a hint raises risk",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const servers = yield* Servers
          yield* ask(() => admin.mcpServers.add({ name: "one", ...raw().spec }))
          yield* ask(() => admin.mcpServers.add({ name: "two", ...raw().spec }))
          const names = servers.tools().map(({ tool }) => tool.definition.name)
          assert.includeMembers(names, ["one/echo", "two/echo"])
          assert.deepStrictEqual(names, names.toSorted())
          const again = yield* refusal(() => admin.mcpServers.add({ name: "ONE", ...raw().spec }))
          assert.deepStrictEqual([again.status, again.tag], [409, "NameTaken"])
          const riskOf = (name: string) =>
            servers.tools().find(({ tool }) => tool.definition.name === name)!.tool.definition.riskLevel
          assert.deepStrictEqual([riskOf("one/nested"), riskOf("one/echo")], ["high", "medium"])
          for (const name of ["one", "two"]) yield* ask(() => admin.mcpServers.remove(name))
        }),
    )

    it.effect("G-31 a tool that changes is held, shown and not callable until somebody accepts it", () =>
      Effect.gen(function* () {
        const { admin, adminToken, raw } = yield* Guest
        const servers = yield* Servers
        const server = changing({ mail: "sends mail", note: "takes a note" })
        const first = yield* ask(() => admin.mcpServers.add({ name: "post", ...server.spec }))
        assert.deepStrictEqual([first.tools, first.held], [["mail", "note", "reload"], []])
        let changes = 0
        yield* servers.onChange(() => void changes++)
        const mail = servers.tools().find(({ tool }) => tool.definition.name === "post/mail")!
        server.write({ mail: "sends mail, and a copy to me", note: "takes a note" })
        yield* callTool("post/reload")
        yield* offers((names) => !names.includes("post/mail"))
        assert.isAbove(changes, 0)
        const held = yield* ask(() => admin.mcpServers.get("post"))
        assert.deepStrictEqual([held.tools, held.held], [["note", "reload"], ["mail"]])
        assert.isFalse(servers.allowed("post", "mail"))
        assert.match((yield* Effect.flip(mail.tool.handler({}, {} as never))).message, /waits for review/)
        assert.strictEqual(textOf(yield* callTool("post/note")), "note")
        const [pinned] = (yield* ask(() => admin.mcpServers.tools("post"))).items
        assert.deepInclude(pinned, { name: "mail", state: "held" })
        assert.deepInclude(pinned?.definition, { description: "sends mail" })
        assert.deepInclude(pinned?.held?.definition, { description: "sends mail, and a copy to me" })
        const digest = pinned!.held!.digest
        const other = yield* refusal(() => admin.mcpServers.accept("post", "mail", { digest: pinned!.digest }))
        assert.deepStrictEqual([other.status, other.tag], [409, "WrongState"])
        assert.match(other.message, /changed again/)
        // Whoever does not say what was looked at has looked at nothing.
        const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" }
        const path = "/api/v1/mcp-servers/post/tools/mail/accept"
        for (const body of ["{}", '{"digest":"0000"}', JSON.stringify({ digest })]) {
          const answer = yield* ask(() => raw(path, { method: "POST", headers, body }))
          assert.strictEqual(answer.status, 400)
          assert.match(
            yield* ask(() => answer.text()),
            /"path":"query\.digest","message":"[^"]*mcp-servers\/:server\/tools/,
          )
        }
        assert.deepStrictEqual((yield* ask(() => admin.mcpServers.get("post"))).held, ["mail"])
        const accepted = yield* ask(() => admin.mcpServers.accept("post", "mail", { digest }))
        assert.deepStrictEqual([accepted.tools, accepted.held], [["mail", "note", "reload"], []])
        const now = servers.tools().find(({ tool }) => tool.definition.name === "post/mail")!
        assert.strictEqual(now.tool.definition.description, "sends mail, and a copy to me")
        assert.strictEqual(textOf(yield* callTool("post/mail")), "mail")
        const twice = yield* refusal(() => admin.mcpServers.accept("post", "mail", { digest }))
        assert.deepStrictEqual([twice.status, twice.tag], [409, "WrongState"])
        // What was accepted before is another thing by now; and what says again what was accepted needs no review.
        server.write({ mail: "sends mail", note: "takes a note" })
        yield* callTool("post/reload")
        yield* offers((names) => !names.includes("post/mail"))
        server.write({ mail: "sends mail, and a copy to me", note: "takes a note" })
        yield* callTool("post/reload")
        yield* offers((names) => names.includes("post/mail"))
        const kinds = (yield* serverEvents).flatMap((event) =>
          event.kind === "server.tool-held" || event.kind === "server.tool-accepted"
            ? [[event.kind, event.body.tool]]
            : [],
        )
        assert.deepStrictEqual(kinds, [
          ["server.tool-held", "mail"],
          ["server.tool-accepted", "mail"],
          ["server.tool-held", "mail"],
        ])
        yield* ask(() => admin.mcpServers.remove("post"))
      }),
    )

    it.effect("G-31 a server whose changes are trusted changes at once; a new tool is not a changed one", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const servers = yield* Servers
        const server = changing({ mail: "sends mail" })
        yield* ask(() => admin.mcpServers.add({ name: "trusted", ...server.spec, review: "trust" }))
        server.write({ mail: "sends two mails", fax: "sends a fax" })
        yield* callTool("trusted/reload")
        yield* offers((names) => names.includes("trusted/fax"))
        const mail = servers.tools().find(({ tool }) => tool.definition.name === "trusted/mail")!
        assert.strictEqual(mail.tool.definition.description, "sends two mails")
        const state = yield* ask(() => admin.mcpServers.get("trusted"))
        assert.deepStrictEqual([state.tools, state.held, state.review], [["fax", "mail", "reload"], [], "trust"])
        yield* ask(() => admin.mcpServers.remove("trusted"))
      }),
    )

    it.effect("a program that is killed is an error, and is started again; its tools stay", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const server = raw()
        yield* ask(() => admin.mcpServers.add({ name: "mortal", ...server.spec }))
        const from = yield* end
        yield* Effect.flip(callTool("mortal/die"))
        const lost = yield* hears("server.disconnected", "mortal", from)
        yield* hears("server.connected", "mortal", lost.cursor)
        assert.strictEqual(server.pids().length, 2)
        assert.strictEqual(textOf(yield* callTool("mortal/echo", { n: 2 })), '{"n":2}')
        assert.strictEqual((yield* ask(() => admin.mcpServers.get("mortal"))).status, "connected")
        yield* ask(() => admin.mcpServers.remove("mortal"))
        assert.deepStrictEqual(server.pids().filter(alive), [])
      }),
    )

    it.effect("G-12 a paused server is disconnected, its program ended, and comes back when the pause is lifted", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const servers = yield* Servers
        const server = raw()
        yield* ask(() => admin.mcpServers.add({ name: "halt", ...server.spec }))
        const echo = servers.tools().find(({ tool }) => tool.definition.name === "halt/echo")!
        const hanging = yield* Effect.forkChild(callTool("halt/hang"))
        yield* callTool("halt/echo")
        yield* ask(() => admin.pauses.set({ subject: "servers/Halt" }))
        assert.isTrue(Exit.isFailure(yield* Fiber.await(hanging)))
        yield* until(() => !server.pids().some(alive))
        const stopped = yield* ask(() => admin.mcpServers.get("halt"))
        assert.deepStrictEqual([stopped.status, stopped.tools], ["disconnected", []])
        assert.isFalse(servers.allowed("halt", "echo"))
        yield* Effect.flip(echo.tool.handler({}, {} as never))
        yield* ask(() => admin.pauses.lift("servers/halt"))
        yield* offers((names) => names.includes("halt/echo"))
        assert.strictEqual(textOf(yield* callTool("halt/echo", { back: true })), '{"back":true}')
        yield* ask(() => admin.mcpServers.remove("halt"))
      }),
    )

    it.effect("callers share a connection and nothing else: each gets its own answer, and no server gets a token", () =>
      Effect.gen(function* () {
        const { admin, adminToken } = yield* Guest
        const server = yield* stub()
        yield* ask(() => admin.mcpServers.add({ name: "shared", url: server.url }))
        const said = yield* Effect.forEach(
          Array.from({ length: 40 }, (_, n) => n),
          (n) => Effect.map(callTool("shared/echo", { n }), (result) => JSON.parse(textOf(result)) as unknown),
          { concurrency: "unbounded" },
        )
        const params = said.map((one) => (one as { params: { arguments: unknown; _meta: object } }).params)
        assert.deepStrictEqual(
          params.map((one) => one.arguments),
          params.map((_, n) => ({ n })),
        )
        const metas = new Set(params.flatMap((one) => Object.keys(one._meta)))
        assert.deepStrictEqual([...metas].toSorted(), ["progressToken", "stoa/idempotencyKey", "stoa/line"])
        assert.notInclude(JSON.stringify(server.heard), adminToken)
        assert.isTrue(server.heard.every(({ headers }) => headers.authorization === undefined))
        yield* ask(() => admin.mcpServers.remove("shared"))
      }),
    )

    it.effect("a hostile server breaks nothing but itself", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        for (const seed of [1, 2, 3]) {
          const added = yield* ask(() => admin.mcpServers.add({ name: "hostile", ...hostile(seed) }))
          assert.strictEqual(added.status, "connected")
          yield* Effect.exit(callTool("hostile/echo"))
          yield* ask(() => admin.mcpServers.remove("hostile"))
        }
        assert.strictEqual((yield* ask(() => admin.principals.me())).name, "admin")
      }),
    )
  })
