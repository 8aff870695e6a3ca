/** What is kept of MCP servers: over restarts, under the key, in confidence, by the file, and by whom. */
import { type LookupFunction, Socket } from "node:net"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it as test, layer } from "@effect/vitest"
import type { PrincipalId } from "@stoa/contract"
import type { StoaError } from "@stoa/sdk"
import { defaultMCPPorts, Redactor, Resolver } from "@stoa/tools"
import { Context, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Journal } from "../../src/store/journal/Journal.ts"
import { stayConnected } from "../../src/servers/connections/reconnect.ts"
import { Servers } from "../../src/servers/Servers.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { opened, places } from "../stores.ts"
import { alive, callTool, changing, hears, offers, raw, room, serverEvents, stub, textOf } from "./serversKit.ts"

const refusal = (question: () => Promise<unknown>) =>
  Effect.map(Effect.flip(ask(question)), (error) => error as StoaError)
const end = Effect.flatMap(Journal, (journal) => journal.end)

interface Connecting {
  readonly host?: string
  readonly lookup?: LookupFunction
}

/** Sockets look up where they would go, and go nowhere, whatever is wrong with us. */
const noSocket = Effect.acquireRelease(
  Effect.sync(() => {
    const before = Object.getOwnPropertyDescriptor(Socket.prototype, "connect")!
    Socket.prototype.connect = function (this: Socket, ...given: ReadonlyArray<unknown>) {
      const options = (Array.isArray(given[0]) ? given[0][0] : given[0]) as Connecting
      const opened = () => this.destroy(new Error("a socket was opened"))
      if (options.lookup === undefined) return opened()
      options.lookup(
        options.host ?? "",
        { all: true },
        (error) => void (error === null ? opened() : this.destroy(error)),
      )
      return this
    }
    return before
  }),
  (before) => Effect.sync(() => void Object.defineProperty(Socket.prototype, "connect", before)),
)

test.effect("addresses that nobody may open stay shut, by whatever name they go", () =>
  Effect.gen(function* () {
    yield* noSocket
    const said: Array<string> = []
    const resolve = () => Effect.succeed(["169.254.169.254"])
    for (const url of ["http://169.254.169.254/mcp", "http://[fe80::1]/mcp", "http://metadata.example/mcp"])
      for (const transport of ["http", "websocket"] as const) {
        const spec = { url: transport === "http" ? url : url.replace("http", "ws"), transport }
        const told = yield* Deferred.make<string>()
        const wanted = {
          name: "metadata",
          spec,
          reveal: () => Effect.never,
          redactor: new Redactor(),
          eras: defaultMCPPorts().eras,
        }
        const ears = {
          connected: () => Effect.void,
          listed: () => Effect.void,
          changed: () => Effect.void,
          lost: (why: string) => Effect.asVoid(Deferred.succeed(told, why)),
          said: () => Effect.void,
        }
        yield* Effect.forkScoped(Effect.provideService(stayConnected(wanted, ears), Resolver, { resolve }))
        said.push(yield* Deferred.await(told))
      }
    for (const why of said) assert.match(why, /is a (link-local|metadata) address, which tools may not reach/)
    assert.strictEqual(said.length, 6)
  }).pipe(Effect.scoped, TestClock.withLive),
)

test.effect("who does not answer in ten seconds is an error, kept, and tried on", () =>
  Effect.gen(function* () {
    const store = yield* places[0]![1]
    const servers = Context.get(yield* opened(room(store)), Servers)
    const adding = yield* Effect.forkScoped(servers.add({ name: "deaf", ...raw("deaf").spec }))
    while (adding.pollUnsafe() === undefined) {
      yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      yield* TestClock.adjust("1 second")
    }
    const { server } = yield* Fiber.join(adding)
    assert.deepStrictEqual([server.status, server.tools], ["error", []])
    assert.isString(server.error)
    assert.strictEqual((yield* servers.get("deaf")).status, "error")
  }).pipe(Effect.scoped),
)

