/** What the suites about MCP servers share: the reference server, fixtures that can be wrong, a stub, and ways to wait. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createNetServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Event, ToolExecutionError, ToolTimeoutError } from "@stoa/contract"
import { Effect, Layer, Redacted } from "effect"
import { Deltas } from "../../src/store/journal/signals/Deltas.ts"
import { Environment } from "../../src/access/secrets/Environment.ts"
import { Rules } from "../../src/access/rights/Rules.ts"
import { IdempotencyKeys } from "../../src/access/identity/IdempotencyKeys.ts"
import { Pauses } from "../../src/access/limits/Pauses.ts"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Secrets } from "../../src/access/secrets/Secrets.ts"
import { Settings } from "../../src/Settings.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Servers } from "../../src/servers/Servers.ts"
import { temporary } from "../../../../test/temporary.ts"
import { ground, type Stored } from "../stores.ts"

export const everything = (mode: string) => ({
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js")), mode],
})

const fixtures = {
  raw: fileURLToPath(new URL("../../../tools/test/fixtures/rawServer.ts", import.meta.url)),
  hostile: fileURLToPath(new URL("../../../tools/test/fixtures/hostileServer.ts", import.meta.url)),
  changing: fileURLToPath(new URL("./serversFixture.ts", import.meta.url)),
}

/** The raw fixture of the tools package that is wrong in the given ways, and what it heard. */
export const raw = (...ways: ReadonlyArray<string>) => {
  const log = join(temporary(), "log")
  const heard = (): ReadonlyArray<string> => readFileSync(log, "utf8").trim().split("\n")
  return {
    spec: {
      command: process.execPath,
      args: [fixtures.raw, [...ways, `log=${log}`].join(",")],
    },
    heard,
    pids: () => heard().flatMap((line) => (line.startsWith("start ") ? [Number(line.slice(6))] : [])),
  }
}

export const hostile = (seed: number) => ({
  command: process.execPath,
  args: [fixtures.hostile, String(seed), "between"],
})

/** A server that says what a file says; `reload` is a tool of it that tells of a change. */
export const changing = (tools: Record<string, string>) => {
  const path = join(temporary(), "tools.json")
  const write = (now: Record<string, string>) => writeFileSync(path, JSON.stringify({ ...now, reload: "reloads" }))
  write(tools)
  return { spec: { command: process.execPath, args: [fixtures.changing, path] }, write }
}

export const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A tool of the room, as the road would run it. */
export const callTool = (
  name: string,
  args: Readonly<Record<string, unknown>> = {},
): Effect.Effect<unknown, ToolExecutionError | ToolTimeoutError, Servers> =>
  Effect.flatMap(Servers, (servers) => {
    const found = servers.tools().find(({ tool }) => tool.definition.name === name)
    if (found === undefined) return Effect.die(new Error(`no tool ${name}`))
    return found.tool.handler(args, {
      id: "call",
      principal: "agent",
      space: null,
      correlationId: "correlation",
      idempotencyKey: "key",
      progress: () => Effect.void,
      client: undefined,
      answered: undefined,
      keep: () => Effect.void,
    })
  })
export const textOf = (result: unknown): string =>
  (result as { readonly content: ReadonlyArray<{ readonly text: string }> }).content[0]!.text

/** What the journal says of servers. */
export const serverEvents = Effect.gen(function* () {
  const journal = yield* Journal
  const events: Array<Event> = []
  for (let after = 0; ;) {
    const some = yield* journal.read({ after, limit: 1000 })
    if (some.length === 0) return events.filter(({ kind }) => kind.startsWith("server."))
    events.push(...some)
    after = some.at(-1)!.cursor
  }
})

/** Waits for an event of this kind about this server, after a place in the journal. */
export const hears = Effect.fnUntraced(function* (kind: Event["kind"], server: string, after = 0) {
  const journal = yield* Journal
  for (;;) {
    const heard = journal.bell.rung
    const found = (yield* serverEvents).find(
      (event) => event.kind === kind && event.cursor > after && (event.body as { server?: string }).server === server,
    )
    if (found !== undefined) return found
    yield* Effect.timeoutOption(journal.bell.waitPast(heard), 50)
  }
})

