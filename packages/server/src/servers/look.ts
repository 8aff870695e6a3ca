/** Looks at an MCP server without storing anything: connects, lists its tools, and disconnects. */
import { MCPServerLook, type MCPServerProgram, type NewMCPServer } from "@stoa/contract"
import { defaultMCPPorts, type MCPConnection, type MCPTool, mcpToolDefinition, Redactor } from "@stoa/tools"
import { Deferred, Effect, type Schema } from "effect"
import type { Reveal } from "../access/secrets/Reveal.ts"
import type { Deltas } from "../store/journal/signals/Deltas.ts"
import { ServerLog, logLineOf } from "./connections/serverLog.ts"
import { plainSecrets } from "./connections/connectionConfig.ts"
import { type ConnectionFault, stayConnected } from "./connections/reconnect.ts"

const maxWait = "10 seconds"
const maxTools = 1000
const tooLate = `it did not answer within ${maxWait}. Look at its log, or add it and give it more time`

interface Unreached {
  readonly error: string
  readonly detail: string | undefined
  readonly step: NonNullable<MCPServerLook["failed"]>
}

const nothing = { version: null, protocol: null, tools: [] }

/** A program that nobody has confirmed: it is shown, and not run. */
export const unconfirmed = (name: string, program: MCPServerProgram): MCPServerLook =>
  new MCPServerLook({ dryRun: true, name, ...nothing, status: "unconfirmed", program, log: [] })

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
  const heard = yield* Deferred.make<MCPConnection, Unreached>()
  const said = (level: string, text: string) => lines.add(level, redactor.text(text))
  const ears = {
    connected: (connection: MCPConnection) => Effect.asVoid(Deferred.succeed(heard, connection)),
    listed: () => Effect.void,
    changed: () => Effect.void,
    lost: (why: string, more?: ConnectionFault) =>
      Effect.asVoid(
        Deferred.fail(heard, {
          error: redactor.text(why),
          detail: more === undefined ? undefined : redactor.text(more.detail),
          step: more?.step ?? "protocol",
        }),
      ),
    said: (level: string, data: unknown) => said(level, logLineOf(data)),
  }
  const base = { dryRun: true as const, name }
  const failed = Effect.fnUntraced(function* ({ detail, error, step }: Unreached) {
    yield* said("error", error)
    if (detail !== undefined) yield* said("debug", detail)
    return new MCPServerLook({ ...base, ...nothing, status: "error", error, failed: step, log: lines.all })
  })
  return yield* Effect.gen(function* () {
    yield* said("info", `looking at ${spec.command ?? spec.url ?? name}`)
    yield* Effect.forkScoped(stayConnected({ name, spec, reveal, redactor, eras: defaultMCPPorts().eras }, ears))
    const connection = yield* Deferred.await(heard)
    const details = yield* Effect.mapError(connection.details, ({ message }): Unreached => ({
      error: message,
      step: "protocol",
      detail: undefined,
    }))
    const server = yield* connection.server
    const listed = yield* connection.tools
    yield* said("info", `it is ${server.name} ${server.version}, and has ${listed.length} tools`)
    return new MCPServerLook({
      ...base,
      status: "connected",
      version: server.version,
      protocol: details.protocolVersion,
      tools: listed.slice(0, maxTools).map((tool) => seen(name, tool)),
      log: lines.all,
    })
  }).pipe(
    Effect.scoped,
    Effect.timeoutOrElse({
      duration: maxWait,
      orElse: () => Effect.fail<Unreached>({ error: tooLate, step: "protocol", detail: undefined }),
    }),
    Effect.catch(failed),
  )
})
