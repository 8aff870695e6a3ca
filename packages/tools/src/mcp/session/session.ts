/**
 * One connection to one server, from the handshake to the end: the SDK's client behind Effects that can be interrupted
 * and whose failures are sorted. It knows nothing of names, retries or who may call what; MCPClient does.
 */
// edge: the SDK's client is promises and callbacks
import {
  Client,
  type JSONRPCMessage,
  type PriorDiscovery,
  SseError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client"
import { Context, Deferred, Effect, Option, Queue, Schema, type Scope } from "effect"
import { answerServerQuestions } from "./serverQuestions.ts"
import { type MCPFault, faultOf } from "../client/faults.ts"
import { PlainFailure } from "../client/MCPUnreachable.ts"
import { Lines, taskKey, untagged } from "../transport/lines.ts"
import type { MCPAuthorization, MCPPorts } from "./MCPPorts.ts"
import type { Redactor } from "../../secrets/Redactor.ts"
import type { MCPServerConfig } from "../MCPServerConfig.ts"
import { droppedFrom, type MCPDroppedItem, repairMCPResult } from "../client/tools/MCPResult.ts"
import { MCPToolPage, readMCPTools } from "../client/tools/MCPTool.ts"
import { clientInfo, clientOptions } from "./protocol.ts"
import { anySchema, type SessionRequest } from "./sessionRequest.ts"
import { StdioTransport } from "../transport/stdioTransport.ts"
import { makeTransport, type AnyTransport } from "../transport/transport.ts"
import { makeSubscriptions } from "./subscriptions.ts"

const maxPages = 64
const maxTools = 1000

export interface Session {
  readonly server: { readonly name: string | undefined; readonly version: string; readonly protocolVersion: string }
  readonly instructions: string | undefined
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly era: PriorDiscovery
  readonly pid: number | undefined
  readonly request: SessionRequest
  readonly listTools: Effect.Effect<ReturnType<typeof readMCPTools>, MCPFault>
  readonly lines: Lines
  readonly watch: ReturnType<typeof makeSubscriptions>
  /** The server says that its tools have changed. Several such notices count as one. */
  readonly toolsChanged: Queue.Queue<void>
  /** Resolves when the connection is gone and we did not end it. */
  readonly lost: Deferred.Deferred<MCPFault>
}

export interface SessionOptions {
  readonly config: MCPServerConfig
  readonly ports: MCPPorts
  readonly requestTimeoutMs: number
  readonly graceMs: number
  readonly probeMs: number | undefined
  readonly prior: PriorDiscovery | undefined
}

const listenWith = (
  client: Client,
  { name }: MCPServerConfig,
  ports: MCPPorts,
  lines: Lines,
  toolsChanged: Queue.Queue<void>,
  context: Context.Context<never>,
) => {
  const tell = (effect: Effect.Effect<void>) => {
    Effect.runForkWith(context)(effect)
  }
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    Queue.offerUnsafe(toolsChanged, undefined)
  })
  client.setNotificationHandler("notifications/resources/list_changed", () =>
    tell(ports.onChange(name, { what: "resources" })),
  )
  client.setNotificationHandler("notifications/prompts/list_changed", () =>
    tell(ports.onChange(name, { what: "prompts" })),
  )
  client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
    tell(ports.onChange(name, { what: "resource", uri: params.uri })),
  )
  client.setNotificationHandler("notifications/message", ({ params }) => {
    const line = ports.relays === true ? lines.of(params) : undefined
    lines.heardBeside(params)
    const entry = untagged(params) as typeof params
    tell(ports.onLog(name, entry))
    if (line !== undefined) tell(line.log(entry as never))
  })
}

/**
 * In the new era a server sends notifications only on a stream that was requested; a broken stream is requested again.
 */
const keepListening = Effect.fnUntraced(function* (
  client: Client,
  request: SessionRequest,
  missed: () => Effect.Effect<void>,
) {
  const { prompts, resources, tools } = client.getServerCapabilities() ?? {}
  const filter = {
    ...(tools?.listChanged ? { toolsListChanged: true as const } : {}),
    ...(prompts?.listChanged ? { promptsListChanged: true as const } : {}),
    ...(resources?.listChanged ? { resourcesListChanged: true as const } : {}),
  }
  if (Object.keys(filter).length === 0) return
  let waitMs = 1000
  for (;;) {
    const subscription = yield* Effect.option(request((it, options) => it.listen(filter, options)))
    if (Option.isSome(subscription)) {
      const ended = yield* Effect.promise(() => subscription.value.closed)
      if (ended === "local") return
      waitMs = 1000
      // Changes while nobody listened are not reported again.
      yield* missed()
    }
    yield* Effect.sleep(waitMs)
    waitMs = Math.min(waitMs * 2, 60_000)
  }
})

