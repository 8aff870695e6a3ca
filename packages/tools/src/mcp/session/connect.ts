/** From a configuration to a session with its tools: a few attempts, each within the connection timeout (S4-74). */
// edge: fetch is a promise
import { ConfigProvider, Effect, Exit, Schedule, Scope } from "effect"
import type { ToolsConfig } from "../../ToolsConfig.ts"
import { type MCPFault, isFinal } from "../client/faults.ts"
import type { MCPPorts } from "./MCPPorts.ts"
import { keyOfMCPServer, type MCPServerConfig } from "../MCPServerConfig.ts"
import type { MCPSettings } from "../MCPSettings.ts"
import type { MCPDroppedItem } from "../client/tools/MCPResult.ts"
import type { MCPTool } from "../client/tools/MCPTool.ts"
import { openSession, type Session } from "./session.ts"

export interface OpenConnection {
  readonly session: Session
  readonly tools: ReadonlyArray<MCPTool>
  readonly dropped: ReadonlyArray<MCPDroppedItem>
  /** Ends the session and its process. */
  readonly close: Effect.Effect<void>
}

export interface ConnectOptions {
  readonly config: MCPServerConfig
  readonly ports: MCPPorts
  readonly limits: ToolsConfig["mcp"]
  readonly settings: MCPSettings
  readonly environment: ConfigProvider.ConfigProvider
}

const late = (ms: number): MCPFault => ({
  kind: "timeout",
  message: `no answer within ${ms} ms`,
  afterMs: ms,
  cause: undefined,
})
const notSignedIn = (ms: number): MCPFault => ({
  kind: "unauthorized",
  message: `not signed in within ${ms} ms`,
  afterMs: ms,
  cause: undefined,
})

/** Notices when the server requires a person to sign in. */
const withSignInNotice =
  (fetch: MCPPorts["fetch"], notice: () => void): MCPPorts["fetch"] =>
  async (url, init) => {
    const response = await fetch(url, init)
    if (response.status === 401 || response.status === 403) notice()
    return response
  }

/**
 * A silent pipe gets more time with each attempt: a slow starter counts as old at first, and one that speaks only the
 * new era would then never be understood. Over HTTP silence is an outage.
 */
const probeMsOf = ({ config, limits, settings }: ConnectOptions, attempt: number): number =>
  config.transport === "stdio" || config.transport === "websocket"
    ? Math.min(settings.probeMs * 2 ** attempt, limits.connectionTimeoutMs * 0.8)
    : limits.connectionTimeoutMs

export const connectOnce = Effect.fnUntraced(function* (
  options: ConnectOptions,
  attempt: number,
): Effect.fn.Return<OpenConnection, MCPFault> {
  const { config, limits } = options
  let signsIn = false
  const ports = { ...options.ports, fetch: withSignInNotice(options.ports.fetch, () => void (signsIn = true)) }
  const key = keyOfMCPServer(config)
  const scope = yield* Scope.make()
  const opened = Effect.gen(function* () {
    const session = yield* openSession({
      config,
      ports,
      graceMs: options.settings.graceMs,
      requestTimeoutMs: limits.requestTimeoutMs,
      probeMs: probeMsOf(options, attempt),
      prior: yield* ports.eras.recall(key),
    })
    const { dropped, tools } = yield* session.listTools
    yield* ports.eras.remember(key, session.era)
    return { session, tools, dropped, close: Scope.close(scope, Exit.void) }
  })
  return yield* opened.pipe(
    Scope.provide(scope),
    Effect.provideService(ConfigProvider.ConfigProvider, options.environment),
    Effect.timeoutOrElse({
      duration: limits.connectionTimeoutMs,
      // The SDK's sign-in continues after its attempt has timed out: a second one at the same time would spoil both.
      orElse: () => Effect.fail((signsIn ? notSignedIn : late)(limits.connectionTimeoutMs)),
    }),
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) ? Effect.void : Effect.andThen(ports.eras.forget(key), Scope.close(scope, exit)),
    ),
  )
})

/** `maxRetries` is the total number of attempts: three attempts, then the error. */
export const connect = (options: ConnectOptions): Effect.Effect<OpenConnection, MCPFault> =>
  Effect.suspend(() => {
    let attempt = 0
    return Effect.retry(
      Effect.suspend(() => connectOnce(options, attempt++)),
      {
        times: Math.max(0, options.limits.maxRetries - 1),
        schedule: Schedule.jittered(Schedule.exponential(options.settings.backoffMs)),
        while: (fault) => !isFinal(fault),
      },
    )
  })
