/**
 * The tool library's own limits, S4-105 to S4-110: each figure is a p99 over single runs, printed with its id, its limit and
 * whether it holds. No peer: these are promises, not comparisons.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { CurrentEgressPolicy } from "../packages/tools/src/egress/Egress.ts"
import { defaultEgressPolicy } from "../packages/tools/src/egress/Policy.ts"
import { defaultToolsConfig, identityStandard, MCPClient, Road } from "../packages/tools/src/index.ts"
import { sandboxLayer } from "../packages/tools/src/sandbox/Sandbox.ts"
import { codeExecute } from "../packages/tools/src/skills/codeExecute.ts"
import { fileRead, fileWrite } from "../packages/tools/src/skills/files.ts"
import { httpGet } from "../packages/tools/src/skills/httpGet.ts"
import { CurrentSkillsConfig, defaultSkillsConfig } from "../packages/tools/src/skills/SkillsConfig.ts"
import { webSearch } from "../packages/tools/src/skills/webSearch.ts"
import { CurrentToolsConfig } from "../packages/tools/src/ToolsConfig.ts"
import { everything } from "../packages/tools/test/mcp/mcpKit.ts"
import { call as context } from "../packages/tools/test/skills/skillsCall.ts"
import { thousand, twentyArguments } from "../packages/tools/test/registry/thousand.ts"
import { type Delays, delaysOf, number, table } from "./kit/measure.ts"

interface Target {
  readonly id: string
  readonly what: string
  readonly limitMs: number
  readonly runs: number
  readonly run: () => unknown
}

/** A fifth of the runs first: what is compiled on the way is not what is measured. */
const measured = async ({ run, runs }: Target): Promise<Delays> => {
  for (let n = 0; n < runs / 5; n++) await run()
  const taken: Array<number> = []
  for (let n = 0; n < runs; n++) {
    const started = performance.now()
    await run()
    taken.push(performance.now() - started)
  }
  return delaysOf(taken)
}

const library = (): ReadonlyArray<Target> => {
  const registry = thousand()
  const flat = registry.find("flat")!
  const schema = registry.find("schema")!
  const call = Effect.runSync(
    Road.begin({ tool: "flat", input: twentyArguments, principal: "agent-1", space: "session-1" }),
  )
  const authorized = Effect.flatMap(Road.authorize(identityStandard, call.principal, call.tool), (judgement) =>
    Road.judge(defaultToolsConfig, call, judgement),
  )
  const target = (id: string, what: string, limitMs: number, run: () => unknown): Target => ({
    id,
    what,
    limitMs,
    runs: 2000,
    run,
  })
  return [
    target("S4-105", "look-up among 1,000 tools, by name", 1, () => registry.find("server-7/tool-997")),
    target("S4-105", "look-up among 1,000 tools, by wire name", 1, () => registry.find("server-7__tool-997")),
    target("S4-106", "validation of 20 parameters, flat list", 2, () => Effect.runSync(Road.validate(flat, call))),
    target("S4-106", "validation of 20 parameters, JSON Schema", 2, () => Effect.runSync(Road.validate(schema, call))),
    target("S4-107", "authorization", 5, () => Effect.runSync(authorized)),
    target("S4-110", "1,000 tools in function-calling form, after a change", 5, () => {
      registry.remove("flat")
      Effect.runSync(registry.add(flat))
      return registry.formats()
    }),
    target("S4-110", "1,000 tools in function-calling form, unchanged", 5, () => registry.formats()),
  ]
}

const skills = (
  base: string,
  url: string,
  runtime: ManagedRuntime.ManagedRuntime<never, never>,
): ReadonlyArray<Target> => {
  const settled = <A, E>(effect: Effect.Effect<A, E>) =>
    runtime.runPromise(
      effect.pipe(
        Effect.provideService(CurrentToolsConfig, {
          ...defaultToolsConfig,
          security: { ...defaultToolsConfig.security, allowedFilePathPrefix: base },
        }),
        Effect.provideService(CurrentEgressPolicy, { ...defaultEgressPolicy, allow: ["127.0.0.1"] }),
        Effect.provideService(CurrentSkillsConfig, {
          ...defaultSkillsConfig,
          search: { provider: "tavily", key: Redacted.make("a key of a bench"), endpoint: url },
        }),
      ),
    )
  const target = (what: string, run: () => unknown): Target => ({ id: "S4-108", what, limitMs: 100, runs: 200, run })
  return [
    target("file-read, 10 kB", () => settled(fileRead.handler({ path: "page.txt" }, context))),
    target("file-write, synced", () => settled(fileWrite.handler({ path: "out.txt", content: "x" }, context))),
    target("http-get, loopback", () => settled(httpGet.handler({ url }, context))),
    target("web-search, loopback", () => settled(webSearch.handler({ query: "q" }, context))),
    target("code-execute, warm", () => settled(codeExecute.handler({ code: "1 + 1" }, context))),
  ]
}

const servers = async (runtime: ManagedRuntime.ManagedRuntime<MCPClient, never>): Promise<ReadonlyArray<Target>> => {
  const mcp = await runtime.runPromise(MCPClient)
  const config = { transport: "stdio", ...everything("stdio") } as const
  const connection = await runtime.runPromise(mcp.connect({ name: "calls", ...config }))
  const connect = Effect.andThen(mcp.connect({ name: "once", ...config }), mcp.disconnect("once"))
  return [
    {
      id: "S4-109",
      what: "connection over stdio with its tools, and its end",
      limitMs: 10_000,
      runs: 5,
      run: () => runtime.runPromise(connect),
    },
    {
      id: "S4-109",
      what: "call of a server's tool over stdio",
      limitMs: 5000,
      runs: 500,
      run: () => runtime.runPromise(connection.callTool("echo", { message: "hi" })),
    },
  ]
}

export const targets = async (): Promise<string> => {
  const base = mkdtempSync(join(tmpdir(), "stoa-bench-"))
  writeFileSync(join(base, "page.txt"), "x".repeat(10_000))
  const service = createServer((_, response) => response.end('{"results":[]}'))
  await new Promise<void>((done) => service.listen(0, "127.0.0.1", done))
  const sandbox = ManagedRuntime.make(sandboxLayer())
  const client = ManagedRuntime.make(MCPClient.layer)
  const rows: Array<ReadonlyArray<string>> = []
  try {
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`
    const all = [...library(), ...skills(base, url, sandbox), ...(await servers(client))]
    for (const one of all.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))) {
      const { p50, p99 } = await measured(one)
      rows.push([one.id, one.what, number(p50), number(p99), number(one.limitMs), p99 < one.limitMs ? "pass" : "FAIL"])
    }
  } finally {
    await client.dispose()
    await sandbox.dispose()
    service.close()
    rmSync(base, { recursive: true, force: true })
  }
  if (rows.some((row) => row.includes("FAIL"))) process.exitCode = 1
  return `Single runs, one at a time; a limit is held at p99. On a busy machine p99 is the scheduler's.\n\n${table(["id", "what", "p50, ms", "p99, ms", "limit, ms", "holds"], rows)}`
}
