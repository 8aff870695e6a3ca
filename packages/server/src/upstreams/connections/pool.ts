/**
 * The connections, in line with the rows: one to each server, shared by all callers, since a request carries only its own
 * arguments. One fiber makes and ends them, so that no request's life is tied to a connection's.
 */
import type { PrincipalId } from "@stoa/contract"
import { defaultMCPPorts, digestOf, type MCPConnection, type MCPTool } from "@stoa/tools"
import { Deferred, Effect, Exit, Fiber, Option, Queue, Schedule, type Schema, Scope, Semaphore } from "effect"
import { monotonicMillis } from "../../store/Monotonic.ts"
import { nameKey } from "../../access/identity/Principals.ts"
import type { Reveal } from "../../access/secrets/Reveal.ts"
import { Correlation } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { serverOf, type UpstreamServer } from "../gateway.ts"
import { makeConversations } from "./conversations.ts"
import { fresh, isStarting, type Kept, nothing, reached, type UpstreamTool } from "./kept.ts"
import { allOf, nothingLeftOut, refusedOf, tellLeftOut } from "../tools/leftOut.ts"
import { makeOfferings } from "../contents/lists.ts"
import { isAllowed, offerOf, stepsOf } from "../tools/pins.ts"
import { placeOf, silenceMsOf } from "./reach.ts"
import { type makeRows, serverKey } from "../rows.ts"
import { type Ears, stayConnected } from "./staying.ts"
import { toolOf } from "../tools/tool.ts"
import { makeToolCalls } from "../tools/toolCall.ts"

/** What a call was asked when it was given up, and of which tool it is. */
export interface Parked {
  readonly tool: string
  readonly state: Schema.Json
}

const longestError = 500
const busyMs = 1000

const nameOf = ({ owner, tool }: UpstreamTool) => `${tool.definition.name}\n${owner ?? ""}`
const inOrder = (a: UpstreamTool, b: UpstreamTool) => (nameOf(a) < nameOf(b) ? -1 : 1)

