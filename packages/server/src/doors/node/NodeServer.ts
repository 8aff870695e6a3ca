/**
 * The house's one listening socket. A door that reads messages itself (`/mcp`) takes its path here before the router;
 * everything else goes through `NodeRequest.ts` to effect/http.
 */
// edge: node:http speaks callbacks, and a closing house waits in real time.
import * as http from "node:http"
import { type AddressInfo, Server as NetServer, type Socket } from "node:net"
import { Context, Deferred, Effect, Layer, Result } from "effect"
import { HttpEffect, HttpServer, HttpServerError, HttpServerRequest } from "effect/http"
import { NetAddress } from "effect/net"
import { LinkedSet } from "../../store/LinkedSet.ts"
import { refuse, StartError } from "../../store/StartError.ts"
import { NodeRequest } from "./NodeRequest.ts"
import { sendResponse } from "./Response.ts"
import { Turns } from "./Unsent.ts"
import { type Target, targetOf } from "./Target.ts"

/** How long running requests may take to finish when the house is closing. */
const drainLimit = "10 seconds"
/**
 * A client that was just answered may have sent its next request already: its connection stays open this long, and that
 * request is told that the house is closing. If it were cut off, the client would not know whether the request had run.
 */
const lingerMs = 250
/** A client that takes nothing of its answer for this long is cut off. */
const unreadMs = 60_000
/** How many connections may wait to be accepted: node's default. */
const backlog = 511

export type Door = (request: http.IncomingMessage, response: http.ServerResponse, target: Target) => void

