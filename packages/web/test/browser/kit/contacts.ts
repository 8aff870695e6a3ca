/** Listeners on loopback, one for each way out: who connects or sends a packet is counted, even if nothing is asked for. */
import { createSocket } from "node:dgram"
import { createServer, type AddressInfo } from "node:net"

export interface Contacts {
  /** The address for each way, as `127.0.0.1:<port>`. */
  readonly at: Readonly<Record<string, string>>
  /** The ways that made contact, each once. */
  readonly made: () => ReadonlyArray<string>
  readonly close: () => Promise<void>
}

const host = "127.0.0.1"

const tcp = async (heard: () => void) => {
  const server = createServer((socket) => {
    heard()
    socket.on("error", () => undefined)
    // Enough for a browser that asks for a page; whoever only connects learns nothing.
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"))
  })
  await new Promise<void>((done) => server.listen(0, host, done))
  const close = () => new Promise<void>((done) => server.close(() => done()))
  return { port: (server.address() as AddressInfo).port, close }
}

const udp = async (heard: () => void) => {
  const socket = createSocket("udp4", heard)
  await new Promise<void>((done) => socket.bind(0, host, done))
  return { port: socket.address().port, close: () => new Promise<void>((done) => socket.close(() => done())) }
}

/** Ways whose name begins with `udp` get a UDP port, the others a TCP port. */
export const contacts = async (ways: ReadonlyArray<string>): Promise<Contacts> => {
  const made = new Set<string>()
  const opened = await Promise.all(
    ways.map(async (way) => {
      const listener = await (way.startsWith("udp") ? udp : tcp)(() => void made.add(way))
      return { way, ...listener }
    }),
  )
  return {
    at: Object.fromEntries(opened.map(({ port, way }) => [way, `${host}:${port}`])),
    made: () => [...made],
    close: async () => void (await Promise.all(opened.map(({ close }) => close()))),
  }
}
