/** What the suites about MCP servers share: the reference server, fixtures that can be wrong, and a call without the road. */
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ToolExecutionError } from "@stoa/contract"
import { Effect } from "effect"
import { Upstreams } from "../src/upstreams/Upstreams.ts"

export const everything = (mode: string) => ({
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js")), mode],
})

const fixture = fileURLToPath(new URL("../../tools/test/fixtures/rawServer.ts", import.meta.url))

/** The fixture that is wrong in the given ways, and what it heard. */
export const raw = (...ways: ReadonlyArray<string>) => {
  const log = join(mkdtempSync(join(tmpdir(), "stoa-mcp-")), "log")
  const heard = (): ReadonlyArray<string> => readFileSync(log, "utf8").trim().split("\n")
  return {
    spec: { command: process.execPath, args: [fixture, [...ways, `log=${log}`].join(",")] },
    heard,
    pids: () => heard().flatMap((line) => (line.startsWith("start ") ? [Number(line.slice(6))] : [])),
  }
}

/** A tool of the room, as the road would run it. */
export const callTool = (
  name: string,
  args: Readonly<Record<string, unknown>>,
): Effect.Effect<unknown, ToolExecutionError, Upstreams> =>
  Effect.flatMap(Upstreams, (upstreams) => {
    const found = upstreams.tools().find(({ tool }) => tool.definition.name === name)
    if (found === undefined) return Effect.die(new Error(`no tool ${name}`))
    return found.tool.handler(args, {
      callId: "call",
      agentId: "agent",
      sessionId: "session",
      correlationId: "correlation",
      idempotencyKey: "key",
      progress: () => Effect.void,
    })
  })
