/**
 * Requests on behalf of somebody else. The requester may be asked back: meanwhile the request does not count against
 * the server's concurrency, and its time does not run.
 */
import { LOG_LEVEL_META_KEY, CLIENT_CAPABILITIES_META_KEY, type RequestOptions } from "@modelcontextprotocol/client"
import type { MCPConnectionError } from "@stoa/contract"
import { Deferred, Effect, Schedule, type Semaphore } from "effect"
import { awaitReconnect, throughBreaker, isFault } from "../requests.ts"
import { connectionError, type MCPFault, isFinal } from "../faults.ts"
import { lineKey, taskKey } from "../../transport/lines.ts"
import { type MCPExchange, type MCPLine, type MCPQuestion, MCPRefused, type MCPReply } from "./MCPExchange.ts"
import type { MCPConnection } from "../MCPConnection.ts"
import { droppedFrom, type MCPDroppedItem } from "../tools/MCPResult.ts"
import type { MCPTool } from "../tools/MCPTool.ts"
import { RequestTime } from "../../session/requestTime.ts"
import type { Session } from "../../session/session.ts"
import { anySchema, type SessionRequest } from "../../session/sessionRequest.ts"
import type { ServerLink } from "../../session/serverLink.ts"

type JsonObject = Readonly<Record<string, unknown>>

/** Our own timer ends a request, since the SDK's cannot be paused while a person thinks. */
const noTimeout = 2 ** 31 - 1
const noLonger = new MCPRefused(-32_603, "The call is over")
const lingerMs = 5
const maxPages = 64
const maxItems = 1000

const replyOf = (result: JsonObject): MCPReply => {
  if (result["resultType"] === "input_required")
    return {
      _tag: "Asks",
      questions: Object.fromEntries(
        Object.entries((result["inputRequests"] ?? {}) as Readonly<Record<string, Partial<MCPQuestion>>>).map(
          ([key, { method = "", params = {} }]) => [key, { method, params }],
        ),
      ),
      state: result["requestState"] as string | undefined,
    }
  const task = (result["_meta"] as JsonObject | undefined)?.[taskKey]
  return task === undefined ? { _tag: "Done", result } : { _tag: "Task", task: task as JsonObject }
}

const metaOf = ({ capabilities, logLevel, meta }: MCPExchange, token: string | undefined, modern: boolean) => ({
  ...meta,
  ...(token === undefined ? {} : { [lineKey]: token }),
  ...(modern && capabilities !== undefined ? { [CLIENT_CAPABILITIES_META_KEY]: capabilities } : {}),
  ...(modern && logLevel !== undefined ? { [LOG_LEVEL_META_KEY]: logLevel } : {}),
})

const shown = new WeakMap<MCPTool, JsonObject>()
/** The requester validates the output; the SDK would mistake a question for a result without structured content. */
const shownOf = (tool: MCPTool): JsonObject => {
  const known = shown.get(tool)
  if (known !== undefined) return known
  const { outputSchema: _, ...rest } = tool.raw
  shown.set(tool, rest)
  return rest
}

const send = (
  link: ServerLink,
  permits: Semaphore.Semaphore,
  method: string,
  params: JsonObject,
  options: MCPExchange,
) =>
  Effect.fnUntraced(function* (request: SessionRequest, session: Session) {
    const { config, limits, ports, settings } = link.options
    const tell = Effect.runForkWith(yield* Effect.context<never>())
    const silenceMs = options.timeoutMs ?? config.silenceMs ?? limits.requestTimeoutMs
    const time = new RequestTime(silenceMs, settings.maxCallMs)
    const { line, onProgress } = options
    const modern = session.era.kind === "modern"
    const { lines } = session
    const inTurn = line !== undefined && method === "tools/call" && lines.takesTurns
    // An old server may log on the session's stream: an earlier log message may arrive after the answer.
    const logsBeside =
      line !== undefined &&
      !modern &&
      config.transport === "streamable-http" &&
      session.capabilities["logging"] !== undefined
    const sent = Effect.suspend(() => {
      const over = Deferred.makeUnsafe<never, MCPRefused>()
      const token = line && lines.open({ log: line.log, answer: (question) => asked(question) })
      /** Other requests run while a person thinks; the answer is sent when it is this request's turn again. */
      const asked: MCPLine["answer"] = (question) =>
        Effect.acquireUseRelease(
          Effect.andThen(permits.release(1), inTurn ? lines.turn.release(1) : Effect.void),
          () => {
            lines.asks(token!, true)
            return Effect.raceFirst(line!.answer(question), Deferred.await(over))
          },
          () =>
            Effect.andThen(permits.take(1), inTurn ? lines.turn.take(1) : Effect.void).pipe(
              Effect.andThen(Effect.sync(() => lines.asks(token!, false))),
            ),
        ).pipe((answer) => time.asking(answer))
      const meta = metaOf(options, token, modern)
      const whole = {
        ...params,
        ...(modern && options.answers !== undefined ? { inputResponses: options.answers } : {}),
        ...(modern && options.state !== undefined ? { requestState: options.state } : {}),
        ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
      }
      const base: RequestOptions = {
        timeout: noTimeout,
        onprogress: (progress) => {
          time.alive()
          if (onProgress !== undefined) tell(onProgress(progress))
        },
      }
      // An old-era task is not the result of a call.
      const calls = method === "tools/call" && params["task"] === undefined
      const tool = calls ? link.tools.get(String(params["name"])) : undefined
      const answered = request((client, { signal }) => {
        const ended = new AbortController()
        signal?.addEventListener("abort", () => ended.abort(signal.reason), { once: true })
        time.begin(() => ended.abort(time.fault?.message))
        const all = { ...base, signal: ended.signal }
        // A relay passes the questions on; otherwise the ports answer them, inside the SDK.
        const asked = ports.relays === true ? { ...all, allowInputRequired: true as const } : all
        if (tool === undefined) return client.request({ method, params: whole }, anySchema, asked)
        return client.callTool(whole as never, { ...asked, toolDefinition: shownOf(tool) as never })
      })
      return answered.pipe(
        Effect.mapError((fault) => time.fault ?? fault),
        Effect.map((result) => replyOf(result as JsonObject)),
        Effect.tap(() => (logsBeside && lines.lingers() ? Effect.sleep(lingerMs) : Effect.void)),
        Effect.ensuring(
          Effect.sync(() => {
            time.end()
            if (token !== undefined) lines.close(token)
            // Questions that are still open need no answer.
            Deferred.doneUnsafe(over, Effect.fail(noLonger))
          }),
        ),
      )
    })
    return yield* inTurn ? lines.turn.withPermit(sent) : sent
  })