export class NodeServer extends Context.Service<
  NodeServer,
  {
    readonly url: string
    readonly port: number
    /** Becomes true when the house starts to close: nothing new is started. */
    readonly draining: () => boolean
    /** Runs first when the house closes: streams send their last frame. */
    readonly beforeClose: (step: Effect.Effect<void>) => void
    /** Runs when the time for running requests is over: whatever still runs is abandoned. */
    readonly afterDrain: (step: Effect.Effect<void>) => void
    /**
     * A door that reads node's requests itself, for a path and everything below it: it comes before the router, and
     * does its own checks. A request counts as running until its response is closed.
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
        /** Responses that are not sent completely. */
        const running = new LinkedSet<http.ServerResponse>()
        /** When each connection was opened, or last answered on. */
        const quietSince = new Map<Socket, number>()
        const turns = new WeakMap<Socket, Turns>()
        const turnsOf = (socket: Socket): Turns => {
          const known = turns.get(socket) ?? new Turns(socket)
          turns.set(socket, known)
          return known
        }
        // Node calls it, too, when a connection was idle between two requests for as long as it may be.
        server.setTimeout(unreadMs, (socket) => {
          if (socket.writableLength > 0 || turnsOf(socket).isIdle) socket.destroy()
        })
        const taken: Array<{ readonly path: string; readonly door: Door }> = []
        const first: Array<Effect.Effect<void>> = []
        const last: Array<Effect.Effect<void>> = []
        let closing = false
        let idle: Deferred.Deferred<void> | undefined
        const begun = (socket: Socket, response: http.ServerResponse): (() => void) => {
          const leave = running.enter(response)
          if (closing) response.shouldKeepAlive = false
          const finished = () => {
            leave()
            if (running.size === 0 && idle !== undefined) Deferred.doneUnsafe(idle, Effect.void)
          }
          response.once("close", () => {
            if (quietSince.has(socket)) quietSince.set(socket, performance.now())
            finished()
          })
          return finished
        }
        /** From now on each answer is the last one on its connection. */
        const beginClosing = () => {
          closing = true
          for (const response of running) response.shouldKeepAlive = false
        }
        let letIn = 0
        server.on("connection", (socket) => {
          letIn++
          quietSince.set(socket, performance.now())
          socket.once("close", () => quietSince.delete(socket))
        })
        const answered = Effect.suspend(() => {
          if (running.size === 0) return Effect.void
          idle = Deferred.makeUnsafe<void>()
          return Deferred.await(idle)
        })
        /**
         * Waits until no connection is left to accept: each turn of the event loop accepts one, which may have sent a
         * request already.
         */
        const allIn = Effect.gen(function* () {
          for (let turn = 0, before = -1; turn < backlog && before < letIn; turn++) {
            before = letIn
            yield* pause(0)
          }
        })
        /** Waits until every connection has ended or been quiet for a while. */
        const allQuiet: Effect.Effect<void> = Effect.flatMap(answered, () => {
          const now = performance.now()
          const wait = [...quietSince.values()].reduce((most, since) => Math.max(most, since + lingerMs - now), 0)
          return wait === 0 && running.size === 0 ? Effect.void : Effect.andThen(pause(wait), allQuiet)
        })

        // Between listening and serving the answer is 503 instead of silence.
        const notYet = (_: http.IncomingMessage, response: http.ServerResponse) => {
          response.writeHead(503, { "content-type": "application/json", "retry-after": "1" })
          response.end('{"status":"starting"}')
        }
        server.on("request", notYet)
        yield* listen(server, options)
        const { address, port } = server.address() as AddressInfo

        const closed = Deferred.makeUnsafe<void>()
        // node:http's own `close` would cut off clients that are between two requests.
        const listenNoMore = () =>
          server.listening
            ? void NetServer.prototype.close.call(server, () => Deferred.doneUnsafe(closed, Effect.void))
            : undefined
        yield* Effect.addFinalizer(() =>
          Effect.gen(function* () {
            beginClosing()
            yield* Effect.forEach(first, (step) => step, { discard: true })
            yield* Effect.timeoutOption(
              Effect.gen(function* () {
                // Still listening: requests that arrive now are told that the house is closing.
                yield* answered
                yield* allIn
                listenNoMore()
                yield* allQuiet
              }),
              drainLimit,
            )
            listenNoMore()
            yield* Effect.forEach(last, (step) => step, { discard: true })
            server.closeAllConnections()
            yield* Deferred.await(closed)
            server.close()
          }),
        )

        const serve = HttpServer.make({
          address: Result.getOrThrow(NetAddress.inetAddressFromIpString(address, port)),
          serve: Effect.fnUntraced(function* (app, middleware) {
            const context = yield* Effect.context<never>()
            const handled = HttpEffect.toHandled(app, sendResponse, middleware)
            const onRequest = (request: http.IncomingMessage, response: http.ServerResponse) =>
              turnsOf(request.socket).take(response, () => answer(request, response))
            const answer = (request: http.IncomingMessage, response: http.ServerResponse) => {
              const target = targetOf(request.url ?? "/")
              for (const { door, path } of taken) {
                if (target.path !== path && !target.path.startsWith(`${path}/`)) continue
                begun(request.socket, response)
                return door(request, response, target)
              }
              const finished = begun(request.socket, response)
              const asked = new NodeRequest(request, response, target)
              const fiber = Effect.runForkWith(Context.add(context, HttpServerRequest.HttpServerRequest, asked))(
                handled,
              )
              // A feed runs by itself, and sends its last frame when the house closes.
              const over = () => (response.writableEnded ? undefined : finished())
              if (fiber.pollUnsafe() !== undefined) return over()
              fiber.addObserver(over)
              response.on("close", () => {
                if (!response.writableFinished) fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
              })
            }
            server.off("request", notYet)
            server.on("request", onRequest)
            // Requests are still answered while the house closes: the guard says so. The socket is closed last.
            yield* Effect.addFinalizer(() => Effect.sync(beginClosing))
          }),
        })

        const host = options.host.includes(":") ? `[${options.host}]` : options.host
        return Context.make(HttpServer.HttpServer, serve).pipe(
          Context.add(NodeServer, {
            url: `http://${host}:${port}`,
            port,
            draining: () => closing,
            beforeClose: (step) => void first.push(step),
            afterDrain: (step) => void last.push(step),
            take: (path, door) => void taken.push({ path, door }),
          }),
        )
      }),
    )
}

/** Lets the event loop turn at least once, so that what has arrived is handled. */
const pause = (milliseconds: number) =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => setImmediate(() => resume(Effect.void)), milliseconds)
    return Effect.sync(() => clearTimeout(timer))
  })

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