describe.each(places)("a restart on %s", (_name, place) => {
  test.effect(
    "S1-86 G-31 keeps servers and what was pinned of their tools; programs end with the house",
    () =>
      Effect.gen(function* () {
        const store = yield* place
        const server = changing({ mail: "sends mail", note: "takes a note" })
        const quiet = raw()
        const first = yield* Scope.make()
        const before = yield* Scope.provide(opened(room(store)), first)
        yield* Effect.provideContext(
          Effect.gen(function* () {
            const { add } = yield* Servers
            assert.strictEqual((yield* add({ name: "post", ...server.spec })).server.status, "connected")
            assert.strictEqual((yield* add({ name: "quiet", ...quiet.spec })).server.status, "connected")
          }),
          before,
        )
        assert.strictEqual(quiet.pids().filter(alive).length, 1)
        yield* Scope.close(first, Exit.void)
        assert.deepStrictEqual(quiet.pids().filter(alive), [])
        server.write({ mail: "sends mail to me too", note: "takes a note" })
        const after = yield* opened(room(store))
        yield* Effect.provideContext(
          Effect.gen(function* () {
            const servers = yield* Servers
            // Nothing waits for a server: it is there, and not there yet.
            assert.notStrictEqual((yield* servers.get("post")).status, "connected")
            yield* offers((names) => names.includes("post/note") && names.includes("quiet/echo"))
            const { held, tools } = yield* servers.get("post")
            assert.deepStrictEqual([tools, held], [["note", "reload"], ["mail"]])
            const [mail] = (yield* servers.pinned("post")).items
            const accepted = yield* servers.accept("post", "mail", mail!.held!.digest)
            assert.deepStrictEqual(accepted.tools, ["mail", "note", "reload"])
          }),
          after,
        )
      }).pipe(Effect.scoped),
    60_000,
  )

  test.effect(
    "under another key a server is kept, shown and left alone, and says why",
    () =>
      Effect.gen(function* () {
        const store = yield* place
        const first = yield* Scope.make()
        const before = yield* Scope.provide(opened(room(store)), first)
        yield* Effect.provideContext(
          Effect.flatMap(Servers, ({ add }) => add({ name: "sealed", ...raw().spec })),
          before,
        )
        yield* Scope.close(first, Exit.void)
        const servers = Context.get(yield* opened(room(store, "another key")), Servers)
        const { error, status, transport } = yield* servers.get("sealed")
        assert.deepStrictEqual([status, transport], ["error", "stdio"])
        assert.match(error!, /encrypted with another key/)
        yield* servers.remove("sealed")
        assert.deepStrictEqual((yield* servers.list).items, [])
      }).pipe(Effect.scoped),
    60_000,
  )
})

/** Everything the house has written into its folder. */
const written = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "secret.key")
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n")

/** What goes to stderr meanwhile. */
const spoken = Effect.acquireRelease(
  Effect.sync(() => {
    const said: Array<string> = []
    const write = process.stderr.write.bind(process.stderr)
    process.stderr.write = (chunk: string | Uint8Array) => said.push(String(chunk)) > 0
    return { said, back: () => void (process.stderr.write = write) }
  }),
  ({ back }) => Effect.sync(back),
)

const write = Effect.fnUntraced(function* (content: object) {
  const { configFile } = yield* Guest
  writeFileSync(configFile, JSON.stringify({ ...roomy, ...content }))
})
const reload = Effect.flatMap(Guest, ({ admin }) => ask(() => admin.house.reload()))

