// What happens when a server hangs, dies, lies, floods or will not go: bounded, told, and never done twice.
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import type { OAuthClientProvider } from "@modelcontextprotocol/client"
import { Deferred, Duration, Effect, Fiber, Queue } from "effect"
import { MCPClient } from "../../src/mcp/client/MCPClient.ts"
import { temporary } from "../../../../test/temporary.ts"
import { alive, client, raw, until } from "./mcpKit.ts"

const textOf = (result: { readonly content: ReadonlyArray<unknown> }) =>
  (result.content[0] as { readonly text: string }).text
const pidsOf = (heard: ReadonlyArray<string>, word: string) =>
  heard.flatMap((line) => (line.startsWith(`${word} `) ? [Number(line.split(" ")[1])] : []))

describe("MCP connecting to what does not answer", () => {
  it.live("S4-74 a hanging server is tried three times, each within the connection timeout, and all are ended", () => {
    const { ears, layer } = client({ limits: { connectionTimeoutMs: 1000 } })
    const { config, heard, starts } = raw("deaf", "deaf")
    return Effect.gen(function* () {
      const [time, error] = yield* Effect.timed(Effect.flip((yield* MCPClient).connect(config)))
      assert.strictEqual(error._tag, "MCPConnectionError")
      assert.strictEqual(starts(), 3)
      assert.isBelow(Duration.toMillis(time), 20_000)
      assert.deepStrictEqual(ears.events, [])
      yield* until(() => pidsOf(heard(), "start").every((pid) => !alive(pid)))
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-74 how often it is tried is what the configuration says, in all", () =>
    Effect.gen(function* () {
      for (const maxRetries of [1, 2]) {
        const { layer } = client({ limits: { connectionTimeoutMs: 300, maxRetries } })
        const { config, starts } = raw(`deaf${maxRetries}`, "deaf")
        const connect = Effect.flatMap(MCPClient, (mcp) => mcp.connect(config))
        assert.strictEqual((yield* Effect.flip(connect.pipe(Effect.provide(layer))))._tag, "MCPConnectionError")
        assert.strictEqual(starts(), maxRetries)
      }
    }),
  )

  it.live("S4-74 a request that says nothing else has as long as the configuration gives it", () => {
    const { layer } = client({ limits: { requestTimeoutMs: 200 } })
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("quiet").config)
      const late = yield* Effect.flip(connection.callTool("hang", {}))
      assert.deepInclude(late, { _tag: "ToolTimeoutError", toolName: "quiet/hang", timeoutMs: 200 })
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-74 one that comes up at the third try is connected", () => {
    const { layer } = client()
    const counter = join(temporary(), "count")
    const { config, starts } = raw("flaky", "flaky=5", `counter=${counter}`)
    return Effect.gen(function* () {
      // Each try is two starts here, because a process that dies of the probe gets a second one without it.
      yield* (yield* MCPClient).connect(config)
      assert.strictEqual(starts(), 5)
    }).pipe(Effect.provide(layer))
  })

  it.live("a sign-in that takes too long is not begun a second time beside the first", () => {
    const asked: Array<string> = []
    const provider: OAuthClientProvider = {
      redirectUrl: "http://127.0.0.1:9/callback",
      clientMetadata: { redirect_uris: ["http://127.0.0.1:9/callback"] },
      clientInformation: () => undefined,
      tokens: () => undefined,
      saveTokens: () => {},
      redirectToAuthorization: () => {},
      saveCodeVerifier: () => {},
      codeVerifier: () => "",
    }
    const { layer } = client({ limits: { connectionTimeoutMs: 500 }, ports: { authorize: () => ({ provider }) } })
    return Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.callback<Server>((resume) => {
          const it = createServer((request, response) => {
            asked.push(request.method!)
            // It wants a sign-in, and never says where.
            if (request.method === "POST") response.writeHead(401, { "www-authenticate": "Bearer" }).end()
          })
          it.listen(0, "127.0.0.1", () => resume(Effect.succeed(it)))
        }),
        (it) => Effect.sync(() => it.close().closeAllConnections()),
      )
      const { port } = server.address() as AddressInfo
      const endpoint = `http://127.0.0.1:${port}/mcp`
      const mcp = yield* MCPClient
      const error = yield* Effect.flip(mcp.connect({ name: "slow", transport: "streamable-http", endpoint }))
      assert.include(error.message, "wants a person to sign in, and nobody did within 500 ms")
      assert.deepStrictEqual(asked, ["POST", "GET"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("a server that cannot start says why", () => {
    const { layer } = client({ limits: { maxRetries: 1 } })
    const { config } = raw("toothless", "noisy", "flaky=99", `counter=${join(temporary(), "count")}`)
    return Effect.gen(function* () {
      const error = yield* Effect.flip((yield* MCPClient).connect(config))
      assert.include(error.message, "Failed to connect to MCP server")
      assert.include(error.message, "the program ended before it answered")
      assert.notMatch(error.message, /Connection closed|probe/)
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-74 a server that dies of the probe, or ignores it, is old; coming back costs no second process", () => {
    const { layer } = client({ settings: { probeMs: 1500 } })
    const dies = raw("dies", "dies-of-probe")
    const silent = raw("silent", "silent-probe")
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      yield* mcp.connect(dies.config)
      assert.strictEqual(dies.starts(), 2)
      yield* mcp.disconnect("dies")
      yield* mcp.connect(dies.config)
      assert.strictEqual(dies.starts(), 3)
      yield* mcp.connect(silent.config)
      yield* mcp.disconnect("silent")
      yield* mcp.connect(silent.config)
      assert.strictEqual(silent.starts(), 2)
      const probes = silent.messages().filter((it) => it["method"] === "server/discover")
      assert.lengthOf(probes, 1)
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-66 a server that does not say its version has an unknown one; noise on its pipe is passed over", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("shy", "anonymous", "chatty").config)
      assert.strictEqual((yield* connection.server).version, "unknown")
      const named = yield* (yield* MCPClient).connect(raw("open").config)
      assert.strictEqual((yield* named.server).version, "9.9.9")
    }).pipe(Effect.provide(layer))
  })
})

describe("MCP calls that may have acted", () => {
  it.live("S4-75 a call that times out is not repeated", () => {
    const { layer } = client({ limits: { requestTimeoutMs: 2000 } })
    const counter = join(temporary(), "count")
    const { config } = raw("counting", "silent-count", `counter=${counter}`)
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(config)
      const error = yield* Effect.flip(connection.callTool("count", {}, { timeoutMs: 200 }))
      assert.deepInclude(error, { _tag: "ToolTimeoutError", toolName: "counting/count", timeoutMs: 200 })
      assert.include(error.message, "not repeated")
      yield* connection.callTool("echo", {})
      assert.strictEqual(readFileSync(counter, "utf8"), "1")
    }).pipe(Effect.provide(layer))
  })

  it.live(
    "S4-75 S4-76 G-25 kill -9: pending calls fail, status is error, the server is found again, nothing is resent",
    () => {
      const { ears, layer } = client()
      const { config, messages, starts } = raw("mortal")
      return Effect.gen(function* () {
        const mcp = yield* MCPClient
        const connection = yield* mcp.connect(config)
        const pending = yield* Effect.forkChild(Effect.flip(connection.callTool("hang", {})))
        yield* until(() => messages().some((it) => it["method"] === "tools/call"))
        const killed = yield* Effect.flip(connection.callTool("die", {}))
        assert.strictEqual(killed._tag, "MCPConnectionError")
        assert.strictEqual((yield* Fiber.join(pending))._tag, "MCPConnectionError")
        assert.strictEqual((yield* Queue.take(ears.statuses)).status, "error")
        assert.strictEqual((yield* Queue.take(ears.statuses)).status, "connected")
        assert.strictEqual(textOf(yield* connection.callTool("echo", {})), "{}")
        assert.strictEqual(starts(), 2)
        const calls = messages().filter((it) => it["method"] === "tools/call")
        assert.lengthOf(calls, 3)
        // It is the same connection to whoever asked for it: connected was said once.
        assert.lengthOf(ears.events, 1)
      }).pipe(Effect.provide(layer))
    },
  )

  it.live("S4-68 G-25 while a server is gone its calls fail at once, and it can be disconnected", () => {
    const { ears, layer } = client({ settings: { breaker: { failures: 1, coolDownMs: 60_000 } } })
    const counter = join(temporary(), "count")
    const { config } = raw("fallen")
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      // It starts once and never again.
      writeFileSync(counter, "")
      const [file, ways] = config.args ?? []
      const fragile = yield* mcp.connect({ ...config, args: [file ?? "", `${ways},once=${counter}`] })
      yield* Effect.exit(fragile.callTool("die", {}))
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "error")
      const [time, error] = yield* Effect.timed(Effect.flip(fragile.callTool("echo", {})))
      assert.strictEqual(error._tag, "MCPConnectionError")
      // Long before the breaker would let anybody try again.
      assert.isBelow(Duration.toMillis(time), 30_000)
      yield* mcp.disconnect("fallen")
      assert.strictEqual((yield* mcp.list)[0]?.status, "disconnected")
    }).pipe(Effect.provide(layer))
  })

  it.live("G-25 after failures in a row calls are refused for the cool-down, then one finds out", () => {
    const { layer } = client({ settings: { breaker: { failures: 2, coolDownMs: 1500 } } })
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("stuck").config)
      const slow = Effect.flip(connection.callTool("hang", {}, { timeoutMs: 50 }))
      assert.strictEqual((yield* slow)._tag, "ToolTimeoutError")
      assert.strictEqual((yield* slow)._tag, "ToolTimeoutError")
      const refused = yield* slow
      assert.strictEqual(refused._tag, "MCPConnectionError")
      assert.include(refused.message, "left alone")
      const tried = Effect.option(connection.callTool("echo", {}))
      while ((yield* tried)._tag === "None") yield* Effect.sleep(20)
      assert.strictEqual((yield* slow)._tag, "ToolTimeoutError")
      assert.strictEqual((yield* tried)._tag, "Some")
    }).pipe(Effect.provide(layer))
  })

  it.live("G-25 no more requests are under way at one server than it may have", () => {
    const { layer } = client()
    const { config, heard } = raw("narrow")
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect({ ...config, concurrency: 1 })
      const first = yield* Effect.forkChild(connection.callTool("hang", {}))
      yield* until(() => heard().some((line) => line.includes('"hang"')))
      const second = yield* Effect.forkChild(connection.callTool("echo", { n: 2 }))
      yield* Effect.yieldNow
      assert.isFalse(heard().some((line) => line.includes('"echo"')))
      yield* Fiber.interrupt(first)
      assert.strictEqual(textOf(yield* Fiber.join(second)), '{"n":2}')
    }).pipe(Effect.provide(layer))
  })

  it.live("interrupting a call cancels it on the wire", () => {
    const { layer } = client()
    const { config, heard, messages } = raw("cancelled")
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(config)
      const call = yield* Effect.forkChild(connection.callTool("hang", {}))
      yield* until(() => heard().some((line) => line.includes('"hang"')))
      yield* Fiber.interrupt(call)
      yield* until(() => heard().some((line) => line.includes("notifications/cancelled")))
      const sent = messages().find((it) => it["method"] === "tools/call")
      const cancelled = messages().find((it) => it["method"] === "notifications/cancelled")
      assert.strictEqual((cancelled!["params"] as { requestId: unknown }).requestId, sent?.["id"])
    }).pipe(Effect.provide(layer))
  })

  it.live("progress is passed on, and a result that breaks its own schema is a failure (G-30)", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("reporting").config)
      const seen: Array<number> = []
      const last = yield* Deferred.make<void>()
      yield* connection.callTool(
        "progress",
        {},
        {
          onProgress: ({ progress }) =>
            Effect.suspend(() => {
              seen.push(progress)
              return progress === 3 ? Effect.asVoid(Deferred.succeed(last, undefined)) : Effect.void
            }),
        },
      )
      yield* Deferred.await(last)
      assert.deepStrictEqual(seen, [1, 2, 3])
      const good = yield* connection.callTool("typed", { n: 1 })
      assert.deepStrictEqual(good.structuredContent, { n: 1 })
      const bad = yield* Effect.flip(connection.callTool("typed", { n: "one" }))
      assert.strictEqual(bad._tag, "ToolExecutionError")
      assert.include(bad.message, "output schema")
    }).pipe(Effect.provide(layer))
  })
})

