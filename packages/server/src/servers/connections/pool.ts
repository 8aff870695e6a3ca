/**
 * The connections, in step with the rows and the pauses: one per server, shared by all callers, since a request carries
 * only its own arguments. One fiber opens and closes them, so that no request's lifetime is tied to a connection's.
 */
import { type PrincipalId, serverOfTool } from "@stoa/contract"
import { defaultMCPPorts, digestOf, type MCPConnection, type MCPTool } from "@stoa/tools"
import { Deferred, Effect, Exit, Fiber, Option, Queue, Schedule, type Schema, Scope, Semaphore } from "effect"
import { monotonicMillis } from "../../store/Moment.ts"
import { nameKey } from "../../access/identity/Principals.ts"
import { isServerPaused, Pauses } from "../../access/limits/Pauses.ts"
import type { Reveal } from "../../access/secrets/Reveal.ts"
import { Correlation } from "../../store/journal/Correlation.ts"
import { Deltas } from "../../store/journal/signals/Deltas.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { serverOf, type ConnectedServer } from "../connectedServer.ts"
import { makeConversations } from "./conversations.ts"
import { newEntry, isStarting, type Entry, emptyOffer, waitUntilConnected, type ServerTool } from "./entry.ts"
import { allOf, nothingLeftOut, refusedOf, tellLeftOut } from "../tools/leftOut.ts"
import { makeOfferings } from "../contents/lists.ts"
import { isAllowed, offerOf, stepsOf } from "../tools/pins.ts"
import { logLineOf } from "./serverLog.ts"
import { placeOf, silenceMsOf } from "./connectionConfig.ts"
import { type makeRows, serverKey } from "../rows.ts"
import { type ConnectionListeners, stayConnected, type ConnectionFault } from "./reconnect.ts"
import { isForAppsAlone, toolOf } from "../tools/tool.ts"
import { makeToolCalls } from "../tools/toolCall.ts"

/** A call that is given up: its tool, and the state of its question. */
export interface AbandonedCall {
  readonly tool: string
  readonly state: Schema.Json
}

const longestError = 500
const busyMs = 1000

const nameOf = ({ owner, tool }: ServerTool) => `${tool.definition.name}\n${owner ?? ""}`
const inOrder = (a: ServerTool, b: ServerTool) => (nameOf(a) < nameOf(b) ? -1 : 1)

