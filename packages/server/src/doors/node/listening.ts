/**
 * Listening on the house's port. Node lets in one connection for each listening socket and turn of the event loop; while
 * somebody floods the house a turn takes milliseconds, and whoever came with sixteen connections would wait for sixteen of
 * them. So on Linux several sockets listen on the one port, and the kernel spreads those who come over them.
 */
// edge: node:net speaks callbacks.
import type { Server as HttpServer } from "node:http"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { Effect } from "effect"
import { refuse, type StartError } from "../../store/StartError.ts"

/** So many may stand before each socket, connected and not let in: node's own figure. */
export const backlog = 511
const sockets = 16

interface Place {
  readonly host: string
  readonly port: number
}

const listenOn = (server: Server, { host, port }: Place, reusePort: boolean) =>
  Effect.callback<void, StartError>((resume) => {
    const fail = (cause: NodeJS.ErrnoException) => {
      const why =
        cause.code === "EADDRINUSE"
          ? `Port ${port} on ${host} is taken. Stop what uses it, or set STOA_PORT to another (0 takes a free one).`
          : `Cannot listen on ${host}:${port}: ${cause.message}. Check STOA_HOST and STOA_PORT.`
      resume(Effect.fail(refuse(why, cause)))
    }
    server.once("error", fail)
    server.listen({ host, port, reusePort }, () => {
      server.off("error", fail)
      resume(Effect.void)
    })
  })

const closed = (server: Server) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
  })

/** Sockets that share a port do not notice that another house has it: one that shares with nobody looks first. */
const refuseTaken = Effect.fnUntraced(function* (place: Place) {
  const probe = createServer()
  yield* listenOn(probe, place, false)
  yield* closed(probe)
})

/** All that listen; the first is the server itself, and the others hand it whom they let in. */
export const listen = Effect.fnUntraced(function* (server: HttpServer, place: Place) {
  if (process.platform !== "linux") return yield* Effect.as(listenOn(server, place, false), [server])
  if (place.port !== 0) yield* refuseTaken(place)
  yield* listenOn(server, place, true)
  const { address: host, port } = server.address() as AddressInfo
  const letIn = (socket: Socket) => void server.emit("connection", socket)
  // As node:http makes its own.
  const more = Array.from({ length: sockets - 1 }, () => createServer({ allowHalfOpen: true, noDelay: true }, letIn))
  const all: ReadonlyArray<Server> = [server, ...more]
  yield* Effect.onError(
    Effect.forEach(more, (one) => listenOn(one, { host, port }, true), { discard: true }),
    () => Effect.sync(() => all.forEach((one) => one.close())),
  )
  return all
})