layer(house({ store: "sqlite", log: "debug", env: { STOA_LOG: "debug", CRM_REGION: "a-quiet-region" } }), {
  excludeTestServices: true,
  timeout: 60_000,
})("what a server is told in confidence", (it) => {
  it.effect("S1-85 X-58 secrets and variables in headers reach the server, and nothing else", () =>
    Effect.gen(function* () {
      const { admin, adminToken, folder, raw: request } = yield* Guest
      const server = yield* stub()
      const { said } = yield* spoken
      const [secret, plain] = ["swordfish-1f2e3d4c", "plain-9a8b7c6d5e"]
      yield* write({ env: ["CRM_REGION"] })
      yield* reload
      yield* ask(() => admin.secrets.set("CRM", { value: secret }))
      const headers = {
        Authorization: "Bearer ${secret.CRM}",
        "X-Region": "${env.CRM_REGION}",
        "x-api-key": plain,
      }
      const added = yield* ask(() => admin.mcpServers.add({ name: "crm", url: `${server.url}?key=${plain}`, headers }))
      assert.strictEqual(added.status, "connected")
      const result = yield* callTool("crm/echo", { a: 1 })
      for (const { headers: sent } of server.heard) {
        assert.strictEqual(sent.authorization, `Bearer ${secret}`)
        assert.strictEqual(sent["x-region"], "a-quiet-region")
        assert.strictEqual(sent["x-api-key"], plain)
      }
      // A new value is sent from then on.
      yield* ask(() => admin.secrets.set("CRM", { value: `${secret}-next` }))
      yield* callTool("crm/echo")
      assert.strictEqual(server.heard.at(-1)?.headers.authorization, `Bearer ${secret}-next`)
      // And without it nothing is sent.
      yield* ask(() => admin.secrets.remove("CRM"))
      const asked = server.heard.length
      const refused = yield* Effect.flip(callTool("crm/echo"))
      assert.match(refused.message, /secret "CRM"/)
      assert.strictEqual(server.heard.length, asked)
      const bearer = { headers: { authorization: `Bearer ${adminToken}` } }
      const faces = yield* ask(() =>
        Promise.all(
          ["mcp-servers", "mcp-servers/crm", "audit?limit=100", "doctor"].map(async (path) =>
            (await request(`/api/v1/${path}`, bearer)).text(),
          ),
        ),
      )
      const sinks = {
        added,
        result,
        refused,
        faces,
        events: yield* serverEvents,
        folder: written(folder),
        stderr: said,
      }
      for (const [name, sink] of Object.entries(sinks))
        for (const value of [secret, plain, "a-quiet-region"])
          assert.notInclude(JSON.stringify(sink), value, `${value} in ${name}`)
      assert.include(textOf(result), "[secret]")
      assert.isNotEmpty(said)
      yield* ask(() => admin.mcpServers.remove("crm"))
    }),
  )

  it.effect("a secret or a variable that is not there is said, and nothing is started", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const server = raw()
      const table = [
        ["${secret.NOBODY}", /secret "NOBODY"/],
        ["${env.HOME}", /may not read the environment variable HOME/],
      ] as const
      for (const [value, why] of table) {
        const added = yield* ask(() => admin.mcpServers.add({ name: "poor", ...server.spec, env: { TOKEN: value } }))
        assert.strictEqual(added.status, "error")
        assert.match(added.error!, why)
        yield* ask(() => admin.mcpServers.remove("poor"))
      }
      assert.throws(() => server.heard())
    }),
  )

  it.effect("what a server logs goes to the log without what it was told", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const { said } = yield* spoken
      yield* ask(() => admin.secrets.set("TALKER", { value: "swordfish-of-a-talker" }))
      const { spec } = changing({ tell: "tells" })
      yield* ask(() => admin.mcpServers.add({ name: "talker", ...spec, env: { TOKEN: "${secret.TALKER}" } }))
      yield* callTool("talker/tell")
      assert.include(said.join(""), "my token is [secret]")
      assert.notInclude(said.join(""), "swordfish-of-a-talker")
      yield* ask(() => admin.mcpServers.remove("talker"))
    }),
  )

  it.effect("a program that dies is started again with the secrets of that time", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const program = raw()
      const given = () => readFileSync(`/proc/${program.pids().at(-1)}/environ`, "utf8").split("\0")
      yield* ask(() => admin.secrets.set("ROTATED", { value: "the old value" }))
      yield* ask(() => admin.mcpServers.add({ name: "renewed", ...program.spec, env: { W: "${secret.ROTATED}" } }))
      assert.include(given(), "W=the old value")
      yield* ask(() => admin.secrets.set("ROTATED", { value: "quite another" }))
      const from = yield* end
      yield* Effect.flip(callTool("renewed/die"))
      yield* hears("server.connected", "renewed", from)
      assert.include(given(), "W=quite another")
      const said = textOf(yield* callTool("renewed/env"))
      assert.include(said, '"W":"[secret]"')
      yield* ask(() => admin.mcpServers.remove("renewed"))
    }),
  )

  it.effect("a program gets a small environment, what it was given, and nothing of the house's", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      yield* ask(() => admin.secrets.set("PROGRAM", { value: "swordfish-for-a-program" }))
      const env = { GIVEN: "yes", TOKEN: "${secret.PROGRAM}" }
      yield* ask(() => admin.mcpServers.add({ name: "poor", ...raw().spec, env }))
      const seen = JSON.parse(textOf(yield* callTool("poor/env"))) as Record<string, string>
      assert.deepInclude(seen, { GIVEN: "yes", TOKEN: "[secret]" })
      assert.deepStrictEqual(
        Object.keys(seen).filter((name) => /^(STOA|CRM|VITEST|DATABASE)/.test(name)),
        [],
      )
      yield* ask(() => admin.mcpServers.remove("poor"))
    }),
  )

  it.effect("a redirect leads nowhere but to the same server, and takes nothing along", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const secret = "swordfish-not-for-others"
      const other = yield* stub()
      const away = yield* stub(() => other.url)
      const headers = { authorization: secret }
      const lost = yield* ask(() => admin.mcpServers.add({ name: "away", url: away.url, headers, transport: "http" }))
      assert.strictEqual(lost.status, "error")
      assert.match(lost.error!, /redirects to another origin/)
      assert.deepStrictEqual(other.heard, [])
      const near = yield* stub((url) => (url === "/" ? "/mcp" : undefined))
      const found = yield* ask(() => admin.mcpServers.add({ name: "near", url: new URL("/", near.url).href, headers }))
      assert.strictEqual(found.status, "connected")
      for (const name of ["away", "near"]) yield* ask(() => admin.mcpServers.remove(name))
    }),
  )
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `servers and their owners on ${store}`,
    (it) => {
      it.effect("X-58 the file's servers are added, changed and retired with it, and are read-only elsewhere", () =>
        Effect.gen(function* () {
          const { admin, configFile } = yield* Guest
          const servers = yield* Servers
          const server = raw()
          const mcpServers = { files: { ...server.spec, allowedTools: ["echo"] } }
          yield* write({ mcpServers })
          assert.deepStrictEqual((yield* reload).added, ["mcpServers.files"])
          yield* offers((names) => names.includes("files/echo"))
          const state = yield* ask(() => admin.mcpServers.get("files"))
          assert.deepStrictEqual([state.source, state.owner, state.tools], ["file", null, ["echo"]])
          const error = yield* refusal(() => admin.mcpServers.remove("files"))
          assert.deepStrictEqual([error.status, error.tag], [409, "OwnedByFile"])
          assert.include(error.message, configFile)
          yield* hears("server.connected", "files")
          const last = yield* end
          assert.deepStrictEqual((yield* reload).changed, [])
          assert.strictEqual(yield* end, last)
          yield* write({ mcpServers: { files: { ...server.spec, allowedTools: ["echo", "env"], timeoutSeconds: 60 } } })
          assert.deepStrictEqual((yield* reload).changed, ["mcpServers.files"])
          yield* offers((names) => names.includes("files/env"))
          const later = yield* ask(() => admin.mcpServers.get("files"))
          assert.deepStrictEqual([later.id, state.timeoutSeconds, later.timeoutSeconds], [state.id, 30, 60])
          yield* write({})
          assert.deepStrictEqual((yield* reload).retired, ["mcpServers.files"])
          yield* offers((names) => names.length === 0)
          assert.deepStrictEqual(servers.tools(), [])
        }),
      )

      it.effect("S1-84 S1-85 S1-87 X-58 an agent's own servers are its own: by address, never a program", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const servers = yield* Servers
          const [one, two] = [yield* stub(), yield* stub()]
          const own = (url: string, more: object = {}) => ({ servers: [{ name: "crm", url, ...more }] })
          yield* write({
            agents: [
              { name: "pam", mcp: own(one.url, { transport: "http", allowedTools: ["echo"] }) },
              { name: "jim", mcp: own(two.url) },
              { name: "toby", mcp: own(two.url, { allowedTools: ["fly"] }) },
            ],
          })
          yield* reload
          yield* offers((names) => names.length === 2)
          const ids = yield* Effect.forEach(["jim", "pam"], (name) => ask(() => admin.principals.get(name)))
          const owners = servers.tools().map(({ owner, tool }) => [owner, tool.definition.name])
          assert.deepStrictEqual(owners.toSorted(), ids.map(({ id }) => [id, "crm/echo"]).toSorted())
          assert.deepStrictEqual(
            [servers.allowed("crm", "echo"), servers.allowed("crm", "echo", ids[0]!.id as PrincipalId)],
            [false, true],
          )
          const taken = yield* refusal(() => admin.mcpServers.add({ name: "crm", url: one.url }))
          assert.strictEqual(taken.tag, "NameTaken")
          const program = { name: "sh", command: "sh", transport: "stdio" }
          const table: ReadonlyArray<readonly [content: object, message: RegExp]> = [
            [
              { agents: [{ name: "pam", mcp: { servers: [program] } }] },
              /agents\.0\.mcp\.servers\.0\.command.*Declare a program under mcpServers/,
            ],
            [{ agents: [{ name: "pam", mcp: own(one.url, { transport: "stdio" }) }] }, /transport.*not stdio/],
            [{ agents: [{ name: "pam", mcp: own("ws://127.0.0.1:1/") }] }, /agents\.0\.mcp\.servers\.0\.url/],
            [
              { agents: [{ name: "pam", mcp: { servers: [...own(one.url).servers, ...own(one.url).servers] } }] },
              /agents\.0\.mcp\.servers\.1\.name.*already declared/,
            ],
            [
              { mcpServers: { CRM: { url: one.url } }, agents: [{ name: "pam", mcp: own(one.url) }] },
              /agents\.0\.mcp\.servers\.0\.name.*is already declared at mcpServers\.CRM/,
            ],
            [{ mcpServers: { crm: { url: one.url }, Crm: { url: one.url } } }, /mcpServers\.Crm.*already declared/],
          ]
          for (const [content, message] of table) {
            yield* write(content)
            const error = yield* Effect.map(Effect.flip(reload), (it) => it as StoaError)
            assert.strictEqual(error.tag, "ConfigFaulty")
            assert.match(error.message, message)
          }
          assert.strictEqual(servers.tools().length, 2)
          // By http or sse, whichever it says.
          const sql = yield* SqlClient.SqlClient
          for (const [transport, shown] of [
            ["http", "streamable-http"],
            ["streamable-http", "streamable-http"],
            ["sse", "sse"],
          ]) {
            yield* write({ agents: [{ name: "pam", mcp: own(one.url, { transport }) }] })
            yield* reload
            const kept = yield* sql<{ transport: string }>`SELECT transport FROM mcp_servers WHERE owner IS NOT NULL`
            assert.deepStrictEqual(
              kept.map((one) => one.transport),
              [shown],
            )
          }
          yield* write({})
          yield* reload
          yield* offers((names) => names.length === 0)
        }),
      )

      it.effect("a name in the file and in the house refuses the file and changes nothing", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const mine = yield* ask(() => admin.mcpServers.add({ name: "mine", ...raw().spec }))
          yield* write({ agents: [{ name: "newcomer" }], mcpServers: { Mine: raw().spec } })
          const error = yield* Effect.map(Effect.flip(reload), (it) => it as StoaError)
          assert.deepStrictEqual([error.status, error.tag], [409, "ConfigFaulty"])
          assert.match(error.message, /mcpServers\.Mine/)
          assert.strictEqual((yield* refusal(() => admin.principals.get("newcomer"))).status, 404)
          assert.strictEqual((yield* ask(() => admin.mcpServers.get("mine"))).id, mine.id)
          yield* write({})
          yield* reload
          yield* ask(() => admin.mcpServers.remove("mine"))
        }),
      )

      it.effect("only admins add, see, accept and remove; what they do is audited", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          yield* ask(() => admin.principals.add({ kind: "agent", name: "bob", roles: ["orchestrator"] }))
          const bob = as((yield* ask(() => admin.tokens.add({ principal: "bob" }))).token)
          yield* ask(() => admin.mcpServers.add({ name: "vault", ...raw().spec }))
          for (const attempt of [
            () => bob.mcpServers.list(),
            () => bob.mcpServers.get("vault"),
            () => bob.mcpServers.add({ name: "own", command: "cat" }),
            () => bob.mcpServers.accept("vault", "echo", { digest: "0" }),
            () => bob.mcpServers.remove("vault"),
          ])
            assert.strictEqual((yield* refusal(attempt)).status, 403)
          // Reading may be granted; adding needs more than writing.
          const grant = { principal: "bob", resource: "servers/*", actions: ["read", "write"] as const }
          yield* ask(() => admin.grants.add(grant))
          assert.strictEqual((yield* ask(() => bob.mcpServers.get("vault"))).status, "connected")
          assert.strictEqual((yield* refusal(() => bob.mcpServers.add({ name: "own", command: "cat" }))).status, 403)
          // A rule about its name is a rule about its id.
          const { id } = yield* ask(() => admin.mcpServers.get("vault"))
          yield* ask(() =>
            admin.grants.add({ principal: "bob", resource: "servers/vault", actions: ["read"], effect: "deny" }),
          )
          assert.strictEqual((yield* refusal(() => bob.mcpServers.get(id))).status, 403)
          yield* ask(() => admin.mcpServers.remove("vault"))
          const kinds = (yield* serverEvents).filter(({ body }) => (body as { server: string }).server === "vault")
          assert.deepStrictEqual(
            kinds.map(({ kind }) => kind),
            ["server.added", "server.connected", "server.removed"],
          )
          assert.deepStrictEqual(
            kinds.map(({ actor }) => actor !== null),
            [true, false, true],
          )
        }),
      )

      it.effect("a repeated key finds the first server, at once or later; with another body it is refused", () =>
        Effect.gen(function* () {
          const { adminToken, raw: request } = yield* Guest
          const server = raw()
          const post = (key: string, body: object) =>
            ask(async () => {
              const answer = await request("/api/v1/mcp-servers", {
                method: "POST",
                headers: {
                  authorization: `Bearer ${adminToken}`,
                  "content-type": "application/json",
                  "idempotency-key": key,
                },
                body: JSON.stringify(body),
              })
              return [answer.status, (await answer.json()) as { id?: string; tag?: string; status?: string }] as const
            })
          const body = { name: "once", ...server.spec }
          const both = yield* Effect.all([post("k1", body), post("k1", body)], { concurrency: "unbounded" })
          assert.deepStrictEqual(both.map(([status]) => status).toSorted(), [200, 201])
          assert.strictEqual(both[0][1].id, both[1][1].id)
          const [again, third] = yield* post("k1", body)
          assert.deepStrictEqual([again, third.id, third.status], [200, both[0][1].id, "connected"])
          assert.strictEqual(server.pids().length, 1)
          const [other, refused] = yield* post("k1", { ...body, name: "twice" })
          assert.deepStrictEqual([other, refused.tag], [409, "WrongState"])
          assert.deepStrictEqual((yield* post("k2", body))[1].tag, "NameTaken")
          const { admin } = yield* Guest
          yield* ask(() => admin.mcpServers.remove("once"))
        }),
      )

      it.effect("what cannot be a server is refused by its path, and nothing is kept", () =>
        Effect.gen(function* () {
          const { admin, adminToken, raw: request } = yield* Guest
          const url = "http://127.0.0.1:1/mcp"
          const table: ReadonlyArray<readonly [body: object, path: string]> = [
            [{ name: "a/b", command: "cat" }, "name"],
            [{ name: "a__b", command: "cat" }, "name"],
            [{ name: "", command: "cat" }, "name"],
            [{ name: "x".repeat(41), command: "cat" }, "name"],
            [{ name: "none" }, "command"],
            [{ name: "both", command: "cat", url }, "command"],
            [{ name: "stray", command: "cat", headers: { a: "b" } }, "headers"],
            [{ name: "stray", url, args: ["a"] }, "args"],
            [{ name: "stdio", url, transport: "stdio" }, "transport"],
            [{ name: "file", url: "file:///etc/passwd" }, "url"],
            [{ name: "word", url: "somewhere" }, "url"],
            [{ name: "user", url: "http://me:pw@127.0.0.1:1/" }, "url"],
            [{ name: "split", url, headers: { a: "b\r\nc: d" } }, "headers.a"],
            [{ name: "nul", command: "cat", args: ["\u0000"] }, "body"],
            [{ name: "more", command: "cat", shell: true }, "shell"],
          ]
          for (const [body, path] of table) {
            const [status, problem] = yield* ask(async () => {
              const answer = await request("/api/v1/mcp-servers", {
                method: "POST",
                headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
                body: JSON.stringify(body),
              })
              return [answer.status, (await answer.json()) as { issues?: ReadonlyArray<{ path: string }> }] as const
            })
            assert.deepStrictEqual(
              [status, problem.issues?.map((issue) => issue.path)],
              [400, [path]],
              JSON.stringify(body),
            )
          }
          assert.deepStrictEqual((yield* ask(() => admin.mcpServers.list())).items, [])
        }),
      )
    },
  )