export const makePool = Effect.fnUntraced(function* (rows: ReturnType<typeof makeRows>, reveal: Reveal) {
  const journal = yield* Journal
  const deltas = yield* Deltas
  const pauses = yield* Pauses
  const { eras } = defaultMCPPorts()
  const entries = new Map<string, Entry>()
  const scope = yield* Effect.scope
  const hearers = new Set<() => void>()
  const pins = yield* Semaphore.make(1)
  const alone = <A>(effect: Effect.Effect<A>) => pins.withPermit(effect)
  const closings = new Set<Fiber.Fiber<void>>()
  const offerings = yield* makeOfferings()
  const conversations = makeConversations()
  const { giveUp, run } = makeToolCalls(conversations)
  let snapshot: ReadonlyArray<ServerTool> = []

  const changed = () => {
    snapshot = [...entries.values()].flatMap((entry) => entry.tools).toSorted(inOrder)
    for (const tell of hearers) tell()
  }

  /** Computes what a server offers now, and tells listeners if it has changed. */
  const refresh = (entry: Entry) => {
    const { id, name, owner, spec } = entry.server
    const shut = entry.scope === undefined || entries.get(id) !== entry
    entry.offer = shut ? emptyOffer : offerOf(entry.listed, entry.pins, spec?.allowedTools, entry.leftOut.refused)
    entry.callable = new Set(entry.offer.tools.map((tool) => tool.name))
    const signature = entry.offer.tools
      .map((tool) => `${tool.name} ${entry.pins.get(tool.name)!.digest} ${isForAppsAlone(tool)}`)
      .join("\n")
    if (signature === entry.signature) return
    entry.signature = signature
    entry.tools = entry.offer.tools.map((tool) => ({
      server: name,
      owner,
      targetDigest: digestOf([id, spec === undefined ? "" : placeOf(spec)]),
      reviewed: false,
      pinnedAt: entry.pins.get(tool.name)!.pinnedAt,
      ...(isForAppsAlone(tool) ? { onlyForApps: true as const } : {}),
      tool: toolOf(name, tool, {
        timeoutMs: silenceMsOf(spec),
        connection: () => {
          const { connection, scope } = entry
          const there = mayCall(entry, tool.name) && connection !== undefined && scope !== undefined
          return there ? { connection, scope } : undefined
        },
        waitUntilConnected: waitUntilConnected(entry),
        isStarting: () => isStarting(entry),
        run,
      }),
    }))
    changed()
  }

  /** Checked again at each call: a listed tool may be held, forbidden or gone by then. */
  const mayCall = (entry: Entry, tool: string): boolean =>
    entries.get(entry.server.id) === entry &&
    entry.scope !== undefined &&
    isAllowed(entry.server.spec?.allowedTools, tool) &&
    entry.callable.has(tool)

  const adopt = Effect.fnUntraced(function* (
    entry: Entry,
    listed: ReadonlyArray<MCPTool>,
    connection: MCPConnection | undefined,
  ) {
    const { id, name, owner, spec } = entry.server
    // Removed while it was listing.
    if (entries.get(id) !== entry) return
    const steps = stepsOf(listed, entry.pins, spec?.review ?? "hold")
    if (steps.length > 0)
      yield* journal.transact(
        Effect.forEach(
          steps,
          Effect.fnUntraced(function* (step) {
            yield* rows.write(id, step)
            const body = { server: name, owner, tool: step.tool, digest: step.digest }
            if (step.kind === "hold") yield* journal.append({ kind: "server.tool-held", body })
            if (step.kind === "accept") yield* journal.append({ kind: "server.tool-accepted", body })
          }),
          { discard: true },
        ),
      )
    entry.pins = (yield* rows.pins).get(id) ?? new Map()
    entry.listed = listed
    const before = entry.leftOut
    const said =
      connection === undefined ? [] : (yield* Effect.orElseSucceed(connection.details, () => nothingLeftOut)).dropped
    entry.leftOut = { refused: yield* refusedOf(name, listed), dropped: said }
    yield* tellLeftOut(name, allOf(before), allOf(entry.leftOut))
    refresh(entry)
  }, alone)

  const listenersOf = (entry: Entry): ConnectionListeners => {
    const { name, owner } = entry.server
    const failed = Effect.fnUntraced(function* (why: string, more?: ConnectionFault) {
      const error = entry.redactor.text(why).slice(0, longestError)
      const news = entry.status !== "error"
      entry.status = "error"
      entry.error = error
      yield* entry.lines.add("error", error)
      const detail = more === undefined ? "" : entry.redactor.text(more.detail).slice(0, longestError)
      if (detail !== "") yield* entry.lines.add("debug", detail)
      if (news) {
        yield* Effect.logWarning(`MCP server "${name}" is not usable: ${error}${detail === "" ? "" : ` [${detail}]`}`)
        yield* journal.transact(journal.append({ kind: "server.disconnected", body: { server: name, owner, error } }))
      }
      yield* Deferred.succeed(entry.first, undefined)
    })
    const connected = Effect.fnUntraced(function* (connection: MCPConnection) {
      const details = yield* Effect.option(connection.details)
      // Disconnected again meanwhile: that is reported separately.
      if (Option.isNone(details)) return
      const server = yield* connection.server
      const { protocolVersion: protocol } = details.value
      const news = entry.status !== "connected"
      const { scope: own } = entry
      // Its tools cannot be called before they were compared with their pins.
      yield* adopt(entry, yield* connection.tools, connection)
      // Stopped meanwhile.
      if (own === undefined || entry.scope !== own) return
      Object.assign(entry, { connection, status: "connected", version: server.version, protocol, error: undefined })
      yield* offerings.connected(entry.server.id, entry.contents, connection)
      yield* entry.lines.add("info", `connected: ${server.name} ${server.version}, ${entry.tools.length} tools`)
      if (news)
        yield* journal.transact(
          journal.append({
            kind: "server.connected",
            body: { server: name, owner, version: server.version, protocol, tools: entry.tools.length },
          }),
        )
      yield* Deferred.succeed(entry.first, undefined)
    })
    /** At once, and then once a second at most: a server that keeps changing must not fill the journal. */
    const listed = Effect.fnUntraced(function* (tools: ReadonlyArray<MCPTool>) {
      const waitMs = entry.toldAt + busyMs - (yield* monotonicMillis)
      if (waitMs > 0) yield* Effect.sleep(waitMs)
      entry.toldAt = yield* monotonicMillis
      yield* adopt(entry, tools, entry.connection)
    })
    // A bug of ours in here must not end the connection; and no request waits for the report.
    const safely = (telling: Effect.Effect<unknown>) =>
      Effect.catchCause(telling, (cause) => Effect.logError(`MCP server "${name}"`, cause)).pipe(
        Effect.provideService(Correlation, undefined),
        Effect.asVoid,
      )
    return {
      connected: (connection) => safely(connected(connection)),
      listed: (tools) => safely(listed(tools)),
      changed: (change) => safely(offerings.heard(entry.server.id, entry.contents, change)),
      lost: (why, more) => safely(failed(why, more)),
      said: (level, data) => safely(entry.lines.add(level, entry.redactor.text(logLineOf(data)))),
    }
  }

  const launch = Effect.fnUntraced(function* (entry: Entry) {
    const { name, spec } = entry.server
    if (spec === undefined) return yield* Deferred.succeed(entry.first, undefined)
    entry.scope = yield* Scope.make()
    entry.first = Deferred.makeUnsafe()
    // A stopped server is shown as it was, until it reports something else.
    offerings.expected(entry.server.id, entry.contents)
    const connected = stayConnected({ name, spec, reveal, redactor: entry.redactor, eras }, listenersOf(entry))
    return yield* Effect.forkIn(connected, entry.scope)
  })

  /** Its tools are gone at once; the returned effect ends the connection and its program. */
  const end = (entry: Entry): Effect.Effect<void> => {
    const own = entry.scope
    if (own === undefined) return Effect.void
    Object.assign(entry, {
      scope: undefined,
      connection: undefined,
      status: "disconnected",
      error: undefined,
    })
    // Whoever waits for its first attempt waits in vain.
    Deferred.doneUnsafe(entry.first, Effect.void)
    offerings.gone(entry.server.id, entry.contents)
    refresh(entry)
    return Scope.close(own, Exit.void)
  }
  const together = (all: ReadonlyArray<Effect.Effect<void>>) =>
    Effect.forEach(all, (one) => one, { concurrency: "unbounded", discard: true })

  const reconcile = Effect.gen(function* () {
    const servers = yield* rows.all
    // By name: a paused server stays disconnected when it is added again.
    const paused = yield* pauses.now
    const now = new Map(servers.map((server) => [server.id, server]))
    const ending: Array<Entry> = []
    for (const [id, entry] of entries) {
      if (now.get(id)?.revision === entry.server.revision) continue
      entries.delete(id)
      ending.push(entry)
    }
    for (const server of servers) if (!entries.has(server.id)) entries.set(server.id, newEntry(server, deltas))
    yield* Effect.flatMap(rows.pins, (pins) =>
      Effect.sync(() => {
        for (const [id, entry] of entries) entry.pins = pins.get(id) ?? new Map()
      }),
    ).pipe(alone)
    for (const entry of entries.values()) {
      if (isServerPaused(paused, entry.server.name)) {
        ending.push(entry)
        yield* Deferred.succeed(entry.first, undefined)
      } else if (entry.scope === undefined && entry.server.spec !== undefined) yield* launch(entry)
      refresh(entry)
    }
    for (const closing of ending.map(end)) {
      const fiber = yield* Effect.forkIn(Effect.uninterruptible(closing), scope)
      closings.add(fiber)
      fiber.addObserver(() => closings.delete(fiber))
    }
  })

  const opened = yield* Deferred.make<void>()
  const named = (name: string) => [...entries.values()].filter(({ server }) => nameKey(server.name) === nameKey(name))
  const isExpected = (name: string): boolean =>
    !Deferred.isDoneUnsafe(opened) ||
    named(name).some((entry) => isStarting(entry) || (entry.scope !== undefined && entry.status === "error"))
  const dialled = Effect.fnUntraced(function* (name: string) {
    yield* Deferred.await(opened)
    for (let one = named(name).find(isStarting); one !== undefined; one = named(name).find(isStarting))
      yield* Deferred.await(one.first)
  })

  const asked = yield* Queue.unbounded<Deferred.Deferred<void>>()
  let open = false
  const nudge = () => void (open && Queue.offerUnsafe(asked, Deferred.makeUnsafe()))
  const follow = Effect.suspend(() => {
    if (!open) return Effect.void
    const asker = Deferred.makeUnsafe<void>()
    Queue.offerUnsafe(asked, asker)
    return Deferred.await(asker)
  })
  yield* Effect.addFinalizer(() => together([...entries.values()].map(end)))

  return {
    /** Connects what the rows and the pauses say, and follows them from then on. */
    open: Effect.gen(function* () {
      open = true
      // A notice from another process may get lost.
      yield* Effect.forkIn(Effect.repeat(Effect.sync(nudge), Schedule.spaced("30 seconds")), scope)
      yield* Effect.forkIn(
        Effect.forever(
          Effect.gen(function* () {
            const asker = yield* Queue.take(asked)
            yield* Deferred.done(asker, yield* Effect.exit(reconcile))
          }),
        ),
        scope,
      )
      yield* follow
      yield* Deferred.succeed(opened, undefined)
    }),
    /** The rows or the pauses have changed: to be called after the commit. */
    nudge,
    /** The same, and waits until the connections match them. */
    follow,
    /** And until everything that had to end has ended, including programs. */
    followed: Effect.andThen(
      follow,
      Effect.suspend(() => Fiber.awaitAll([...closings])),
    ),
    entries,
    isExpected,
    dialled,
    /**
     * The request that waited for it has waited long enough: until the server reports something, it counts as missing.
     */
    late: (entry: Entry, why: string) => (entry.status === "connected" ? Effect.void : listenersOf(entry).lost(why)),
    tools: () => snapshot,
    connected: (): ReadonlyArray<ConnectedServer> =>
      [...entries.values()]
        .filter((entry) => entry.scope !== undefined && entry.protocol !== null)
        .map((entry) => serverOf(entry, offerings, conversations))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    offering: offerings.version,
    hangUp: (call: string, asked?: AbandonedCall) =>
      Effect.suspend(() => {
        if (asked === undefined) return conversations.hangUp(call)
        const entry = [...entries.values()].find((one) => one.server.name === serverOfTool(asked.tool))
        // In the background: nobody waits for the server's answer, which may take long.
        const told = Effect.forkIn(giveUp(entry?.connection, asked.state), scope)
        return Effect.andThen(conversations.hangUp(call), Effect.asVoid(told))
      }),
    onLost: conversations.onLost,
    onOffer: offerings.onOffer,
    onChange: (tell: () => void) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => hearers.add(tell)),
          () => Effect.sync(() => hearers.delete(tell)),
        ),
      ),
    allowed: (server: string, tool: string, owner: PrincipalId | null) => {
      const key = serverKey(server, owner)
      const entry = [...entries.values()].find((one) => serverKey(one.server.name, one.server.owner) === key)
      return entry !== undefined && mayCall(entry, tool)
    },
  }
})