describe("MCP questions of a server", () => {
  const asks = (method: string, params: unknown) => ({ method, params })
  const sampling = asks("sampling/createMessage", {
    messages: [{ role: "user", content: { type: "text", text: "?" } }],
    maxTokens: 5,
  })
  const elicitation = asks("elicitation/create", {
    message: "Name?",
    requestedSchema: { type: "object", properties: { name: { type: "string", default: "Ada" } } },
  })

  it.live("elicitation, sampling and roots are refused unless somebody is there to answer", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      const { config, messages } = raw("asking")
      const connection = yield* (yield* MCPClient).connect(config)
      for (const question of [sampling, elicitation, asks("roots/list", {})]) {
        const answer = JSON.parse(textOf(yield* connection.callTool("ask", question))) as { error?: { code: number } }
        assert.strictEqual(answer.error?.code, -32_601)
      }
      const initialize = messages().find((it) => it["method"] === "initialize")
      assert.deepStrictEqual((initialize!["params"] as { capabilities: unknown }).capabilities, {})
    }).pipe(Effect.provide(layer))
  })

  it.live("and are passed to the ports when somebody is", () => {
    const { layer } = client({
      ports: {
        elicit: (server) => Effect.succeed({ action: "accept", content: { from: server } }),
        sample: (_, request) =>
          Effect.succeed({
            role: "assistant",
            content: { type: "text", text: `${request.messages.length}` },
            model: "none",
          }),
        roots: () => Effect.succeed([{ uri: "file:///tmp" }]),
      },
    })
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("answered").config)
      const ask = (question: ReturnType<typeof asks>) =>
        Effect.map(connection.callTool("ask", question), (it) => (JSON.parse(textOf(it)) as { result: unknown }).result)
      assert.deepInclude(yield* ask(sampling), { role: "assistant", model: "none" })
      assert.deepStrictEqual(yield* ask(elicitation), { action: "accept", content: { from: "answered", name: "Ada" } })
      assert.deepStrictEqual(yield* ask(asks("roots/list", {})), { roots: [{ uri: "file:///tmp" }] })
    }).pipe(Effect.provide(layer))
  })
})

