/**
 * The MCP door: JSON-RPC on node:http, before the router. A message is parsed once; the protocol is plain code; Effect
 * starts where the house is asked. Nothing is created per client except a small session, and only for old clients.
 */
// edge: node's requests, responses and one timer for all streams.
import type { IncomingMessage, ServerResponse } from "node:http"
import {
  Caller,
  type Forbidden,
  type Missing,
  NoRoute,
  problemType,
  TooLarge,
  TooManyRequests,
  Unauthenticated,
} from "@stoa/contract"
import { Clock, Context, Effect, Exit, Layer, Redacted } from "effect"
import { Limits } from "../../access/limits/Limits.ts"
import { UsedStates } from "../../access/secrets/UsedStates.ts"
import { chain } from "../../store/fibers/Resolved.ts"
import { requestContext } from "../../store/fibers/RequestContext.ts"
import { monotonicOf } from "../../store/Moment.ts"
import { Acting, headersOf, correlationFrom, type RefusalOptions, refusals } from "../Acting.ts"
import { Endings } from "../../access/identity/Endings.ts"
import { largestBody } from "../node/NodeRequest.ts"
import { LinkedSet } from "../../store/LinkedSet.ts"
import { faultOf } from "../Faults.ts"
import { NodeServer } from "../node/NodeServer.ts"
import type { Target } from "../node/Target.ts"
import { problemOf } from "../Problems.ts"
import { Desk } from "./desk/Desk.ts"
import { type EndpointAddress, placeOf } from "./wire/message.ts"
import { OpenStreams } from "./wire/openStreams.ts"
import { Reply } from "./wire/reply.ts"
import { serverInfo, stampOf } from "./wire/results.ts"
import { StateSeal } from "./eras/new/sealedState.ts"
import { type Exchange, serve } from "./eras/serve.ts"
import { Sessions } from "./eras/old/sessions.ts"

/** One timer for all streams and sessions: heartbeats, and the removal of idle sessions. */
const tickEvery = 5000
const beatEvery = 3
const sweepEvery = 12

export interface MCPOptions {
  readonly guard: RefusalOptions
  readonly version: string
  /** Seals the state that clients carry for us. */
  readonly key: Redacted.Redacted
}

type Needs = Acting | Desk | NodeServer | Endings | Limits | UsedStates

/** How much of a body is read before the sender is known. */
const strangersBody = 64 * 1024

export class MCPDoor extends Context.Service<
  MCPDoor,
  { readonly sessions: () => number; readonly streams: () => number; readonly waiting: () => number }
