/**
 * Keeps a connection alive: notices a loss, reports it, and reconnects with growing pauses; follows the server's
 * notices that its tools have changed. MCPClient shows and calls what it holds.
 */
import type { MCPServer } from "@stoa/contract"
import { Deferred, Effect, Equal, Queue, Random } from "effect"
import { type MCPFault, isFinal } from "../client/faults.ts"
import { type Breaker, closed } from "../client/breaker.ts"
import type { MCPSettings } from "../MCPSettings.ts"
import type { MCPDroppedItem } from "../client/tools/MCPResult.ts"
import type { MCPTool } from "../client/tools/MCPTool.ts"
import { MCPUnreachable } from "../client/MCPUnreachable.ts"
import { connect, type OpenConnection, connectOnce, type ConnectOptions } from "./connect.ts"

export interface ServerLink {
  readonly options: ConnectOptions
  connection: OpenConnection | undefined
  status: MCPServer["status"]
  version: string
  tools: ReadonlyMap<string, MCPTool>
  dropped: ReadonlyArray<MCPDroppedItem>
  breaker: Breaker
  /** Why it is not connected, in words. */
  why: string
  /** Resolves when the server is back. */
  back: Deferred.Deferred<void>
}

export const serverOf = ({ options: { config }, status, tools, version }: ServerLink): MCPServer => ({
  name: config.name,
  version,
  transport: config.transport,
  ...(config.endpoint === undefined ? {} : { endpoint: config.endpoint }),
  ...(config.command === undefined ? {} : { command: config.command }),
  ...(config.args === undefined ? {} : { args: config.args }),
  tools: [...tools.keys()],
  status,
})

/** How long to wait before the next attempt; after many failures, or one that will not go away, it is the cool-down. */
const waitBefore = (settings: MCPSettings, failures: number, final: boolean): number =>
  final || failures >= settings.breaker.failures
    ? settings.breaker.coolDownMs
    : Math.min(settings.backoffMs * 2 ** failures, settings.maxBackoffMs)

const setConnected = (link: ServerLink, connection: OpenConnection) => {
  link.connection = connection
  link.status = "connected"
  link.version = connection.session.server.version
  link.tools = new Map(connection.tools.map((tool) => [tool.name, tool]))
  link.dropped = connection.dropped
  link.breaker = closed
  Deferred.doneUnsafe(link.back, Effect.void)
}

/** Only a different list is reported: a server may announce a change when there is none. */
const reportTools = Effect.fnUntraced(function* (link: ServerLink, tools: ReadonlyArray<MCPTool>) {
  const before = [...link.tools.values()].map((tool) => tool.raw)
  link.tools = new Map(tools.map((tool) => [tool.name, tool]))
  if (Equal.equals(JSON.stringify(before), JSON.stringify(tools.map((tool) => tool.raw)))) return
  yield* link.options.ports.onTools(link.options.config.name, tools)
})

const refresh = Effect.fnUntraced(function* (link: ServerLink, { session }: OpenConnection) {
  for (;;) {
    yield* Queue.take(session.toolsChanged)
    // If a list cannot be read, the last one stays; if the server is gone, that is noticed elsewhere.
    const listed = yield* Effect.option(session.listTools)
    if (listed._tag === "Some" && link.connection?.session === session) {
      link.dropped = listed.value.dropped
      yield* reportTools(link, listed.value.tools)
    }
  }
})

const reconnect = Effect.fnUntraced(function* (link: ServerLink) {
  const { settings } = link.options
  for (let failures = 0; ; failures++) {
    const found = yield* Effect.result(connectOnce(link.options, failures))
    if (found._tag === "Success") return found.success
    link.why = new MCPUnreachable(found.failure, link.options.config).words
    const waitMs = waitBefore(settings, failures, isFinal(found.failure))
    // With jitter: servers that failed together should not all be retried at the same moment.
    yield* Effect.sleep(waitMs * (0.75 + 0.5 * (yield* Random.next)))
  }
})

/** Synchronous, so that the request that noticed the loss can wait for the return. */
export const loseConnection = (link: ServerLink, connection: OpenConnection, fault: MCPFault) => {
  if (link.connection === connection) {
    link.connection = undefined
    link.status = "error"
    link.why = fault.message
    link.back = Deferred.makeUnsafe()
  }
  Deferred.doneUnsafe(connection.session.lost, Effect.succeed(fault))
}

/** Runs until it is interrupted. */
export const maintainLink = Effect.fnUntraced(function* (link: ServerLink) {
  const { onStatus } = link.options.ports
  for (;;) {
    const { connection } = link
    if (connection === undefined) return
    loseConnection(
      link,
      connection,
      yield* Effect.raceFirst(Deferred.await(connection.session.lost), refresh(link, connection)),
    )
    yield* connection.close
    yield* onStatus(serverOf(link))
    const before = link.tools
    const again = yield* Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(reconnect(link)), (found) => Effect.sync(() => setConnected(link, found))),
    )
    link.tools = before
    yield* reportTools(link, again.tools)
    yield* onStatus(serverOf(link))
  }
})

export const openLink = Effect.fnUntraced(function* (options: ConnectOptions) {
  const connection = yield* connect(options)
  const link: ServerLink = {
    options,
    connection,
    status: "connected",
    version: "unknown",
    tools: new Map(),
    dropped: [],
    breaker: closed,
    why: "",
    back: Deferred.makeUnsafe(),
  }
  setConnected(link, connection)
  return link
})
