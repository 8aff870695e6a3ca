/**
 * Stays connected to one server while its scope lives: retries until the server answers, then leaves the connection to
 * the client of `@stoa/tools`. It reports what happens and decides nothing.
 */
import { hasPlaceholder, MCPConnectionError, type MCPServerSpec } from "@stoa/contract"
import {
  checkHost,
  CurrentToolsConfig,
  defaultMCPPorts,
  defaultToolsConfig,
  MCPClient,
  type MCPConnection,
  MCPPorts,
  type MCPServerConfig,
  type MCPTool,
  MCPUnreachable,
  type Redactor,
} from "@stoa/tools"
import { Cause, Context, Deferred, Effect, Exit, Layer, Random } from "effect"
import { type Reveal, revealAll } from "../../access/secrets/Reveal.ts"
import { guardedFetch } from "./guardedFetch.ts"
import { configOf } from "./connectionConfig.ts"

/** Called in order: each finishes before the connection is used further. */
export interface ConnectionListeners {
  readonly connected: (connection: MCPConnection) => Effect.Effect<void>
  readonly listed: (tools: ReadonlyArray<MCPTool>) => Effect.Effect<void>
  /** Its list of resources or prompts has changed, or one resource has new contents. */
  readonly changed: (change: Parameters<MCPPorts["onChange"]>[1]) => Effect.Effect<void>
  /** `more`: the technical cause, for the log, and what failed. */
  readonly lost: (why: string, more?: ConnectionFault) => Effect.Effect<void>
  /** A line of its log. */
  readonly said: (level: string, data: unknown) => Effect.Effect<void>
}

export interface ConnectionFault {
  readonly detail: string
  readonly step: MCPUnreachable["step"]
}

export interface ConnectionTarget {
  readonly name: string
  readonly spec: MCPServerSpec
  readonly reveal: Reveal
  /** For everything the server sends. */
  readonly redactor: Redactor
  readonly eras: MCPPorts["eras"]
}

const lost = "the connection was lost; it is being looked for"

/** Between attempts: doubled each time, up to a minute. */
const firstMs = 1000
const longestMs = 60_000

/** A server with the oldest transport refuses the newer one in one of these ways. */
const isOld = (cause: unknown): boolean => {
  const first = cause instanceof MCPUnreachable ? cause.cause : cause
  const status = (first as { readonly data?: { readonly status?: number } } | undefined)?.data?.status
  return status !== undefined && [400, 404, 405].includes(status)
}

/** Why, and what the house offers against it. */
const sentenceOf = ({ step, words }: MCPUnreachable): string =>
  step === "sign-in"
    ? `${words}. Give it one in a header, such as authorization: Bearer \${secret.NAME}; an operator sets the secret NAME`
    : words

const reach = Effect.fnUntraced(function* (
  { eras, name, redactor, reveal, spec }: ConnectionTarget,
  listeners: ConnectionListeners,
) {
  const config = yield* Effect.mapError(configOf(name, spec, reveal, redactor), (message) => ({ message }))
  const refuse = (message: string) => new MCPConnectionError({ message, serverName: name, transport: config.transport })
  const stated = spec.headers ?? {}
  const headers = Object.values(stated).some(hasPlaceholder)
    ? Effect.mapError(revealAll(stated, reveal, redactor), refuse)
    : stated
  const http = config.transport === "sse" || config.transport === "streamable-http"
  const fetch = http ? yield* guardedFetch(spec.url!, headers, refuse) : defaultMCPPorts().fetch
  // A websocket has no fetch to guard; its host is checked before each attempt.
  if (config.transport === "websocket") {
    const url = new URL(spec.url!.replace(/^ws/i, "http"))
    yield* Effect.mapError(checkHost(url, [url.host]), ({ detail }) => refuse(detail))
  }
  let connection: MCPConnection | undefined
  // A program that was given secrets is restarted by us, with the present values.
  const renewed = config.transport === "stdio" && Object.values(spec.env ?? {}).some(hasPlaceholder)
  const gone = yield* Deferred.make<never, MCPConnectionError>()
  const ports: MCPPorts = {
    ...defaultMCPPorts(),
    eras,
    fetch,
    redactor,
    relays: true,
    onChange: (_, change) => listeners.changed(change),
    onTools: (_, tools) => (connection === undefined ? Effect.void : listeners.listed(tools)),
    onStatus: ({ status }) =>
      status === "connected" && connection !== undefined
        ? listeners.connected(connection)
        : renewed
          ? Deferred.fail(gone, refuse(lost)).pipe(Effect.asVoid)
          : listeners.lost(lost),
    onLog: (_, { data, level }) =>
      Effect.andThen(Effect.logDebug(`${name} says (${level})`, data), listeners.said(level, data)),
  }
  const layer = Layer.fresh(MCPClient.layer).pipe(
    Layer.provide(Layer.succeed(MCPPorts, ports)),
    Layer.provide(Layer.succeed(CurrentToolsConfig, defaultToolsConfig)),
  )
  const client = Context.get(yield* Layer.build(layer), MCPClient)
  const guessed = spec.transport === undefined && config.transport === "streamable-http"
  const older: MCPServerConfig = { ...config, transport: "sse" }
  connection = yield* Effect.catchIf(
    client.connect(config),
    (error) => guessed && isOld(error.cause),
    (error) => Effect.mapError(client.connect(older), () => error),
  )
  yield* listeners.connected(connection)
  return yield* Deferred.await(gone)
})

export const stayConnected = Effect.fnUntraced(function* (wanted: ConnectionTarget, listeners: ConnectionListeners) {
  let failures = 0
  const patient: ConnectionListeners = {
    ...listeners,
    connected: (connection) =>
      Effect.andThen(
        listeners.connected(connection),
        Effect.sync(() => void (failures = 0)),
      ),
  }
  for (; ; failures++) {
    const exit = yield* Effect.exit(Effect.scoped(reach(wanted, patient)))
    if (Exit.isSuccess(exit)) return
    const { cause, message } = Cause.squash(exit.cause) as { readonly message?: string; readonly cause?: unknown }
    if (cause instanceof MCPUnreachable)
      yield* listeners.lost(sentenceOf(cause), { detail: cause.detail, step: cause.step })
    else yield* listeners.lost(message ?? "it could not be reached")
    const waitMs = Math.min(firstMs * 2 ** failures, longestMs)
    // With jitter: servers that failed together should not all be retried at the same moment.
    yield* Effect.sleep(waitMs * (0.75 + 0.5 * (yield* Random.next)))
  }
})