>()("server/doors/mcp/MCPDoor") {
  static readonly layer = (options: MCPOptions): Layer.Layer<MCPDoor, never, Needs> =>
    Layer.effect(
      MCPDoor,
      Effect.gen(function* () {
        const desk = yield* Desk
        const server = yield* NodeServer
        const acting = yield* Acting
        const limits = yield* Limits
        const states = yield* UsedStates
        const clock = yield* Clock.Clock
        const context = yield* requestContext
        // wall clock: what clients carry, and tokens, end at a moment.
        const now = () => clock.currentTimeMillisUnsafe()
        const uptime = () => monotonicOf(clock)
        const refusal = refusals(options.guard)
        const sessions = new Sessions()
        const { ended, watch } = yield* Endings
        const streams = new OpenStreams(watch)
        const waiting = new LinkedSet<Reply>()
        const front = {
          stamp: stampOf(serverInfo(options.version)),
          seal: new StateSeal(options.key),
          takeState: states.take,
          now,
          uptime,
          ending: server.draining,
        }
        const house = { front, sessions, streams, limits, arrived: desk.arrived, ended }

        const problem = (reply: Reply, failure: { readonly _tag: string; readonly message: string }) => {
          const { body, headers, status } = problemOf(failure)
          reply.refuse(status, JSON.stringify(body), { "content-type": problemType, ...headers, ...headersOf(failure) })
        }

        const senderOf = ({ headers, socket }: IncomingMessage) => ({
          authorization: headers.authorization,
          address: socket.remoteAddress,
        })
        const whoAsks = (
          place: EndpointAddress,
          request: IncomingMessage,
        ): Effect.Effect<Caller["Service"] | null, Unauthenticated | TooManyRequests> => {
          const { authorization } = request.headers
          const known = acting.identify(senderOf(request))
          return place.open && authorization === undefined
            ? Effect.catchTag(known, "Unauthenticated", () => Effect.succeed(null))
            : known
        }

        /** Everything that needs the house, in one fiber: who asks, how often they may, what they see, and the rest. */
        const run = (place: EndpointAddress, target: Target, request: IncomingMessage, reply: Reply, body: string) => {
          const { traceparent } = request.headers
          const correlationId = correlationFrom(typeof traceparent === "string" ? traceparent : undefined)
          const who = whoAsks(place, request)
          const serveAs = (
            caller: Caller["Service"] | null,
          ): Effect.Effect<void, Forbidden | Missing | NoRoute | TooManyRequests> => {
            const exchange: Exchange = { ...house, place, caller, request, reply, body, cancel: () => cancel() }
            const nothing = () => new NoRoute({ method: request.method ?? "POST", path: target.path })
            const asked = Effect.suspend(() =>
              chain(
                desk.viewFor(caller, place.endpoint),
                (view): Effect.Effect<void, Forbidden | Missing | NoRoute | TooManyRequests> =>
                  view === undefined ? Effect.fail(nothing()) : serve(exchange, view),
              ),
            )
            return caller === null
              ? acting.asNobody(senderOf(request), correlationId, asked)
              : acting.as(caller, correlationId, asked, { bytes: body.length, response: reply.response })
          }
          const settled = Effect.matchCauseEffect(
            Effect.suspend(() => chain(who, serveAs)),
            {
              onSuccess: () => Effect.void,
              onFailure: (failure) => {
                const expected = failure.reasons.find((it) => it._tag === "Fail")
                if (expected !== undefined) return Effect.sync(() => problem(reply, expected.error))
                return Effect.map(faultOf("An MCP request", failure, correlationId), (fault) => problem(reply, fault))
              },
            },
          )
          const fiber = Effect.runForkWith(context)(settled)
          const cancel = () => fiber.interruptUnsafe()
          if (fiber.pollUnsafe() !== undefined) return
          const leave = waiting.enter(reply)
          reply.stop = cancel
          fiber.addObserver((exit) => {
            leave()
            reply.stop = undefined
            // Only a cancelled request gets here, since every other failure is answered: it gets no answer, only an
            // end. A closing house breaks the connection instead, so that the client notices.
            if (Exit.isFailure(exit) && !server.draining()) reply.silence()
          })
          reply.response.on("close", () => {
            // In the new era, hanging up cancels the request. In the old era it does not: the client may come back.
            if (reply.diesWithConnection && !reply.done) cancel()
          })
        }

        const onRequest = (request: IncomingMessage, response: ServerResponse, target: Target) => {
          const { method = "GET" } = request
          const base = server.draining() ? { ...safe, connection: "close" } : safe
          const reply = new Reply(request, response, base, uptime())
          const { rawHeaders } = request
          const refused = refusal({ method, target, headers: request.headers as Record<string, string>, rawHeaders })
          if (refused !== undefined) return problem(reply, refused)
          const place = placeOf(target.path)
          if (place === undefined) return problem(reply, new NoRoute({ method, path: target.path }))
          if (method === "GET" || method === "DELETE") return run(place, target, request, reply, "")
          if (method !== "POST") return reply.empty(405, { allow: "GET, POST, DELETE" })
          const read = () =>
            readBody(request, (body) =>
              typeof body === "string"
                ? run(place, target, request, reply, body)
                : problem(reply, new TooLarge({ noun: "body", size: body.size, limit: largestBody })),
            )
          // NaN if the body is chunked.
          if (Number(request.headers["content-length"]) <= strangersBody) return read()
          // A large body is read only from a known sender. The sender is checked again when the body is there.
          const known = Effect.match(whoAsks(place, request), {
            onFailure: (failure) => problem(reply, failure),
            onSuccess: (caller) =>
              caller === null
                ? problem(reply, new TooLarge({ noun: "body", size: null, limit: strangersBody }))
                : read(),
          })
          Effect.runForkWith(context)(known)
        }

        let ticks = 0
        const tick = () => {
          ticks++
          if (ticks % sweepEvery === 0) sessions.sweep(uptime())
          if (ticks % beatEvery !== 0) return
          for (const reply of waiting) reply.beat(uptime())
          streams.beat()
        }
        yield* Effect.acquireRelease(
          Effect.sync(() => setInterval(tick, tickEvery).unref()),
          (timer) => Effect.sync(() => clearInterval(timer)),
        )
        // Streams that only listen are closed; running requests may finish.
        server.beforeClose(Effect.sync(() => streams.endAll()))
        server.afterDrain(
          Effect.sync(() => {
            for (const reply of waiting) reply.stop?.()
          }),
        )
        server.take("/mcp", onRequest)
        return MCPDoor.of({
          sessions: () => sessions.size,
          streams: () => streams.size,
          waiting: () => waiting.size,
        })
      }),
    )
}

const safe = { "x-content-type-options": "nosniff" }

/** The body as text, or its size if it is too large: as announced, or null if only reading it showed that. */
const readBody = (request: IncomingMessage, done: (body: string | { readonly size: number | null }) => void): void => {
  const announced = Number(request.headers["content-length"] ?? 0)
  if (announced > largestBody) return done({ size: announced })
  const chunks: Array<Buffer> = []
  let size = 0
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size <= largestBody) return void chunks.push(chunk)
    request.pause()
    request.removeAllListeners("data")
    request.removeAllListeners("end")
    done({ size: null })
  })
  request.on("end", () => done((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString("utf8")))
}