/** Waits until what is offered is so. */
export const offers = Effect.fnUntraced(function* (so: (names: ReadonlyArray<string>) => boolean) {
  const servers = yield* Servers
  const names = () => servers.tools().map(({ tool }) => tool.definition.name)
  yield* Effect.scoped(
    Effect.gen(function* () {
      const changed = { told: () => {} }
      yield* servers.onChange(() => changed.told())
      while (!so(names()))
        yield* Effect.callback<void>((resume) => {
          changed.told = () => resume(Effect.void)
        })
    }),
  )
})

export const freePort = Effect.callback<number>((resume) => {
  const probe = createNetServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address() as AddressInfo
    probe.close(() => resume(Effect.succeed(port)))
  })
})

const ended = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
    return undefined
  })

/** server-everything over HTTP: ready when it says so. */
export const serveEverything = (mode: "sse" | "streamableHttp", port: number) =>
  Effect.acquireRelease(
    Effect.callback<ChildProcess>((resume) => {
      const { args, command } = everything(mode)
      const child = spawn(command, args, {
        env: { ...process.env, PORT: String(port) },
        stdio: ["ignore", "ignore", "pipe"],
      })
      child.stderr.on("data", (text: Buffer) => {
        if (/(running|listening) on port/.test(text.toString("utf8"))) resume(Effect.succeed(child))
      })
    }),
    ended,
  )

interface Heard {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> }
}

/** An HTTP server of one tool, `echo`, that says what it was sent: headers included, as a careless one would. */
export const stub = (redirect?: (url: string) => string | undefined) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly heard: ReadonlyArray<Heard>; readonly close: () => void }>(
      (resume) => {
        const heard: Array<Heard> = []
        const answer = ({ body, headers }: Heard, response: ServerResponse) => {
          if (body.id === undefined) return response.writeHead(202).end()
          const results: Record<string, unknown> = {
            initialize: {
              protocolVersion: "2025-06-18",
              capabilities: { tools: {} },
              serverInfo: { name: "stub", version: "1.0.0" },
            },
            "tools/list": { tools: [{ name: "echo", description: "says it", inputSchema: { type: "object" } }] },
            "tools/call": { content: [{ type: "text", text: JSON.stringify({ headers, params: body.params }) }] },
          }
          const result = results[body.method ?? ""]
          const outcome = result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result }
          response.setHeader("content-type", "application/json")
          return response.end(JSON.stringify({ jsonrpc: "2.0", id: body.id, ...outcome }))
        }
        const server = createServer((request, response) => {
          let text = ""
          request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          request.on("end", () => {
            const { headers, method = "", url = "" } = request
            const one: Heard = { method, url, headers, body: (text === "" ? {} : JSON.parse(text)) as Heard["body"] }
            heard.push(one)
            const to = redirect?.(url)
            if (to !== undefined) return response.writeHead(307, { location: to }).end()
            return method === "POST" ? answer(one, response) : response.writeHead(405).end()
          })
        }).listen(0, "127.0.0.1", () => {
          const close = () => {
            server.closeAllConnections()
            server.close()
          }
          const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
          resume(Effect.succeed({ url, heard, close }))
        })
      },
    ),
    ({ close }) => Effect.sync(close),
  )

/** The room alone, as a process would have it: each build of it is a start of the house. */
export const room = (store: Stored, key = "the key of this house") =>
  Layer.effectDiscard(Effect.flatMap(Servers, ({ open }) => open)).pipe(
    Layer.provideMerge(Servers.layer("stoa.config.json")),
    Layer.provideMerge(
      Layer.provideMerge(Layer.merge(IdempotencyKeys.layer, Pauses.layer), Principals.layer("stoa.config.json")),
    ),
    Layer.provide(Deltas.layer),
    Layer.provideMerge(Environment.layer),
    Layer.provideMerge(Layer.mergeAll(Rules.layer, Secrets.layer(Redacted.make(key)))),
    Layer.provideMerge(ground(store)),
    Layer.provide(Settings.layer({})),
  )