/** HTTP sessions are ended by a request; the others by disconnecting. Neither may delay our own end. */
const endClient = (client: Client, way: AnyTransport) =>
  Effect.promise(async () => {
    if (way instanceof StreamableHTTPClientTransport && way.sessionId !== undefined)
      await Promise.race([
        way.terminateSession().catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, 2000).unref()),
      ])
    await client.close().catch(() => {})
    await way.close().catch(() => {})
  })

const listTools = (request: SessionRequest, client: Client, config: MCPServerConfig) =>
  Effect.gen(function* () {
    const raw: Array<unknown> = []
    const lost: Array<MCPDroppedItem> = []
    const seen = new Set<string>()
    let cursor: string | undefined
    while (client.getServerCapabilities()?.tools !== undefined) {
      const params = cursor === undefined ? {} : { params: { cursor } }
      const answer = yield* request((it, options) =>
        it.request({ method: "tools/list", ...params }, anySchema, options),
      )
      const page = yield* Schema.decodeUnknownEffect(MCPToolPage)(answer).pipe(
        Effect.mapError((cause): MCPFault => ({ kind: "unreadable", message: `tools/list: ${cause.message}`, cause })),
      )
      raw.push(...page.tools)
      lost.push(...droppedFrom(answer as Readonly<Record<string, unknown>>))
      cursor = page.nextCursor
      if (cursor === undefined) break
      if (seen.has(cursor) || seen.size >= maxPages) return yield* Effect.fail<MCPFault>(endless(seen.size + 1))
      seen.add(cursor)
    }
    const { dropped, tools } = readMCPTools(raw, {
      allowed: config.allowedTools,
      headers: client.getProtocolEra() === "modern" && config.transport === "streamable-http",
      most: maxTools,
    })
    return { tools, dropped: [...lost, ...dropped] }
  })

/** Gets a person's consent, if the server requires it and somebody waits for the answer. */
const consent = (way: AnyTransport, authorization: MCPAuthorization | undefined, fault: MCPFault) =>
  Effect.gen(function* () {
    if (authorization?.callback === undefined || !(fault.cause instanceof UnauthorizedError))
      return yield* Effect.fail(fault)
    const answer = yield* Effect.mapError(authorization.callback, faultOf)
    if ("finishAuth" in way) yield* Effect.tryPromise({ try: () => way.finishAuth(answer), catch: faultOf })
  })

const connect = (
  client: Client,
  way: AnyTransport,
  prior: PriorDiscovery | undefined,
  timeout: number,
  sort: (error: unknown) => MCPFault,
  redactor: Redactor | undefined,
) =>
  Effect.tryPromise({
    try: (signal) => client.connect(way, { signal, timeout, ...(prior === undefined ? {} : { prior }) }),
    catch: (error): MCPFault => {
      const fault = sort(error)
      if (!(way instanceof StdioTransport)) return fault
      const said = redactor?.text(way.stderrEnd) ?? way.stderrEnd
      const message = said === "" ? fault.message : `${fault.message}. It said: ${said}`
      const { unstartable } = way
      return { ...fault, message, stderr: said, unstartable, kind: unstartable ? "refused" : fault.kind }
    },
  })

/**
 * Repairs messages before the SDK reads them: old servers leave out what its schemas require (S4-66), and new ones send
 * what it does not know.
 */
const forgive = (message: JSONRPCMessage) => {
  const result = "result" in message ? (message.result as Record<string, unknown> | undefined) : undefined
  if (result?.["resultType"] === "task") {
    const { _meta, ...task } = result
    Object.assign(result, { resultType: "complete", content: [], _meta: { ...(_meta as object), [taskKey]: task } })
  }
  if (result !== undefined && result !== null) repairMCPResult(result)
  if (typeof result?.["protocolVersion"] !== "string") return
  result["serverInfo"] = { name: "unknown", version: "unknown", ...(result["serverInfo"] as object | undefined) }
  result["capabilities"] ??= {}
}

/** Which of our requests a message is about. */
const aboutOf = (message: JSONRPCMessage): string | undefined => {
  const { id, params } = message as { readonly id?: unknown; readonly params?: { readonly progressToken?: unknown } }
  const about = id ?? params?.progressToken
  return typeof about === "string" || typeof about === "number" ? String(about) : undefined
}

/** What a server says in progress, logs, results and errors: together they may be one text. */
const said = new Set(["message", "data", "text"])

const diedOfProbe = (fault: MCPFault) =>
  fault.kind === "lost" && /closed during the server\/discover/.test(fault.message)

