/** The same for the OpenAI Responses wire format, which Codex speaks: a script in place of a model, on loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type Model, type Player, playerOf, type Script, type Told } from "./anthropicModel.ts"

interface Item {
  readonly type: string
  readonly role?: string
  readonly content?: ReadonlyArray<{ readonly text?: string }>
  readonly output?: unknown
}
interface Asked {
  readonly input: ReadonlyArray<Item>
  readonly tools: ReadonlyArray<{ readonly type: string; readonly name?: string }>
}
const usage = {
  input_tokens: 1,
  input_tokens_details: null,
  output_tokens: 1,
  output_tokens_details: null,
  total_tokens: 2,
}

const resultsIn = (input: ReadonlyArray<Item>): ReadonlyArray<string> =>
  input
    .filter(({ type }) => type === "function_call_output")
    .map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output)))

/** A turn begins after the last words of the one before. */
const toldIn = ({ input }: Asked): Told => {
  const now = input.slice(input.findLastIndex(({ role }) => role === "assistant") + 1)
  const mail = now
    .filter(({ role }) => role === "user")
    .flatMap(({ content = [] }) => content.map(({ text = "" }) => text))
    .join("\n")
  return { mail, results: resultsIn(now), all: resultsIn(input) }
}

/** Tools of a server are in a namespace: `mcp__stoa__motto` is motto of mcp__stoa. Codex's own are in none. */
const callOf = (id: string, tool: string, input: object) => {
  const at = tool.lastIndexOf("__")
  const named = at < 0 ? { name: tool } : { namespace: tool.slice(0, at), name: tool.slice(at + 2) }
  return { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, ...named, arguments: JSON.stringify(input) }
}

export const startResponses = async (script: Script | Player): Promise<Model<Asked>> => {
  const asked: Array<Asked> = []
  const play = playerOf(script)
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = ""
    for await (const chunk of request.setEncoding("utf8")) text += String(chunk)
    if (request.method !== "POST" || request.url?.split("?")[0] !== "/v1/responses") {
      response.writeHead(404, { "content-type": "application/json" })
      return void response.end('{"error":{"message":"no such path"}}')
    }
    const body = JSON.parse(text) as Asked
    asked.push(body)
    const move = await play(toldIn(body))
    const id = String(asked.length)
    const item =
      "say" in move
        ? { type: "message", id: `msg_${id}`, role: "assistant", content: [{ type: "output_text", text: move.say }] }
        : callOf(id, move.tool, move.input)
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    response.writeHead(200, { "content-type": "text/event-stream" })
    send("response.created", { response: { id: `resp_${id}` } })
    send("response.output_item.done", { output_index: 0, item })
    send("response.completed", { response: { id: `resp_${id}`, usage } })
    response.end()
  }
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
