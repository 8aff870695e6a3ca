/** Looks at an MCP server without storing anything: connects, lists its tools, and disconnects. */
import { type MCPServerSpec, MCPServerLook, type NewMCPServer } from "@stoa/contract"
import { defaultMCPPorts, type MCPConnection, type MCPTool, mcpToolDefinition, Redactor } from "@stoa/tools"
import { Deferred, Effect, Option, type Schema } from "effect"
import type { Reveal } from "../access/secrets/Reveal.ts"
import type { Deltas } from "../store/journal/signals/Deltas.ts"
import { ServerLog, logLineOf } from "./connections/serverLog.ts"
import { plainSecrets } from "./connections/reach.ts"
import { stayConnected } from "./connections/reconnect.ts"

const patience = "10 seconds"
const mostTools = 1000
const tooLate = `it did not answer within ${patience}; look at its log, or add it and give it more time`

/** Which of the four steps failed, judging from the configuration and the error message. */
const failedAt = (spec: MCPServerSpec, why: string): NonNullable<MCPServerLook["failed"]> => {
  if (/\b(401|403)\b|unauthori|forbidden/i.test(why)) return "sign-in"
  const away = /ENOENT|EACCES|spawn|not found|exited|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|refused|could not be reached|404/i
  return away.test(why) ? (spec.command === undefined ? "address" : "program") : "protocol"
}

const seen = (server: string, tool: MCPTool): MCPServerLook["tools"][number] => ({
  name: tool.name,
  description: tool.description ?? "",
  definition: tool as unknown as Schema.Json,
  risk: mcpToolDefinition(server, tool).riskLevel,
})

export const tryServer = Effect.fnUntraced(function* (
  { name, ...spec }: NewMCPServer,
  reveal: Reveal,
  deltas: Deltas["Service"],
) {
  const redactor = new Redactor(plainSecrets(spec))
  const lines = new ServerLog(name, deltas)
  const heard = yield* Deferred.make<MCPConnection, string>()
  const said = (level: string, text: string) => lines.add(level, redactor.text(text))
  const ears = {
    connected: (connection: MCPConnection) => Effect.asVoid(Deferred.succeed(heard, connection)),
    listed: () => Effect.void,
    changed: () => Effect.void,
    lost: (why: string) => Effect.asVoid(Deferred.fail(heard, redactor.text(why))),
    said: (level: string, data: unknown) => said(level, logLineOf(data)),
  }
  const base = { dryRun: true as const, name }
  const nothing = { version: null, protocol: null, tools: [] }
  const failed = (error: string) =>
    Effect.map(
      said("error", error),
      () =>
        new MCPServerLook({
          ...base,
          ...nothing,
          status: "error",
          error,
          failed: failedAt(spec, error),
          log: lines.all,
        }),
    )
  return yield* Effect.gen(function* () {
    yield* said("info", `looking at ${spec.command ?? spec.url ?? name}`)
    yield* Effect.forkScoped(stayConnected({ name, spec, reveal, redactor, eras: defaultMCPPorts().eras }, ears))
    const connection = yield* Deferred.await(heard)
    const details = yield* Effect.mapError(connection.details, ({ message }) => message)
    const server = yield* connection.server
    const listed = yield* connection.tools
    yield* said("info", `it is ${server.name} ${server.version}, and has ${listed.length} tools`)
    return new MCPServerLook({
      ...base,
      status: "connected",
      version: server.version,
      protocol: details.protocolVersion,
      tools: listed.slice(0, mostTools).map((tool) => seen(name, tool)),
      log: lines.all,
    })
  }).pipe(
    Effect.scoped,
    Effect.timeoutOption(patience),
    Effect.map(Option.getOrUndefined),
    Effect.map((found) => found ?? tooLate),
    Effect.catch((why) => Effect.succeed(why)),
    Effect.flatMap((found) => (typeof found === "string" ? failed(found) : Effect.succeed(found))),
  )
})
