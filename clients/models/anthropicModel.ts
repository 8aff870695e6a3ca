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

/** What a model knows of a turn: what it was told, and what its tools gave by now; `all`: also in earlier turns. */
export interface Told {
  readonly mail: string
  readonly results: ReadonlyArray<string>
  readonly all: ReadonlyArray<string>
}
export type Move = { readonly tool: string; readonly input: object } | { readonly say: string }
export type Player = (told: Told) => Move | Promise<Move>

/** A script, or somebody who looks at the turn. */
export const playerOf =
  (script: Script | Player): Player =>
  async (told) => {
    if (typeof script === "function") return script(told)
    const use = script.uses[told.all.length]
    return use === undefined ? { say: script.last } : { tool: use.tool, input: await use.input(told.all) }
  }

interface Block {
  readonly type: string
  readonly text?: string
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

/** A turn begins after the last words of the one before, which asked for nothing. */
const toldIn = (asked: Asked): Told => {
  const isEnd = ({ content, role }: Asked["messages"][number]) =>
    role === "assistant" && (typeof content === "string" || !content.some(({ type }) => type === "tool_use"))
  const messages = asked.messages.slice(asked.messages.findLastIndex(isEnd) + 1)
  const mail = messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => (typeof content === "string" ? content : content.map(({ text = "" }) => text)))
    .join("\n")
  return { mail, results: resultsIn({ ...asked, messages }), all: resultsIn(asked) }
}

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

export const startModel = async (script: Script | Player): Promise<Model> => {
  const asked: Array<Asked> = []
  const play = playerOf(script)
  let made = 0
  const answer = async (body: Asked, response: ServerResponse): Promise<void> => {
    const message = { id: `msg_${++made}`, type: "message", role: "assistant", model: body.model }
    // Titles and summaries are asked for without tools: they are no step of the script.
    const move: Move = body.tools?.length ? await play(toldIn(body)) : { say: "A title" }
    const id = `toolu_${made}`
    const block =
      "say" in move
        ? { start: { type: "text", text: "" }, delta: { type: "text_delta", text: move.say } }
        : {
            start: { type: "tool_use", id, name: move.tool, input: {} },
            delta: { type: "input_json_delta", partial_json: JSON.stringify(move.input) },
          }
    const stop = "say" in move ? "end_turn" : "tool_use"
    if (body.stream === true) return streamed(response, message, block, stop)
    const content = "say" in move ? { type: "text", text: move.say } : { ...block.start, input: move.input }
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