/** Connects; a second time if the probe killed the server, or if a person had to be asked first. */
const handshake = Effect.fnUntraced(function* (
  options: SessionOptions,
  sort: (error: unknown) => MCPFault,
  prepare: (client: Client) => void,
): Effect.fn.Return<{ readonly client: Client; readonly way: AnyTransport }, MCPFault, Scope.Scope> {
  const { config, ports, probeMs, requestTimeoutMs } = options
  const authorization = ports.authorize(config)
  let prior = config.protocolVersion === undefined ? options.prior : undefined
  for (let left = 2; ; left--) {
    const way = yield* makeTransport(config, ports, authorization?.provider, options.graceMs)
    const client = new Client(clientInfo, clientOptions(ports, config.protocolVersion, probeMs))
    prepare(client)
    const heard = ports.redactor?.stream(said)
    Object.assign(way, {
      onmessage: (message: JSONRPCMessage) => {
        heard?.json(message, aboutOf(message))
        forgive(message)
      },
    })
    yield* Effect.addFinalizer(() => endClient(client, way))
    const fault = yield* connect(client, way, prior, requestTimeoutMs, sort, ports.redactor).pipe(
      Effect.as(undefined),
      Effect.catch((fault) => Effect.succeed(fault)),
    )
    if (fault === undefined) return { client, way }
    if (left === 0) return yield* Effect.fail(fault)
    if (diedOfProbe(fault)) prior = { kind: "legacy" }
    else yield* consent(way, authorization, fault)
  }
})

export const openSession = Effect.fnUntraced(function* (
  options: SessionOptions,
): Effect.fn.Return<Session, MCPFault, Scope.Scope> {
  const { config, ports, requestTimeoutMs } = options
  const context = yield* Effect.context<never>()
  const lost = yield* Deferred.make<MCPFault>()
  const toolsChanged = yield* Queue.sliding<void>(1)
  /** An error quotes the server, so it is redacted. */
  const sort = (error: unknown) => faultOf(ports.redactor?.error(error) ?? error)
  const lose = (error: unknown) => {
    Deferred.doneUnsafe(lost, Effect.succeed(sort(error)))
  }
  const lines = new Lines()
  let ending = false
  const { client, way } = yield* handshake(options, sort, (client) => {
    answerServerQuestions(client, config.name, ports, lines, context)
    listenWith(client, config, ports, lines, toolsChanged, context)
  })
  // Runs before the client is ended, so that our own end does not count as a loss.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      ending = true
    }),
  )

  Object.assign(client, {
    onclose: () => {
      if (!ending) lose(new Error("The connection closed"))
    },
    onerror: (error: Error) => {
      // The SDK would reopen a broken event stream, but requests on the old one are never answered.
      if (error instanceof SseError || /Maximum reconnection attempts/.test(error.message)) lose(error)
    },
  })

  const once: SessionRequest = (run, more) =>
    Effect.tryPromise({
      try: (signal) => run(client, { timeout: requestTimeoutMs, ...more, signal }),
      catch: sort,
    })
  const authorization = ports.authorize(config)
  // A request answered with 401 or 403 had no effect, so it may be repeated with the new token.
  const request: SessionRequest = (run, more) =>
    Effect.catchIf(
      once(run, more),
      (fault) => fault.kind === "unauthorized",
      (fault) => Effect.andThen(consent(way, authorization, fault), once(run, more)),
    )
  const missed = Effect.fnUntraced(function* () {
    Queue.offerUnsafe(toolsChanged, undefined)
    yield* ports.onChange(config.name, { what: "resources" })
    yield* ports.onChange(config.name, { what: "prompts" })
  })
  const info = client.getServerVersion()
  const discover = client.getDiscoverResult()
  if (client.getProtocolEra() === "modern") yield* Effect.forkScoped(keepListening(client, request, missed))
  return {
    server: {
      name: info?.name,
      version: info?.version ?? "unknown",
      protocolVersion: client.getNegotiatedProtocolVersion() ?? "unknown",
    },
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities() ?? {},
    era: discover === undefined ? { kind: "legacy" } : { kind: "modern", discover },
    pid: way instanceof StdioTransport ? (way.pid ?? undefined) : undefined,
    request,
    listTools: listTools(request, client, config),
    lines,
    watch: makeSubscriptions(client, request, yield* Effect.scope),
    toolsChanged,
    lost,
  }
})

const endless = (pages: number): MCPFault => {
  const message = `its list of tools does not come to an end after ${pages} pages`
  return { kind: "unreadable", message, cause: new PlainFailure(message) }
}
