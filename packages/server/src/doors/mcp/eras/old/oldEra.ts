/** 2024-11-05 to 2025-11-25: `initialize` first, then messages that may belong to a session. */
import { Effect, Fiber } from "effect"
import { serverCapabilities } from "../../wire/capabilities.ts"
import type { JsonObject } from "../../desk/Desk.ts"
import { Pacing } from "../../../../store/fibers/Pacing.ts"
import { yieldToEventLoop } from "../../../../store/fibers/EventLoop.ts"
import { codes, Fault, invalidParams } from "../../wire/Fault.ts"
import { isId, isObject, type Message, type Request } from "../../wire/message.ts"
import { oldMethods, serveMethod } from "../methods.ts"
import { knownCapabilities } from "./oldForms.ts"
import { errorText, responseText } from "../../wire/results.ts"
import { assumedRevision, featuresOf, isOldRevision, negotiate, type OldRevision } from "../../wire/revision.ts"
import type { Reply } from "../../wire/reply.ts"
import type { Session, Sessions } from "./sessions.ts"
import { ownerOf, type MCPRequestContext } from "../context.ts"

type Base = Omit<MCPRequestContext, "revision" | "capabilities" | "logLevel" | "session">

export const oldEraContext = (
  base: Base,
  session: Session | undefined,
  header: string | undefined,
): MCPRequestContext => ({
  ...base,
  revision: session?.revision ?? (isOldRevision(header) ? header : assumedRevision),
  // Without a session the client cannot be asked: it could not answer a request of ours.
  capabilities: session?.capabilities ?? {},
  logLevel: session?.logLevel ?? "info",
  session,
})

const greeting = (context: MCPRequestContext, revision: OldRevision): string => {
  const { instructions } = context.view
  return JSON.stringify({
    protocolVersion: revision,
    capabilities: serverCapabilities(context.view, revision),
    serverInfo: featuresOf(revision).structured ? context.front.stamp.info : withoutTitle(context.front.stamp.info),
    ...(instructions === undefined ? {} : { instructions }),
  })
}
const withoutTitle = ({ title: _title, ...rest }: JsonObject): JsonObject => rest

export const initialize = (
  context: MCPRequestContext,
  { id, params }: Request,
  sessions: Sessions,
  reply: Reply,
): void => {
  const { capabilities, protocolVersion } = params
  if (typeof protocolVersion !== "string")
    return reply.answer(errorText(id, invalidParams("protocolVersion is a revision of the protocol")))
  const revision = negotiate(protocolVersion)
  const said = isObject(capabilities) ? knownCapabilities(capabilities, revision) : {}
  const session = sessions.open(ownerOf(context), context.place.key, revision, said, context.front.uptime())
  reply.answer(responseText(id, greeting(context, revision)), { "mcp-session-id": session.id })
}

const methodMissing = (method: string): Fault =>
  method === "initialize"
    ? new Fault(codes.invalidRequest, "initialize cannot be part of a batch")
    : new Fault(codes.methodNotFound, `Method not found: ${method}`)

/** The answer to one message, or undefined if none is due. */
const answerTo = (context: MCPRequestContext, message: Message): Effect.Effect<string | undefined> => {
  switch (message.kind) {
    case "faulty":
      return Effect.succeed(errorText(message.id, message.fault))
    case "response":
      return Effect.sync(() => {
        context.session?.hear(
          message.id,
          message.result === undefined ? { error: message.error } : { result: message.result },
        )
        return undefined
      })
    case "notification":
      return Effect.sync(() => {
        const { requestId } = message.params
        if (message.method === "notifications/cancelled" && isId(requestId)) context.session?.cancel(requestId)
        return undefined
      })
    case "request": {
      const method = oldMethods.get(message.method)
      if (method === undefined) return Effect.succeed(errorText(message.id, methodMissing(message.method)))
      return Effect.match(serveMethod(method, context, message), {
        onSuccess: (text) => responseText(message.id, text),
        onFailure: (fault) => errorText(message.id, fault),
      })
    }
  }
}

/** `cancel` ends the request that is being served. */
export const serveOld = (
  context: MCPRequestContext,
  message: Message,
  reply: Reply,
  cancel: () => void,
): Effect.Effect<void> => {
  const { session } = context
  const answered = Effect.map(answerTo(context, message), (text) =>
    text === undefined ? reply.empty(202) : message.kind === "faulty" ? reply.refuse(400, text) : reply.answer(text),
  )
  if (session === undefined || message.kind !== "request") return answered
  const { id } = message
  session.begin(id, cancel)
  return Effect.onExit(answered, () => Effect.sync(() => session.finish(id)))
}

/** One batch per principal begins at a time. */
const batches = new Pacing({ least: 1, longest: 100 })
/**
 * Total characters of the answers to a batch: one large write would hold the loop. The rest has to be requested again.
 */
const maxAnswered = 1024 * 1024
const answeredEnough = new Fault(
  codes.internal,
  `The answers to this batch are over ${maxAnswered} characters; send this message again, alone`,
)

/** Several messages at once, if the revision has batches. Nothing is sent before the answers. */
export const serveBatch = (
  context: MCPRequestContext,
  messages: ReadonlyArray<Message>,
  reply: Reply,
): Effect.Effect<void> => {
  if (!featuresOf(context.revision).batches)
    return Effect.sync(() =>
      reply.refuse(400, errorText(undefined, new Fault(codes.invalidRequest, `${context.revision} has no batches`))),
    )
  const quiet: MCPRequestContext = { ...context, capabilities: {}, tell: () => false, letGo: () => {} }
  let answered = 0
  const one = (message: Message) =>
    answered > maxAnswered && message.kind === "request"
      ? Effect.succeed(errorText(message.id, answeredEnough))
      : Effect.tap(answerTo(quiet, message), (text) => Effect.sync(() => void (answered += text?.length ?? 0)))
  // Started one after the other, so that other requests run in between; one that waits delays none of them.
  const begin = Effect.gen(function* () {
    const begun: Array<Fiber.Fiber<string | undefined>> = []
    for (const message of messages) {
      begun.push(yield* Effect.forkChild(one(message), { startImmediately: true }))
      yield* yieldToEventLoop
    }
    return begun
  })
  return Effect.map(Effect.flatMap(batches.run(ownerOf(context), begin), Fiber.joinAll), (texts) => {
    const due = texts.filter((text) => text !== undefined)
    if (due.length === 0) reply.empty(202)
    else reply.answer(`[${due.join(",")}]`)
  })
}