describe("MCP processes", () => {
  it.live("S4-77 a server gets a small environment and what its configuration adds, never ours", () => {
    const { layer } = client({
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: "/home/x",
        LANG: "C",
        OPENAI_API_KEY: "sk-1",
        STOA_ADMIN_TOKEN: "t",
      },
    })
    return Effect.gen(function* () {
      const { config } = raw("env")
      const connection = yield* (yield* MCPClient).connect({ ...config, env: { TOKEN: "mine" } })
      const env = JSON.parse(textOf(yield* connection.callTool("env", {}))) as Record<string, string>
      assert.deepInclude(env, { HOME: "/home/x", LANG: "C", TOKEN: "mine" })
      const shells = ["PWD", "OLDPWD", "SHLVL", "_"]
      assert.sameMembers(
        Object.keys(env).filter((name) => !shells.includes(name)),
        ["PATH", "HOME", "LANG", "TOKEN"],
      )
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-78 one that will not go is asked, told and killed, with what it started", () => {
    const { layer } = client({ settings: { graceMs: 300 } })
    const { config, heard } = raw("stubborn", "stubborn")
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      yield* mcp.connect(config)
      const [pid] = pidsOf(heard(), "start")
      const [grandchild] = pidsOf(heard(), "grandchild")
      assert.isTrue(alive(pid!) && alive(grandchild!))
      yield* mcp.disconnect("stubborn")
      assert.deepStrictEqual(
        heard().filter((line) => line === "EOF" || line === "TERM"),
        ["EOF", "TERM"],
      )
      yield* until(() => !alive(pid!) && !alive(grandchild!))
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-78 the end of the layer ends every server", () => {
    const { layer } = client()
    const { config, heard } = raw("layered")
    return Effect.gen(function* () {
      yield* Effect.provide(
        Effect.flatMap(MCPClient, (mcp) => mcp.connect(config)),
        layer,
      )
      assert.include(heard(), "EOF")
      yield* until(() => pidsOf(heard(), "start").every((pid) => !alive(pid)))
    })
  })

  it.live(
    "S4-78 no orphan is left when we are killed, not even a stubborn one",
    () => {
      const { config, heard } = raw("orphan", "stubborn")
      const host = fileURLToPath(new URL("../fixtures/host.ts", import.meta.url))
      return Effect.gen(function* () {
        const child = spawn(process.execPath, [host, JSON.stringify(config)], { stdio: ["ignore", "pipe", "inherit"] })
        yield* Effect.callback<void>((resume) => {
          child.stdout.once("data", () => resume(Effect.void))
        })
        const pids = [...pidsOf(heard(), "start"), ...pidsOf(heard(), "grandchild")]
        assert.isTrue(pids.length === 2 && pids.every(alive))
        child.kill("SIGKILL")
        yield* until(() => pids.every((pid) => !alive(pid)))
      })
    },
    20_000,
  )

  it.live("an answer beyond the limit ends the connection, and the next one is as before", () => {
    const { ears, layer } = client()
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("flood").config)
      const fine = yield* connection.callTool("huge", { bytes: 5_000_000 })
      assert.lengthOf(textOf(fine), 5_000_000)
      assert.strictEqual((yield* Effect.flip(connection.callTool("huge", {})))._tag, "MCPConnectionError")
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "error")
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "connected")
      assert.strictEqual(textOf(yield* connection.callTool("echo", {})), "{}")
    }).pipe(Effect.provide(layer))
  })
})
