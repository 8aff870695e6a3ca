/** 2026-07-28: every request stands alone, describes its client completely, and is checked before it is served. */
import type { IncomingHttpHeaders } from "node:http"
import { Effect } from "effect"
import { type Envelope, type Id, isObject, type Message, type Request } from "../../wire/message.ts"
import { codes, Fault } from "../../wire/Fault.ts"
import { paramHeaderFault, standardHeaderFault } from "../../wire/headers.ts"
import { newMethods, serveMethod } from "../methods.ts"
import { errorText, responseText, findTool } from "../../wire/results.ts"
import { newRevision } from "../../wire/revision.ts"
import type { Reply } from "../../wire/reply.ts"
import type { MCPRequestContext } from "../context.ts"

/** Faults with an HTTP status of their own; the others are sent like any answer. */
const statuses = new Map<number, number>([
  [codes.methodNotFound, 404],
  [codes.headerMismatch, 400],
  [codes.missingCapability, 400],
  [codes.unsupportedVersion, 400],
])

const refuseNew = (reply: Reply, id: Id | undefined, fault: Fault): void =>
  reply.refuse(statuses.get(fault.code) ?? 200, errorText(id, fault))

/** Headers and body must agree: proxies route by the headers alone. */
const headerFault = (headers: IncomingHttpHeaders, context: MCPRequestContext, request: Request): Fault | undefined => {
  const fault = standardHeaderFault(headers, request)
  if (fault !== undefined || request.method !== "tools/call") return fault
  const { arguments: given = {}, name } = request.params
  const tool = typeof name === "string" ? findTool(context.view.tools, name) : undefined
  return tool === undefined || !isObject(given) ? undefined : paramHeaderFault(headers, tool, given)
}

export const newEraContext = (
  base: Omit<MCPRequestContext, "revision" | "capabilities" | "logLevel" | "session">,
  it: Envelope,
): MCPRequestContext => ({
  ...base,
  revision: newRevision,
  capabilities: it.capabilities,
  logLevel: it.logLevel,
  session: undefined,
})

export const serveNew = (
  context: MCPRequestContext,
  message: Message,
  headers: IncomingHttpHeaders,
  reply: Reply,
  listen: (context: MCPRequestContext, request: Request) => Effect.Effect<void, Fault>,
): Effect.Effect<void> => {
  if (message.kind === "notification") return Effect.sync(() => reply.empty(202))
  if (message.kind !== "request")
    return Effect.sync(() =>
      reply.refuse(
        400,
        errorText(undefined, new Fault(codes.invalidRequest, "In this revision a client cannot send responses")),
      ),
    )
  const { id } = message
  const refuse = (fault: Fault) => Effect.sync(() => refuseNew(reply, id, fault))
  const fault = headerFault(headers, context, message)
  if (fault !== undefined) return refuse(fault)
  if (message.method === "subscriptions/listen") return Effect.catch(listen(context, message), refuse)
  const method = newMethods.get(message.method)
  if (method === undefined) return refuse(new Fault(codes.methodNotFound, `Method not found: ${message.method}`))
  return Effect.matchEffect(serveMethod(method, context, message), {
    onSuccess: (text) => Effect.sync(() => reply.answer(responseText(id, text))),
    onFailure: refuse,
  })
}
