/**
 * Our answers when an old-era server asks something: through the ports, or by the requester of the call it asks about.
 */
// edge: the SDK's handlers are promises
import { type Client, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client"
import { type Context, Effect } from "effect"
import { type Lines, untagged } from "../transport/lines.ts"
import type { MCPQuestion } from "../client/exchange/MCPExchange.ts"
import type { MCPPorts } from "./MCPPorts.ts"

/** The answer if nobody can be asked: no roots, no consent. */
const unasked = ({ method }: MCPQuestion): Readonly<Record<string, unknown>> => {
  if (method === "elicitation/create") return { action: "cancel" }
  if (method === "roots/list") return { roots: [] }
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Nobody here can answer that now")
}

const relay = (client: Client, lines: Lines, context: Context.Context<never>) => {
  const run = Effect.runPromiseWith(context)
  const answer = (method: string, params: unknown, signal: AbortSignal) => {
    const question = { method, params: untagged(params) }
    const line = lines.of(params)
    if (line === undefined) {
      if (method !== "roots/list") lines.takesTurns = true
      return unasked(question) as never
    }
    const heard = Effect.mapError(
      line.answer(question),
      ({ code, data, message }) => new ProtocolError(code, message, data),
    )
    return run(heard, { signal }) as Promise<never>
  }
  client.setRequestHandler("elicitation/create", (it, ctx) => answer(it.method, it.params, ctx.mcpReq.signal))
  client.setRequestHandler("sampling/createMessage", (it, ctx) => answer(it.method, it.params, ctx.mcpReq.signal))
  client.setRequestHandler("roots/list", (it, ctx) => answer(it.method, it.params, ctx.mcpReq.signal))
}

export const answerServerQuestions = (
  client: Client,
  name: string,
  ports: MCPPorts,
  lines: Lines,
  context: Context.Context<never>,
): void => {
  if (ports.relays === true) return relay(client, lines, context)
  const run = Effect.runPromiseWith(context)
  const { elicit, roots, sample } = ports
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", (request, ctx) =>
      run(elicit(name, request.params), { signal: ctx.mcpReq.signal }),
    )
  if (sample !== undefined)
    client.setRequestHandler("sampling/createMessage", (request, ctx) =>
      run(sample(name, request.params), { signal: ctx.mcpReq.signal }),
    )
  if (roots !== undefined)
    client.setRequestHandler("roots/list", () => run(Effect.map(roots(name), (them) => ({ roots: [...them] }))))
}
