/**
 * A model server that speaks the Anthropic Messages wire format on loopback and plays a script instead of thinking: the
 * step is found by how many tool results the conversation has. What it was sent is kept, for whoever wants to check it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Use {
  readonly tool: string
  /** Its input, once it is known: a person may have to act first. */
  readonly input: (results: ReadonlyArray<string>) => object | Promise<object>
}
/** Tools in their order, and then these words. */
export interface Script {
  readonly uses: ReadonlyArray<Use>
  readonly last: string
}

interface Block {
  readonly type: string
  readonly content?: string | ReadonlyArray<{ readonly type: string; readonly text?: string }>
}
export interface Asked {
  readonly model: string
  readonly stream?: boolean
  readonly tools?: ReadonlyArray<{ readonly name: string; readonly input_schema: object }>
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string | ReadonlyArray<Block> }>
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk)
  return text
}

const wordsOf = ({ content = "" }: Block): string =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("\n")

const resultsIn = ({ messages }: Asked): ReadonlyArray<string> =>
  messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.filter(({ type }) => type === "tool_result").map(wordsOf),
  )

const usage = { input_tokens: 10, output_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

const streamed = (response: ServerResponse, message: object, block: object, stop: string): void => {
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  const { delta, start } = block as { readonly start: object; readonly delta: object }
  response.writeHead(200, { "content-type": "text/event-stream" })
  send("message_start", { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } })
  send("content_block_start", { index: 0, content_block: start })
  send("content_block_delta", { index: 0, delta })
  send("content_block_stop", { index: 0 })
  send("message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 10 } })
  send("message_stop", {})
  response.end()
}

export interface Model<A = Asked> {
  readonly url: string
  readonly asked: ReadonlyArray<A>
  readonly close: () => Promise<void>
}

export const startModel = async (script: Script): Promise<Model> => {
  const asked: Array<Asked> = []
  let made = 0
  const answer = async (body: Asked, response: ServerResponse): Promise<void> => {
    const message = { id: `msg_${++made}`, type: "message", role: "assistant", model: body.model }
    // Titles and summaries are asked for without tools: they are no step of the script.
    const results = resultsIn(body)
    const use = body.tools?.length ? script.uses[results.length] : undefined
    const id = `toolu_${made}`
    const input = (await use?.input(results)) ?? {}
    const block =
      use === undefined
        ? { start: { type: "text", text: "" }, delta: { type: "text_delta", text: script.last } }
        : {
            start: { type: "tool_use", id, name: use.tool, input: {} },
            delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
          }
    const stop = use === undefined ? "end_turn" : "tool_use"
    if (body.stream === true) return streamed(response, message, block, stop)
    const content = use === undefined ? { type: "text", text: script.last } : { ...block.start, input }
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ ...message, content: [content], stop_reason: stop, stop_sequence: null, usage }))
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request)
    const path = (request.url ?? "").split("?")[0]
    if (path === "/v1/messages/count_tokens") return void response.end('{"input_tokens":10}')
    if (path !== "/v1/messages" || request.method !== "POST") {
      response.writeHead(404, { "content-type": "application/json" })
      return void response.end('{"type":"error","error":{"type":"not_found_error","message":"no such path"}}')
    }
    const body = JSON.parse(text) as Asked
    asked.push(body)
    await answer(body, response)
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
