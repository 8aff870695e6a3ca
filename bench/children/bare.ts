/**
 * The peer: node:http with nothing on it. Gives the bytes it was told to give; on `/events` it keeps the response, and
 * each PUT writes one frame to all of them: at once, which is the simplest feed there is, or gathered for some time, as
 * the house does.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { serveQuestions } from "./children.ts"

export interface BareAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
  /** Frames of so many milliseconds leave in one write; each at once, if not given. */
  readonly gatherMillis?: number
}

let answer: BareAnswer = { status: 200, headers: {}, body: "" }
let body = Buffer.alloc(0)
let cursor = 0
let gathered = ""
const open = new Set<ServerResponse>()

/** As long as a frame of ours for the same event. */
const frame = (): string => {
  const at = new Date().toISOString()
  const data = `{"cursor":${++cursor},"kind":"secret.set","at":"${at}","space":null,"actor":"prn_00000000-0000-4000-8000-000000000000","provenance":"person","correlationId":"00000000000000000000000000000000","body":{"name":"bench"}}`
  return `id: ${cursor}\nevent: secret.set\ndata: ${data}\n\n`
}

const flush = (): void => {
  for (const one of open) one.write(gathered)
  gathered = ""
}
const publish = (text: string): void => {
  if (gathered === "" && answer.gatherMillis !== undefined) setTimeout(flush, answer.gatherMillis)
  gathered += text
  if (answer.gatherMillis === undefined) flush()
}

const server = createServer((request, response) => {
  if (request.url === "/api/v1/events") {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" })
    response.write(": bare\n\n")
    open.add(response)
    response.once("close", () => open.delete(response))
    return
  }
  const respond = () => {
    if (request.method === "PUT") publish(frame())
    response.writeHead(answer.status, answer.headers)
    response.end(body)
  }
  if (request.method === "GET") return respond()
  request.on("data", () => {})
  request.on("end", respond)
})
const listening = new Promise<number>((resolve) => {
  server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
})

serveQuestions(async (next: BareAnswer) => {
  answer = next
  body = Buffer.from(next.body)
  return { port: await listening }
})
