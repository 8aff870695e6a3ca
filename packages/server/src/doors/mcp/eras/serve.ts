/**
 * From one HTTP request to its era: which message it carries, which session it belongs to, and which code serves it.
 */
import type { IncomingMessage } from "node:http"
import type { Caller, TooManyRequests } from "@stoa/contract"
import { Effect } from "effect"
import type { Limits } from "../../../access/limits/Limits.ts"
import type { Desk, EndpointView } from "../desk/Desk.ts"
import {
  type EndpointAddress,
  eraOf,
  metaKeys,
  isObject,
  type Message,
  metaOf,
  type Request,
  readBody,
} from "../wire/message.ts"
import { negotiate, newRevision } from "../wire/revision.ts"
import { chain } from "../../../store/fibers/Resolved.ts"
import { codes, Fault } from "../wire/Fault.ts"
import { listen, openSessionStream } from "./listening.ts"
import { serveNew, newEraContext } from "./new/newEra.ts"
import { initialize, serveBatch, serveOld, oldEraContext } from "./old/oldEra.ts"
import type { OpenStreams } from "../wire/openStreams.ts"
import type { Reply } from "../wire/reply.ts"
import { errorText, notificationText } from "../wire/results.ts"
import { type Session, type Sessions, isStandingStream } from "./old/sessions.ts"
import { type SharedContext, ownerOf, type MCPRequestContext } from "./context.ts"

export interface Exchange {
  readonly front: SharedContext
  readonly sessions: Sessions
  readonly streams: OpenStreams
  readonly limits: Limits["Service"]
  readonly arrived: Desk["Service"]["arrived"]
  /** Returns when the token of the caller has ended. */
  readonly ended: (who: Caller["Service"]) => Effect.Effect<void>
  readonly place: EndpointAddress
  readonly caller: Caller["Service"] | null
  readonly request: IncomingMessage
  readonly reply: Reply
  readonly body: string
  /** Ends the work on this request. */
  readonly cancel: () => void
}

const trimmed = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "string" ? value.trim() : undefined

type Base = Omit<MCPRequestContext, "revision" | "capabilities" | "logLevel" | "session">

const faultText = (code: number, message: string): string => errorText(undefined, new Fault(code, message))
const gone = faultText(codes.invalidRequest, "This session is unknown or has ended; initialize again")
const noStream = faultText(codes.invalidRequest, "This answers with a stream: accept text/event-stream")
const tooMany = faultText(codes.invalidRequest, "Too many open streams; close some first")

export const serve = (exchange: Exchange, view: EndpointView): Effect.Effect<void, TooManyRequests> => {
  const { caller, front, place, reply, request } = exchange
  const base: Base = {
    front,
    caller,
    place,
    view,
    tell: (text) => reply.tell(text),
    letGo: (retryMs) => reply.letGo(retryMs),
    ended: caller === null ? Effect.never : Effect.suspend(() => exchange.ended(caller)),
  }
  if (request.method === "GET") return resumeOrStand(exchange, base)
  if (request.method === "DELETE") return Effect.sync(() => endSession(exchange))
  const message = readBody(exchange.body)
  const header = trimmed(request.headers["mcp-protocol-version"])
  if (isBatch(message)) return batch(exchange, base, message, header)
  if (message.kind === "faulty")
    return Effect.sync(() => reply.refuse(statusOf(message), errorText(message.id, message.fault)))
  const era = eraOf(header, message)
  if (era.era === "refused") {
    const id = message.kind === "notification" ? undefined : message.id
    return Effect.sync(() => reply.refuse(400, errorText(id, era.fault)))
  }
  if (era.era === "new") {
    reply.diesWithConnection = true
    const greeted =
      message.kind === "request" ? greet(exchange, view, metaOf(message.params)[metaKeys.client], false) : none
    const answered = serveNew(newEraContext(base, era.envelope), message, request.headers, reply, (context, it) =>
      begin(exchange, context, it),
    )
    return chain(greeted, () => answered)
  }
  if (message.kind === "request" && message.method === "initialize")
    return Effect.andThen(
      Effect.sync(() => initialize(oldEraContext(base, undefined, header), message, exchange.sessions, reply)),
      greet(exchange, view, message.params["clientInfo"], true, message.params["protocolVersion"]),
    )
  return withSession(exchange, (session) => {
    reply.session = session
    return serveOld(oldEraContext(base, session, era.header), message, reply, exchange.cancel)
  })
}

const none = Effect.void

