/** Tools of MCP servers on the one road: called over HTTP by whoever may, recorded like any other. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import type { Stoa, StoaError } from "@stoa/sdk"
import { Effect, type Schema } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { Servers } from "../../src/servers/Servers.ts"
import { served } from "../proxied/proxiedServer.ts"
import { callTool, changing, everything, offers, raw, stub, textOf } from "./serversKit.ts"

const refusal = (question: () => Promise<unknown>) =>
  Effect.map(Effect.flip(ask(question)), (error) => error as StoaError)
/** A call to its end, as much of it as is read here. */
const call = (stoa: Stoa, name: string, input: { readonly [key: string]: Schema.Json } = {}) =>
  ask(
    () =>
      stoa.tools.call(name, { input }) as Promise<{
        readonly state?: string
        readonly tool?: string
        readonly output?: unknown
        readonly error?: unknown
      }>,
  )
const unknownTool = (error: StoaError) => assert.deepStrictEqual([error.status, error.tag], [404, "ToolNotFoundError"])

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `calls of tools of MCP servers on ${store}`,
    (it) => {
      it.effect("S4-36 S4-40 S1-88 X-28 a tool is called by either of its names, while it is allowed and there", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const allowedTools = ["echo", "get-sum"]
          yield* ask(() => admin.mcpServers.add({ name: "every", ...everything("stdio"), allowedTools }))
          const listed = (yield* ask(() => admin.tools.list({ limit: 100 }))).items.filter(
            ({ source }) => source === "mcp",
          )
          assert.deepStrictEqual(
            listed.map((one) => [one.name, one.wireName, one.riskLevel, one.visibility, one.executionType]),
            [
              ["every/echo", "every__echo", "medium", "hidden", "gateway"],
              ["every/get-sum", "every__get-sum", "medium", "hidden", "gateway"],
            ],
          )
          for (const name of ["every/echo", "every__echo"]) {
            const done = yield* call(admin, name, { message: name })
            assert.deepInclude(done, { state: "done", tool: "every/echo" })
            assert.strictEqual(textOf(done.output), `Echo: ${name}`)
          }
          const wrong = yield* refusal(() => admin.tools.call("every/echo", { input: {} }))
          assert.deepStrictEqual([wrong.status, wrong.tag], [400, "ToolValidationError"])
          unknownTool(yield* refusal(() => admin.tools.call("every/get-env", { input: {} })))
          yield* ask(() => admin.mcpServers.remove("every"))
          unknownTool(yield* refusal(() => admin.tools.call("every/echo", { input: { message: "late" } })))
        }),
      )

      it.effect("S4-17 S4-36 S4-59 a call may be silent for as long as its server's setting says, and no longer", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const servers = yield* Servers
          for (const era of ["old", "new"] as const) {
            const server = yield* served(era, { hang: () => new Promise(() => {}) })
            const name = `slow-${era}`
            const usual = yield* ask(() => admin.mcpServers.add({ name: `usual-${era}`, url: server.url }))
            assert.strictEqual(usual.timeoutSeconds, 30)
            const made = yield* ask(() => admin.mcpServers.add({ name, url: server.url, timeoutSeconds: 1 }))
            assert.strictEqual(made.timeoutSeconds, 1)
            const times = servers.tools().map(({ tool }) => [tool.definition.name, tool.definition.timeoutMs])
            assert.deepStrictEqual(times, [
              [`${name}/hang`, 1000],
              [`usual-${era}/hang`, 30_000],
            ])
            const late = yield* Effect.flip(callTool(`${name}/hang`))
            assert.deepInclude(late, { _tag: "ToolTimeoutError", toolName: `${name}/hang`, timeoutMs: 1000 })
            assert.match(late.message, /no answer within 1000 ms.*Whether it acted is unknown/)
            const kept = yield* call(admin, `${name}/hang`)
            assert.deepInclude(kept, { state: "failed", error: { tag: "ToolTimeoutError", message: late.message } })
            assert.lengthOf(server.sent("tools/call"), 2)
            for (const server of [name, `usual-${era}`]) yield* ask(() => admin.mcpServers.remove(server))
          }
          for (const timeoutSeconds of [0, 301, 1.5]) {
            const error = yield* refusal(() => admin.mcpServers.add({ name: "wrong", command: "node", timeoutSeconds }))
            assert.deepStrictEqual([error.status, error.tag], [400, "BadInput"])
          }
        }),
      )

      it.effect("G-31 a held tool is nowhere until it is accepted", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const server = changing({ mail: "sends mail" })
          yield* ask(() => admin.mcpServers.add({ name: "post", ...server.spec }))
          assert.strictEqual((yield* call(admin, "post/mail")).state, "done")
          server.write({ mail: "sends mail to me" })
          yield* callTool("post/reload")
          yield* offers((names) => !names.includes("post/mail"))
          unknownTool(yield* refusal(() => admin.tools.call("post/mail", { input: {} })))
          const { items } = yield* ask(() => admin.mcpServers.tools("post"))
          const { digest } = items.find(({ name }) => name === "mail")!.held!
          yield* ask(() => admin.mcpServers.accept("post", "mail", { digest }))
          assert.strictEqual((yield* call(admin, "post/mail")).state, "done")
          yield* ask(() => admin.mcpServers.remove("post"))
        }),
      )

      it.effect("X-58 S1-87 an agent's own tools are called by that agent alone, each its own of one name", () =>
        Effect.gen(function* () {
          const { admin, as, configFile } = yield* Guest
          const [one, two] = [yield* stub(), yield* stub()]
          const own = (url: string) => ({ servers: [{ name: "crm", url }] })
          const agents = [{ name: "pam", mcp: own(one.url) }, { name: "jim", mcp: own(two.url) }, { name: "kim" }]
          writeFileSync(configFile, JSON.stringify({ ...roomy, agents }))
          yield* ask(() => admin.house.reload())
          yield* offers((names) => names.length === 2)
          const [pam, jim, kim] = yield* Effect.forEach(["pam", "jim", "kim"], (principal) =>
            Effect.map(
              ask(() => admin.tokens.add({ principal })),
              ({ token }) => as(token),
            ),
          )
          for (const [agent, n] of [
            [pam!, 1],
            [jim!, 2],
          ] as const) {
            const done = yield* call(agent, "crm/echo", { n })
            assert.strictEqual(done.state, "done")
          }
          const said = (server: typeof one) =>
            server.heard.flatMap(({ body }) => (body.method === "tools/call" ? [body.params?.["arguments"]] : []))
          assert.deepStrictEqual([said(one), said(two)], [[{ n: 1 }], [{ n: 2 }]])
          unknownTool(yield* refusal(() => kim!.tools.call("crm/echo", { input: {} })))
          unknownTool(yield* refusal(() => admin.tools.call("crm/echo", { input: {} })))
          writeFileSync(configFile, JSON.stringify(roomy))
          yield* ask(() => admin.house.reload())
          yield* offers((names) => names.length === 0)
        }),
      )

      it.effect("what dies while it runs is failed, and is not repeated", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const server = raw()
          yield* ask(() => admin.mcpServers.add({ name: "mortal", ...server.spec }))
          const failed = yield* call(admin, "mortal/die")
          assert.deepInclude(failed, { state: "failed" })
          const calls = server.heard().filter((line) => line.includes('"tools/call"'))
          assert.strictEqual(calls.length, 1)
          yield* ask(() => admin.mcpServers.remove("mortal"))
        }),
      )
    },
  )

layer(house({ store: "sqlite" }), { excludeTestServices: true, timeout: 60_000 })("a secret on the road", (it) => {
  it.effect("what a server echoes of its secret reaches neither answer, row, audit nor event", () =>
    Effect.gen(function* () {
      const { admin, folder } = yield* Guest
      const secret = "swordfish-5e6f7a8b"
      const server = yield* stub()
      yield* ask(() => admin.secrets.set("CRM", { value: secret }))
      const headers = { authorization: "Bearer ${secret.CRM}" }
      yield* ask(() => admin.mcpServers.add({ name: "crm", url: server.url, headers }))
      const done = yield* call(admin, "crm/echo", { a: 1 })
      assert.strictEqual(done.state, "done")
      assert.isTrue(server.heard.some((one) => one.headers.authorization === `Bearer ${secret}`))
      assert.include(JSON.stringify(done), "Bearer [secret]")
      const written = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      for (const sink of [JSON.stringify(done), ...written]) assert.notInclude(sink, secret)
    }),
  )
})