export const makePool = Effect.fnUntraced(function* (rows: ReturnType<typeof makeRows>, reveal: Reveal) {
  const journal = yield* Journal
  const { eras } = defaultMCPPorts()
  const entries = new Map<string, Kept>()
  /** By name: what is stopped stays so when it is added again. */
  const stopped = new Set<string>()
  const scope = yield* Effect.scope
  const hearers = new Set<() => void>()
  const pins = yield* Semaphore.make(1)
  const alone = <A>(effect: Effect.Effect<A>) => pins.withPermit(effect)
  const closings = new Set<Fiber.Fiber<void>>()
  const offerings = yield* makeOfferings()
  const conversations = makeConversations()
  const { giveUp, run } = makeToolCalls(conversations)
  let version = 0
  let snapshot: ReadonlyArray<UpstreamTool> = []

  const changed = () => {
    version++
    snapshot = [...entries.values()].flatMap((kept) => kept.tools).toSorted(inOrder)
    for (const tell of hearers) tell()
  }

  /** Works out what a server offers now, and tells if it is something else. */
  const refresh = (kept: Kept) => {
    const { id, name, owner, spec } = kept.server
    const shut = kept.scope === undefined || entries.get(id) !== kept
    kept.offer = shut ? nothing : offerOf(kept.listed, kept.pins, spec?.allowedTools, kept.leftOut.refused)
    kept.callable = new Set(kept.offer.tools.map((tool) => tool.name))
    const signature = kept.offer.tools.map((tool) => `${tool.name} ${kept.pins.get(tool.name)!.digest}`).join("\n")
    if (signature === kept.signature) return
    kept.signature = signature
    kept.tools = kept.offer.tools.map((tool) => ({
      server: name,
      owner,
      behind: digestOf([id, spec === undefined ? "" : placeOf(spec)]),
      reviewed: false,
      tool: toolOf(name, tool, {
        timeoutMs: silenceMsOf(spec),
        connection: () => {
          const { connection, scope } = kept
          const there = mayCall(kept, tool.name) && connection !== undefined && scope !== undefined
          return there ? { connection, scope } : undefined
        },
        reached: reached(kept),
        isStarting: () => isStarting(kept),
        run,
      }),
    }))
    changed()
  }

  /** Asked again when a tool is called: what was listed may be held, forbidden or gone by then. */
  const mayCall = (kept: Kept, tool: string): boolean =>
    entries.get(kept.server.id) === kept &&
    kept.scope !== undefined &&
    isAllowed(kept.server.spec?.allowedTools, tool) &&
    kept.callable.has(tool)

  const adopt = Effect.fnUntraced(function* (
    kept: Kept,
    listed: ReadonlyArray<MCPTool>,
    connection: MCPConnection | undefined,
  ) {
    const { id, name, owner, spec } = kept.server
    // Removed while it told us.
    if (entries.get(id) !== kept) return
    const steps = stepsOf(listed, kept.pins, spec?.review ?? "hold")
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
    kept.pins = (yield* rows.pins).get(id) ?? new Map()
    kept.listed = listed
    const before = kept.leftOut
    const said =
      connection === undefined ? [] : (yield* Effect.orElseSucceed(connection.details, () => nothingLeftOut)).dropped
    kept.leftOut = { refused: yield* refusedOf(name, listed), dropped: said }
    yield* tellLeftOut(name, allOf(before), allOf(kept.leftOut))
    refresh(kept)
  }, alone)

  const earsOf = (kept: Kept): Ears => {
    const { name, owner } = kept.server
    const failed = Effect.fnUntraced(function* (why: string) {
      const error = kept.redactor.text(why).slice(0, longestError)
      const news = kept.status !== "error"
      kept.status = "error"
      kept.error = error
      if (news) {
        yield* Effect.logWarning(`MCP server "${name}" cannot be used: ${error}`)
        yield* journal.transact(journal.append({ kind: "server.disconnected", body: { server: name, owner, error } }))
      }
      yield* Deferred.succeed(kept.first, undefined)
    })
    const connected = Effect.fnUntraced(function* (connection: MCPConnection) {
      const details = yield* Effect.option(connection.details)
      // Lost again in the meantime: that is told by itself.
      if (Option.isNone(details)) return
      const server = yield* connection.server
      const { protocolVersion: protocol } = details.value
      const news = kept.status !== "connected"
      const { scope: own } = kept
      // Not called before what it lists was held against what it listed when it was there last.
      yield* adopt(kept, yield* connection.tools, connection)
      // Stopped meanwhile.
      if (own === undefined || kept.scope !== own) return
      Object.assign(kept, { connection, status: "connected", version: server.version, protocol, error: undefined })
      yield* offerings.connected(kept.server.id, kept.shelves, connection)
      if (news)
        yield* journal.transact(
          journal.append({
            kind: "server.connected",
            body: { server: name, owner, version: server.version, protocol, tools: kept.tools.length },
          }),
        )
      yield* Deferred.succeed(kept.first, undefined)
    })
    /** At once, and after that once a second: a server that changes its mind all the time must not fill the journal. */
    const listed = Effect.fnUntraced(function* (tools: ReadonlyArray<MCPTool>) {
      const waitMs = kept.toldAt + busyMs - (yield* monotonicMillis)
      if (waitMs > 0) yield* Effect.sleep(waitMs)
      kept.toldAt = yield* monotonicMillis
      yield* adopt(kept, tools, kept.connection)
    })
    // A fault of ours in here must not end the keeping of the connection; and nobody asked for what it tells.
    const safely = (telling: Effect.Effect<unknown>) =>
      Effect.catchCause(telling, (cause) => Effect.logError(`MCP server "${name}"`, cause)).pipe(
        Effect.provideService(Correlation, undefined),
        Effect.asVoid,
      )
    return {
      connected: (connection) => safely(connected(connection)),
      listed: (tools) => safely(listed(tools)),
      changed: (change) => safely(offerings.heard(kept.server.id, kept.shelves, change)),
      lost: (why) => safely(failed(why)),
    }
  }

  const launch = Effect.fnUntraced(function* (kept: Kept) {
    const { name, spec } = kept.server
    if (spec === undefined) return yield* Deferred.succeed(kept.first, undefined)
    kept.scope = yield* Scope.make()
    kept.first = Deferred.makeUnsafe()
    // One that was stopped is shown as it was, until it says otherwise.
    offerings.expected(kept.server.id, kept.shelves)
    const staying = stayConnected({ name, spec, reveal, redactor: kept.redactor, eras }, earsOf(kept))
    return yield* Effect.forkIn(staying, kept.scope)
  })

  /** Its tools are gone at once; what is given back ends the connection, and the program behind it. */
  const end = (kept: Kept): Effect.Effect<void> => {
    const own = kept.scope
    if (own === undefined) return Effect.void
    Object.assign(kept, {
      scope: undefined,
      connection: undefined,
      status: "disconnected",
      error: undefined,
    })
    offerings.gone(kept.server.id, kept.shelves)
    refresh(kept)
    return Scope.close(own, Exit.void)
  }
  const together = (all: ReadonlyArray<Effect.Effect<void>>) =>
    Effect.forEach(all, (one) => one, { concurrency: "unbounded", discard: true })

  const reconcile = Effect.gen(function* () {
    const servers = yield* rows.all
    const now = new Map(servers.map((server) => [server.id, server]))
    const ending: Array<Kept> = []
    for (const [id, kept] of entries) {
      if (now.get(id)?.revision === kept.server.revision) continue
      entries.delete(id)
      ending.push(kept)
    }
    for (const server of servers) if (!entries.has(server.id)) entries.set(server.id, fresh(server))
    yield* Effect.flatMap(rows.pins, (pins) =>
      Effect.sync(() => {
        for (const [id, kept] of entries) kept.pins = pins.get(id) ?? new Map()
      }),
    ).pipe(alone)
    for (const kept of entries.values()) {
      if (stopped.has(nameKey(kept.server.name))) {
        ending.push(kept)
        yield* Deferred.succeed(kept.first, undefined)
      } else if (kept.scope === undefined && kept.server.spec !== undefined) yield* launch(kept)
      refresh(kept)
    }
    for (const closing of ending.map(end)) {
      const fiber = yield* Effect.forkIn(Effect.uninterruptible(closing), scope)
      closings.add(fiber)
      fiber.addObserver(() => closings.delete(fiber))
    }
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
    /** Connects what the rows say, and from then on follows them. */
    open: Effect.gen(function* () {
      open = true
      // A notice may get lost on its way from another process.
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
    }),
    /** Somebody changed the rows: to be called after the commit. */
    nudge,
    /** The same, and waits until the connections are in line. */
    follow,
    /** And until what had to end has ended, with the programs behind it. */
    followed: Effect.andThen(
      follow,
      Effect.suspend(() => Fiber.awaitAll([...closings])),
    ),
    entries,
    /** Whoever waited for it has waited long enough: until something is heard, it is not there. */
    late: (kept: Kept, why: string) => (kept.status === "connected" ? Effect.void : earsOf(kept).lost(why)),
    stopped,
    tools: () => snapshot,
    servers: (): ReadonlyArray<UpstreamServer> =>
      [...entries.values()]
        .filter((kept) => kept.scope !== undefined && kept.protocol !== null)
        .map((kept) => serverOf(kept, offerings, conversations))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    offering: offerings.version,
    hangUp: (call: string, asked?: Parked) =>
      Effect.suspend(() => {
        if (asked === undefined) return conversations.hangUp(call)
        const kept = [...entries.values()].find((one) => asked.tool.startsWith(`${one.server.name}/`))
        // Nobody waits for what a server says to it, and it may say nothing for long.
        const told = Effect.forkIn(giveUp(kept?.connection, asked.state), scope)
        return Effect.andThen(conversations.hangUp(call), Effect.asVoid(told))
      }),
    onLost: conversations.onLost,
    onOffer: offerings.onOffer,
    version: () => version,
    onChange: (tell: () => void) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => hearers.add(tell)),
          () => Effect.sync(() => hearers.delete(tell)),
        ),
      ),
    allowed: (server: string, tool: string, owner: PrincipalId | null) => {
      const key = serverKey(server, owner)
      const kept = [...entries.values()].find((one) => serverKey(one.server.name, one.server.owner) === key)
      return kept !== undefined && mayCall(kept, tool)
    },
  }
})
