/**
 * One principal at its worst, on raw sockets. It sends what it was given as fast as it is answered, or opens streams and
 * reads nothing, until it is told to stop. A connection that is closed is opened again.
 */
import { connect, type Socket } from "node:net"
import { constants, setPriority } from "node:os"
import { serveQuestions } from "./children.ts"

export interface Attack {
  readonly port: number
  readonly token: string
  readonly connections: number
  readonly requests: ReadonlyArray<AttackRequest>
  /** Opens streams and never reads them. */
  readonly deaf?: boolean
}
export interface AttackRequest {
  readonly method: string
  readonly path: string
  /** `#` in it becomes a number that never comes twice. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}
export type AttackerQuestion = ({ readonly do: "begin" } & Attack) | { readonly do: "stop" }
export interface AttackerAnswer {
  /** How often each status was answered; 0 is a connection that was closed instead. */
  readonly statuses: Readonly<Record<string, number>>
}

// Its machine is not the house's: what it takes to attack is not taken from the house and from whoever else works there.
setPriority(constants.priority.PRIORITY_LOW)

const unique = `${process.pid}-${Date.now().toString(36)}`
const open = new Set<Socket>()
let made = 0
let running = false
let statuses: Record<string, number> = {}

const textOf = ({ port, token }: Attack, { body, headers = {}, method, path }: AttackRequest): string => {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${method} ${path.replace("#", `${unique}-${made++}`)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n${own.join("")}`
  if (body === undefined) return `${head}\r\n`
  const text = body.slice(0, 200).replace("#", `${unique}-${made++}`) + body.slice(200)
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

const count = (status: number): void => {
  statuses[status] = (statuses[status] ?? 0) + 1
}

/** The end of the first answer in what was received, or nothing if it is not all there. */
const endOf = (known: string): number | undefined => {
  const head = known.indexOf("\r\n\r\n")
  if (head < 0) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(known.slice(0, head + 2))
  if (length !== null) return known.length >= head + 4 + Number(length[1]) ? head + 4 + Number(length[1]) : undefined
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(known.slice(0, head + 2)))
    return known.endsWith("\r\n0\r\n\r\n") ? known.length : undefined
  return head + 4
}

const flood = (attack: Attack, at: number): void => {
  if (!running) return
  const socket = connect({ port: attack.port, host: "127.0.0.1", noDelay: true })
  open.add(socket)
  let next = at
  let known = ""
  const send = () => {
    if (running) socket.write(textOf(attack, attack.requests[next++ % attack.requests.length]!))
  }
  socket.on("connect", send)
  if (attack.deaf === true) socket.pause()
  else
    socket.on("data", (chunk: Buffer) => {
      known += chunk.toString("latin1")
      if (endOf(known) === undefined) return
      count(Number(known.slice(9, 12)))
      known = ""
      send()
    })
  socket.on("error", () => {})
  socket.on("close", () => {
    open.delete(socket)
    if (!running) return
    count(0)
    setTimeout(() => flood(attack, next), 20)
  })
}

const reply = async (question: AttackerQuestion): Promise<AttackerAnswer> => {
  if (question.do === "begin") {
    statuses = {}
    running = true
    for (let at = 0; at < question.connections; at++) flood(question, at)
    return { statuses }
  }
  running = false
  for (const socket of open) socket.destroy()
  open.clear()
  return { statuses }
}

serveQuestions(reply)