/** Tells the house how a client describes itself, if it does and has a caller. */
const greet = (
  { arrived, caller }: Exchange,
  view: EndpointView,
  said: unknown,
  introduces: boolean,
  asked: unknown = newRevision,
): Effect.Effect<void> => {
  if (caller === null || !isObject(said) || typeof said["name"] !== "string" || typeof asked !== "string") return none
  const version = typeof said["version"] === "string" ? said["version"] : ""
  const protocol = introduces ? negotiate(asked) : asked
  return arrived(caller, { client: said["name"], version, protocol, tools: view.tools.length, introduces })
}

const isBatch = (it: Message | ReadonlyArray<Message>): it is ReadonlyArray<Message> => Array.isArray(it)

/** A request with wrong parameters only is answered like any other. */
const statusOf = (message: Extract<Message, { readonly kind: "faulty" }>): number =>
  message.fault.code === codes.invalidParams && message.id !== undefined ? 200 : 400

/** The session that a request names, if it names one: then it must exist. */
const sessionOf = ({ caller, front, place, request, sessions }: Exchange): Session | undefined | "gone" => {
  const id = request.headers["mcp-session-id"]
  if (typeof id !== "string") return undefined
  return sessions.find(id, ownerOf({ caller }), place.key, front.uptime()) ?? "gone"
}

const withSession = <E>(
  exchange: Exchange,
  go: (session: Session | undefined) => Effect.Effect<void, E>,
): Effect.Effect<void, E> => {
  const session = sessionOf(exchange)
  return session === "gone" ? Effect.sync(() => exchange.reply.refuse(404, gone)) : go(session)
}

const batch = (exchange: Exchange, base: Base, messages: ReadonlyArray<Message>, header: string | undefined) => {
  const { caller, limits, reply } = exchange
  // The new era has no batches, whatever they contain.
  const stranger = messages.some((it) => eraOf(header, it).era !== "old")
  if (stranger)
    return Effect.sync(() => reply.refuse(400, faultText(codes.invalidRequest, "This revision has no batches")))
  const serve = () =>
    withSession(exchange, (session) => serveBatch(oldEraContext(base, session, header), messages, reply))
  // Each message counts as a request; the first has been counted already.
  return caller === null || messages.length < 2
    ? serve()
    : chain(limits.take(caller, "http", messages.length - 1), serve)
}

const endSession = (exchange: Exchange): void => {
  const session = sessionOf(exchange)
  if (session === "gone") return exchange.reply.refuse(404, gone)
  if (session === undefined) return exchange.reply.empty(405, { allow: "POST" })
  exchange.sessions.drop(session)
  exchange.reply.empty(204)
}

const outletOf = (reply: Reply) => ({
  write: (text: string) => void reply.tell(text),
  beat: () => reply.beat(Infinity),
  end: () => reply.empty(200),
  onClose: (heard: () => void) => {
    if (reply.response.destroyed) heard()
    else reply.response.on("close", heard)
  },
})

const begin = (exchange: Exchange, context: MCPRequestContext, request: Request): Effect.Effect<void, Fault> => {
  const { reply, streams } = exchange
  if (!reply.takesStream) return Effect.sync(() => reply.refuse(406, noStream))
  if (streams.isFull(ownerOf(context))) return Effect.sync(() => reply.refuse(429, tooMany, { "retry-after": "10" }))
  // Interrupted halfway, it would leave a listener without a client.
  return Effect.uninterruptible(listen(context, request, streams, () => outletOf(reply)))
}

const lastEvent = /^([^_]+)_(\d+)$/

const resumeOrStand = (exchange: Exchange, base: Base): Effect.Effect<void> => {
  const { reply, request, streams } = exchange
  const session = sessionOf(exchange)
  if (session === "gone") return Effect.sync(() => reply.refuse(404, gone))
  // A client without a session has no standing stream.
  if (session === undefined) return Effect.sync(() => reply.empty(405, { allow: "POST" }))
  if (!reply.takesStream) return Effect.sync(() => reply.refuse(406, noStream))
  const context = oldEraContext(base, session, undefined)
  if (streams.isFull(ownerOf(context))) return Effect.sync(() => reply.refuse(429, tooMany, { "retry-after": "10" }))
  reply.session = session
  const last = lastEvent.exec(trimmed(request.headers["last-event-id"]) ?? "")
  if (last === null || isStandingStream(last[1]!)) {
    reply.standing = true
    const out = outletOf(reply)
    // Changes while nobody listened are unknown: the client must list again.
    if (last !== null) out.write(notificationText("notifications/tools/list_changed", {}))
    else reply.openStream()
    return Effect.uninterruptible(openSessionStream(context, session, streams, out))
  }
  const stream = session.streamOf(last[1]!)
  const missed = stream?.after(Number(last[2]))
  if (stream === undefined || missed === undefined)
    return Effect.sync(() => reply.refuse(400, faultText(codes.invalidParams, "That event is no longer stored")))
  return Effect.sync(() => reply.resume(stream, missed))
}
