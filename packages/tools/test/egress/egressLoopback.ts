/** Loopback servers for the egress and skills suites: real sockets, gone with their scope. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

export interface Loopback {
  readonly host: string
  readonly port: number
  readonly url: string
  /** What was asked, oldest first. */
  readonly seen: Array<{
    readonly method: string
    readonly url: string
    readonly headers: IncomingMessage["headers"]
    readonly body: string
  }>
  readonly sockets: Set<Socket>
}

const listening = (make: (loopback: Omit<Loopback, "port" | "url" | "host">) => Server, address: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Server; readonly loopback: Loopback }>((resume) => {
      const base = { seen: [], sockets: new Set<Socket>() }
      const server = make(base)
      server.on("connection", (socket: Socket) => {
        base.sockets.add(socket)
        socket.on("close", () => base.sockets.delete(socket))
        socket.on("error", () => {})
      })
      server.listen(0, address, () => {
        const { port } = server.address() as AddressInfo
        const host = `${address.includes(":") ? `[${address}]` : address}:${port}`
        resume(Effect.succeed({ server, loopback: { ...base, host, port, url: `http://${host}` } }))
      })
    }),
    ({ loopback, server }) =>
      Effect.sync(() => {
        server.close()
        for (const socket of loopback.sockets) socket.destroy()
      }),
  ).pipe(Effect.map(({ loopback }) => loopback))

type Answering = (request: IncomingMessage, response: ServerResponse, body: string) => void

export const http = (answer: Answering, address = "127.0.0.1"): Effect.Effect<Loopback, never, Scope.Scope> =>
  listening(({ seen }) => {
    const listener: RequestListener = (request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text))
      request.on("end", () => {
        seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body })
        answer(request, response, body)
      })
    }
    return createServer(listener)
  }, address)

export const tcp = (
  answer: (socket: Socket) => void,
  address = "127.0.0.1",
): Effect.Effect<Loopback, never, Scope.Scope> => listening(() => createTcp(answer), address)

export const text =
  (words: string, status = 200, headers: Record<string, string> = {}): Answering =>
  (_, response) => {
    response.writeHead(status, headers).end(words)
  }