const unheard = (error: MCPFault | MCPConnectionError) => isFault(error) && error.unheard === true
const passing = (error: MCPFault | MCPConnectionError) => isFault(error) && !isFinal(error)

const refusal = (
  link: ServerLink,
  method: string,
  error: MCPFault | MCPConnectionError,
): MCPConnectionError | MCPRefused => {
  if (!isFault(error)) return error
  if (error.kind === "answered") return new MCPRefused(error.code ?? -32_603, error.message, error.data)
  const { config } = link.options
  const acted = method !== "tools/call" ? "" : error.unheard === true ? ". It was not executed" : unknown
  const came = error.kind === "unreadable" ? `answered ${method} with what cannot be read` : `did not answer ${method}`
  return connectionError(config, `MCP server "${config.name}" ${came}: ${error.message}${acted}`, error.cause)
}
const unknown = ". Whether it acted is unknown, so it is not repeated"

export const makeExchange = (link: ServerLink, permits: Semaphore.Semaphore): MCPConnection["exchange"] =>
  Effect.fn("MCPConnection.exchange")(function* (method, params, options = {}) {
    const { limits, settings } = link.options
    const once = throughBreaker(link, permits, send(link, permits, method, params, options))
    const tried =
      method === "tools/call" || options.answers !== undefined
        ? Effect.catchIf(once, unheard, () => Effect.andThen(awaitReconnect(link), once))
        : once.pipe(
            Effect.tapError((error) => (isFault(error) && error.kind === "lost" ? awaitReconnect(link) : Effect.void)),
            Effect.retry({
              times: Math.max(0, limits.maxRetries - 1),
              schedule: Schedule.jittered(Schedule.exponential(settings.backoffMs)),
              while: passing,
            }),
          )
    return yield* Effect.mapError(tried, (error) => refusal(link, method, error))
  })

const keys = {
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
  "prompts/list": "prompts",
} as const

/** Ends a list that never ends or is unreasonably long. */
export const makeListAll = (exchange: MCPConnection["exchange"]): MCPConnection["listAll"] =>
  Effect.fn("MCPConnection.listAll")(function* (method) {
    const items: Array<JsonObject> = []
    const dropped: Array<MCPDroppedItem> = []
    const seen = new Set<string>()
    for (let cursor: string | undefined; ;) {
      const reply = yield* exchange(method, cursor === undefined ? {} : { cursor })
      const page: JsonObject = reply._tag === "Done" ? reply.result : {}
      const listed: unknown = page[keys[method]]
      if (Array.isArray(listed)) items.push(...(listed as ReadonlyArray<JsonObject>))
      dropped.push(...droppedFrom(page))
      const next = page["nextCursor"]
      if (typeof next !== "string" || seen.has(next) || seen.size >= maxPages || items.length >= maxItems)
        return { items: items.slice(0, maxItems), dropped: dropped.slice(0, maxItems) }
      seen.add((cursor = next))
    }
  })

export const makeWatch = (link: ServerLink, permits: Semaphore.Semaphore): MCPConnection["watch"] =>
  Effect.fn("MCPConnection.watch")((uris) =>
    Effect.mapError(
      throughBreaker(link, permits, (_, session) => session.watch(uris)),
      (error) => refusal(link, "resources/subscribe", error),
    ),
  )
