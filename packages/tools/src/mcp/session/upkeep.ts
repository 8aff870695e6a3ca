/**
 * Keeps a connection alive: notices a loss, reports it, and reconnects with growing pauses; follows the server's
 * notices that its tools have changed. MCPClient shows and calls what it holds.
 */
import type { MCPServer } from "@stoa/contract"
import { Deferred, Effect, Equal, Queue, Random } from "effect"
import { type Fault, isFinal } from "../client/faults.ts"
import { type Breaker, closed } from "../client/breaker.ts"
import type { MCPSettings } from "../MCPSettings.ts"
import type { MCPLeftOut } from "../client/tools/MCPResult.ts"
import type { MCPTool } from "../client/tools/MCPTool.ts"
import { MCPUnreached } from "../client/MCPUnreached.ts"
import { open, type OpenConnection, openOnce, type Opening } from "./opening.ts"

export interface Link {
  readonly opening: Opening
  opened: OpenConnection | undefined
  status: MCPServer["status"]
  version: string
  tools: ReadonlyMap<string, MCPTool>
  dropped: ReadonlyArray<MCPLeftOut>
  breaker: Breaker
  /** Why it is not connected, in words. */
  why: string
  /** Resolves when the server is back. */
  back: Deferred.Deferred<void>
}

export const serverOf = ({ opening: { config }, status, tools, version }: Link): MCPServer => ({
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
const patience = (settings: MCPSettings, failures: number, final: boolean): number =>
  final || failures >= settings.breaker.failures
    ? settings.breaker.coolDownMs
    : Math.min(settings.backoffMs * 2 ** failures, settings.maxBackoffMs)

const adopt = (kept: Link, opened: OpenConnection) => {
  kept.opened = opened
  kept.status = "connected"
  kept.version = opened.session.server.version
  kept.tools = new Map(opened.tools.map((tool) => [tool.name, tool]))
  kept.dropped = opened.dropped
  kept.breaker = closed
  Deferred.doneUnsafe(kept.back, Effect.void)
}

/** Only a different list is reported: a server may announce a change when there is none. */
const follow = Effect.fnUntraced(function* (kept: Link, tools: ReadonlyArray<MCPTool>) {
  const before = [...kept.tools.values()].map((tool) => tool.raw)
  kept.tools = new Map(tools.map((tool) => [tool.name, tool]))
  if (Equal.equals(JSON.stringify(before), JSON.stringify(tools.map((tool) => tool.raw)))) return
  yield* kept.opening.ports.onTools(kept.opening.config.name, tools)
})

const refresh = Effect.fnUntraced(function* (kept: Link, { session }: OpenConnection) {
  for (;;) {
    yield* Queue.take(session.toolsChanged)
    // If a list cannot be read, the last one stays; if the server is gone, that is noticed elsewhere.
    const listed = yield* Effect.option(session.listTools)
    if (listed._tag === "Some" && kept.opened?.session === session) {
      kept.dropped = listed.value.dropped
      yield* follow(kept, listed.value.tools)
    }
  }
})

const findAgain = Effect.fnUntraced(function* (kept: Link) {
  const { settings } = kept.opening
  for (let failures = 0; ; failures++) {
    const found = yield* Effect.result(openOnce(kept.opening, failures))
    if (found._tag === "Success") return found.success
    kept.why = new MCPUnreached(found.failure, kept.opening.config).words
    const waitMs = patience(settings, failures, isFinal(found.failure))
    // With jitter: servers that failed together should not all be retried at the same moment.
    yield* Effect.sleep(waitMs * (0.75 + 0.5 * (yield* Random.next)))
  }
})

/** Synchronous, so that the request that noticed the loss can wait for the return. */
export const loseConnection = (kept: Link, opened: OpenConnection, fault: Fault) => {
  if (kept.opened === opened) {
    kept.opened = undefined
    kept.status = "error"
    kept.why = fault.message
    kept.back = Deferred.makeUnsafe()
  }
  Deferred.doneUnsafe(opened.session.lost, Effect.succeed(fault))
}

/** Runs until it is interrupted. */
export const upkeep = Effect.fnUntraced(function* (kept: Link) {
  const { onStatus } = kept.opening.ports
  for (;;) {
    const { opened } = kept
    if (opened === undefined) return
    loseConnection(kept, opened, yield* Effect.raceFirst(Deferred.await(opened.session.lost), refresh(kept, opened)))
    yield* opened.close
    yield* onStatus(serverOf(kept))
    const before = kept.tools
    const again = yield* Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(findAgain(kept)), (found) => Effect.sync(() => adopt(kept, found))),
    )
    kept.tools = before
    yield* follow(kept, again.tools)
    yield* onStatus(serverOf(kept))
  }
})

export const keepConnection = Effect.fnUntraced(function* (opening: Opening) {
  const opened = yield* open(opening)
  const kept: Link = {
    opening,
    opened,
    status: "connected",
    version: "unknown",
    tools: new Map(),
    dropped: [],
    breaker: closed,
    why: "",
    back: Deferred.makeUnsafe(),
  }
  adopt(kept, opened)
  return kept
})
