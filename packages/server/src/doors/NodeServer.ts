/**
 * The house's one listening socket. A door that reads messages itself (`/mcp`) takes its path here before the router;
 * everything else goes through effect/http by way of `NodeRequest.ts`.
 */
// edge: node:http speaks callbacks.
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { Context, Deferred, Effect, Layer, Result } from "effect"
import { HttpEffect, HttpServer, HttpServerError, HttpServerRequest } from "effect/http"
import { NetAddress } from "effect/net"
import { refuse, StartError } from "../store/StartError.ts"
import { NodeRequest } from "./NodeRequest.ts"
import { sendResponse } from "./Response.ts"

/** How long running requests may take to finish once the house is closing. */
const drainLimit = "10 seconds"

export type Door = (request: http.IncomingMessage, response: http.ServerResponse) => void

export class NodeServer extends Context.Service<
  NodeServer,
  {
    readonly url: string
    readonly port: number
    /** Becomes true when the house starts to close: nothing new is begun. */
    readonly draining: () => boolean
    /** What must happen first when the house closes: streams say goodbye. */
    readonly beforeClose: (step: Effect.Effect<void>) => void
    /**
     * A door that reads node's requests itself, for a path and everything below it: it comes before the router, and guards
     * itself. A request counts as running until its response is closed.
     */
    readonly take: (path: string, door: Door) => void
  }
>()("server/doors/NodeServer") {
  static readonly layer = (options: {
    readonly host: string
    readonly port: number
  }): Layer.Layer<NodeServer | HttpServer.HttpServer, StartError> =>
    Layer.effectContext(
      Effect.gen(function* () {
        const server = http.createServer({ keepAliveTimeout: 65_000, headersTimeout: 20_000, requestTimeout: 120_000 })
        let running = 0
        const taken: Array<{ readonly path: string; readonly door: Door }> = []
        const first: Array<Effect.Effect<void>> = []
        let closing = false
        let idle: Deferred.Deferred<void> | undefined
        const finished = () => {
          running--
          if (running === 0 && idle !== undefined) Deferred.doneUnsafe(idle, Effect.void)
        }

        // Between listening and serving the answer is "not yet", not silence.
        const notYet = (_: http.IncomingMessage, response: http.ServerResponse) => {
          response.writeHead(503, { "content-type": "application/json", "retry-after": "1" })
          response.end('{"status":"starting"}')
        }
        server.on("request", notYet)
        yield* listen(server, options)
        const { address, port } = server.address() as AddressInfo

        yield* Effect.addFinalizer(() =>
          Effect.gen(function* () {
            closing = true
            yield* Effect.forEach(first, (step) => step, { discard: true })
            // Still listening: whoever asks meanwhile is told that the house is closing.
            if (running > 0) {
              idle = Deferred.makeUnsafe<void>()
              yield* Effect.timeoutOption(Deferred.await(idle), drainLimit)
            }
            const closed = Deferred.makeUnsafe<void>()
            server.close(() => Deferred.doneUnsafe(closed, Effect.void))
            server.closeAllConnections()
            yield* Deferred.await(closed)
          }),
        )

        const serve = HttpServer.make({
          address: Result.getOrThrow(NetAddress.inetAddressFromIpString(address, port)),
          serve: Effect.fnUntraced(function* (app, middleware) {
            const context = yield* Effect.context<never>()
            const handled = HttpEffect.toHandled(app, sendResponse, middleware)
            const onRequest = (request: http.IncomingMessage, response: http.ServerResponse) => {
              const { url = "/" } = request
              for (const { door, path } of taken) {
                if (!url.startsWith(path) || !["", "/", "?"].includes(url.charAt(path.length))) continue
                running++
                response.once("close", finished)
                return door(request, response)
              }
              const asked = new NodeRequest(request, response)
              const fiber = Effect.runForkWith(Context.add(context, HttpServerRequest.HttpServerRequest, asked))(
                handled,
              )
              if (fiber.pollUnsafe() !== undefined) return
              running++
              fiber.addObserver(finished)
              response.on("close", () => {
                if (!response.writableFinished) fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
              })
            }
            server.off("request", notYet)
            server.on("request", onRequest)
            // Still answered while the house closes: the guard says that it does. The socket goes last.
            yield* Effect.addFinalizer(() => Effect.sync(() => void (closing = true)))
          }),
        })

        const host = options.host.includes(":") ? `[${options.host}]` : options.host
        return Context.make(HttpServer.HttpServer, serve).pipe(
          Context.add(NodeServer, {
            url: `http://${host}:${port}`,
            port,
            draining: () => closing,
            beforeClose: (step) => void first.push(step),
            take: (path, door) => void taken.push({ path, door }),
          }),
        )
      }),
    )
}

const listen = (server: http.Server, options: { readonly host: string; readonly port: number }) =>
  Effect.callback<void, StartError>((resume) => {
    const fail = (cause: NodeJS.ErrnoException) => {
      const place = `${options.host}:${options.port}`
      const why =
        cause.code === "EADDRINUSE"
          ? `Port ${options.port} on ${options.host} is taken. Stop what uses it, or set STOA_PORT to another (0 takes a free one).`
          : `Cannot listen on ${place}: ${cause.message}. Check STOA_HOST and STOA_PORT.`
      resume(Effect.fail(refuse(why, cause)))
    }
    server.once("error", fail)
    server.listen({ host: options.host, port: options.port }, () => {
      server.off("error", fail)
      resume(Effect.void)
    })
  })
