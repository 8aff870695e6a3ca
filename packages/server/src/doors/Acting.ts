/**
 * From a request to a caller. First the checks that need no credential: is the house open, is the Host ours, does it
 * come from one of our pages? Then credential, caller, limit, cause and, if it is refused, the record of the refusal.
 * HTTP, the feed and MCP all use it, for every kind of credential. Identity comes only from here.
 */
import {
  Caller,
  CorrelationId,
  Forbidden,
  type ResultSignature,
  type RunId,
  TooManyRequests,
  Unauthenticated,
  BadInput,
  ForeignOrigin,
  Unavailable,
  UnsupportedBody,
} from "@stoa/contract"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Limits } from "../access/limits/Limits.ts"
import { Tokens } from "../access/identity/Tokens.ts"
import type { SignedResult } from "../calls/waiting/Callbacks.ts"
import { Grants } from "../access/rights/Grants.ts"
import { resolvedValue, chain } from "../store/fibers/Resolved.ts"
import { skipIfDiskFull } from "../store/database/disk/FullDisk.ts"
import { type Cause, causedBy, Correlation, newCorrelation, provenanceOf } from "../store/journal/Correlation.ts"
import { Journal } from "../store/journal/Journal.ts"
import { type Leave, maxWaiting, nothingToLeave, FairQueue } from "./fairness/FairQueue.ts"
import { HttpMethod } from "effect/http"
import type { ServerResponse } from "node:http"
import { Unsent, unsentLimit } from "./node/Unsent.ts"
import type { Target } from "./node/Target.ts"
import { type LinkBearer, makeSigned, type ServiceRequest } from "./signed.ts"

export interface RefusalOptions {
  readonly port: number
  readonly host: string
  readonly publicUrl: URL | undefined
  readonly draining: () => boolean
}

const traceId = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/
const isCorrelation = Schema.is(CorrelationId)

/** The caller's trace id (W3C), if it sent one, so that one id identifies everything (G-39). */
export const correlationFrom = (traceparent: string | undefined): CorrelationId => {
  const found = traceparent === undefined ? undefined : traceId.exec(traceparent)?.[1]
  return found !== undefined && isCorrelation(found) && !/^0+$/.test(found) ? found : newCorrelation()
}

/** The names this house answers to. A request for another name is DNS rebinding (G-44). */
export const hostsOf = ({ host, port, publicUrl }: RefusalOptions): ReadonlySet<string> => {
  const names = ["127.0.0.1", "localhost", "[::1]", host.includes(":") ? `[${host}]` : host]
  const own = names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])])
  return new Set([...own, ...(publicUrl === undefined ? [] : [publicUrl.host])].map((name) => name.toLowerCase()))
}

/** The parts of a request that the refusals check. */
interface Asked {
  readonly method: string
  readonly target: Target
  readonly headers: { readonly [name: string]: string | undefined }
  /** Names and values by turns, as they were sent: of two Host headers node keeps the first and drops the second. */
  readonly rawHeaders: ReadonlyArray<string>
}

const hostsSent = ({ rawHeaders }: Asked): number => {
  let sent = 0
  // For every request, so without a list of its own.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === "host") sent++
  }
  return sent
}

const hasBody = (request: Asked): boolean =>
  HttpMethod.hasBody(request.method as "POST") &&
  (request.headers["transfer-encoding"] !== undefined || (request.headers["content-length"] ?? "0") !== "0")

/** Why a request is refused before its body is read; undefined if it is not. */
export const refusals = (options: RefusalOptions) => {
  const hosts = hostsOf(options)
  // If we listen on 0.0.0.0, every name of the machine is ours; then only the Origin reveals a foreign page.
  const anyHost = options.host === "0.0.0.0" || options.host === "::"

  const refusal = (request: Asked) => {
    const { headers, target } = request
    const { fault, path } = target
    // A proxy in front may go by the other one.
    const sent = hostsSent(request)
    if (sent > 1)
      return new BadInput({ issues: [{ path: "headers.host", message: `was sent ${sent} times; send it once` }] })
    if (options.draining() && path !== "/healthz" && path !== "/readyz")
      return new Unavailable({ reason: "it is closing" })
    const host = headers["host"] ?? ""
    if (!anyHost && !hosts.has(host.toLowerCase())) return new ForeignOrigin({ header: "Host", value: host })
    const origin = headers["origin"]
    if (origin !== undefined && !isOwn(origin, host)) return new ForeignOrigin({ header: "Origin", value: origin })
    if (fault !== undefined) return new BadInput({ issues: [{ path: "path", message: fault }] })
    const type = headers["content-type"]
    if (hasBody(request) && type !== undefined && !/^application\/([a-z.+-]+\+)?json\b/i.test(type))
      return new UnsupportedBody({ contentType: type })
    return undefined
  }
  /** One of our pages: the origin is the host of the request, or the public address. No other CORS. */
  const isOwn = (origin: string, host: string): boolean => {
    const parsed = URL.parse(origin)
    if (parsed === null) return false
    return parsed.host === host.toLowerCase() || parsed.host === options.publicUrl?.host.toLowerCase()
  }

  return refusal
}

/** The parts of a request that identify its sender. */
export interface Sender {
  readonly authorization: string | undefined
  /** The session of a signed-in browser, instead of a token. */
  readonly session?: string | undefined
  /** The sender's address: wrong guesses are counted per address. */
  readonly address: string | undefined
}

const kilobyte = 1024
const scheme = "bearer "
/** The token of an Authorization header, with the scheme in any case; undefined if there is none. */
const tokenIn = (authorization: string): string | undefined =>
  authorization.slice(0, scheme.length).toLowerCase() === scheme
    ? authorization.slice(scheme.length).trim() || undefined
    : undefined

/** The refusal inside a wrapper: effect/http-api wraps the errors of a handler behind a security middleware. */
const inner = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "error" in error ? (error as { readonly error: unknown }).error : error

/** The `WWW-Authenticate` and `Retry-After` headers of a refusal; none for any other error. */
export const headersOf = (given: unknown): Readonly<Record<string, string>> => {
  const error = given instanceof Unauthenticated || given instanceof TooManyRequests ? given : inner(given)
  // Only a token that was sent and refused is `invalid_token`; a missing token is no error.
  if (error instanceof Unauthenticated)
    return { "www-authenticate": error.reason === "missing" ? "Bearer" : 'Bearer error="invalid_token"' }
  return error instanceof TooManyRequests ? { "retry-after": String(error.retryAfter) } : {}
}

export class Acting extends Context.Service<
  Acting,
  {
    /**
     * The sender. Without a credential it is the stand-in principal, if a setting names one; a credential that is not a
     * bearer token is refused.
     */
    readonly identify: (sender: Sender) => Effect.Effect<Caller["Service"], Unauthenticated | TooManyRequests>
    /** The service that has signed the request. An unknown service and a wrong signature get the same answer. */
    readonly identifyService: (
      sender: Sender,
      request: ServiceRequest,
    ) => Effect.Effect<Caller["Service"], Unauthenticated | TooManyRequests>
    /** The person that a decision link was made for. */
    readonly identifyLink: (
      sender: Sender,
      token: string,
    ) => Effect.Effect<LinkBearer, Unauthenticated | TooManyRequests>
    /** The signature of a call's service on its result. An unknown call is refused like a wrong signature. */
    readonly identifyResult: (
      sender: Sender,
      result: SignedResult,
    ) => Effect.Effect<ResultSignature, Unauthenticated | TooManyRequests>
    /** Counts the request against the caller's limits, runs it as the caller, and records a refusal. */
    readonly as: <A, E, R>(
      caller: Caller["Service"],
      correlationId: CorrelationId,
      app: Effect.Effect<A, E, R>,
      request?: {
        /** Size of the body; if it is chunked, an effect that knows it once it is read. */
        readonly bytes: number | Effect.Effect<number>
        readonly response: ServerResponse
      },
    ) => Effect.Effect<A, E | TooManyRequests, Exclude<R, Caller>>
    /** For what is open to everybody: runs it as nobody, counted per network. */
    readonly asNobody: <A, E, R>(
      sender: Sender,
      correlationId: CorrelationId,
      app: Effect.Effect<A, E, R>,
    ) => Effect.Effect<A, E | TooManyRequests, R>
    /** For a result that the service of a tool has signed: runs it as nobody, counted per tool. */
    readonly asTool: <A, E, R>(
      tool: string,
      correlationId: CorrelationId,
      app: Effect.Effect<A, E, R>,
    ) => Effect.Effect<A, E | TooManyRequests, R>
    /** Counts and records a wrong credential that is exchanged for a token, such as a wallet's signature. */
    readonly refused: (
      error: Unauthenticated,
      sender: Sender,
      resource: string,
    ) => Effect.Effect<never, Unauthenticated | TooManyRequests>
    /** For a door that formats refusals itself: records a Forbidden before passing it on. */
    readonly recorded: <A, E, R>(app: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Caller>
  }
>()("server/doors/Acting") {
  static readonly layer = (anonymous: Option.Option<string>) =>
    Layer.effect(
      Acting,
      Effect.gen(function* () {
        const tokens = yield* Tokens
        const limits = yield* Limits
        const grants = yield* Grants
        const journal = yield* Journal

        const signed = yield* makeSigned

        const refused: Acting["Service"]["refused"] = Effect.fnUntraced(function* (error, { address }, resource) {
          // Counted before it is recorded: a flood of guesses must not become a flood of rows.
          yield* limits.takeGuess(address ?? "unknown")
          const body = { principal: null, action: "authenticate", resource, rule: "unknown, expired or revoked" }
          yield* skipIfDiskFull("a refused token", journal.transact(journal.append({ kind: "access.denied", body })))
          return yield* Effect.fail(error)
        })

        const identify: Acting["Service"]["identify"] = (sender) => {
          const { authorization = "", session } = sender
          if (authorization === "" && session === undefined)
            return Option.isSome(anonymous)
              ? Effect.orDie(tokens.standIn(anonymous.value))
              : Effect.fail(new Unauthenticated({ reason: "missing" }))
          const token = authorization === "" ? undefined : tokenIn(authorization)
          if (authorization !== "" && token === undefined)
            return refused(new Unauthenticated({ reason: "scheme" }), sender, "tokens")
          const known = token === undefined ? tokens.authenticateSession(session!) : tokens.authenticate(token)
          return resolvedValue(known) !== undefined
            ? known
            : Effect.catchTag(known, "Unauthenticated", (error) => refused(error, sender, "tokens"))
        }

        const known = <A>(
          found: Effect.Effect<A | undefined>,
          reason: Unauthenticated["reason"],
          sender: Sender,
          resource: string,
        ): Effect.Effect<A, Unauthenticated | TooManyRequests> =>
          Effect.flatMap(found, (one) =>
            one === undefined ? refused(new Unauthenticated({ reason }), sender, resource) : Effect.succeed(one),
          )
        const identifyService: Acting["Service"]["identifyService"] = (sender, request) =>
          known(signed.service(request), "service", sender, "services")
        const identifyLink: Acting["Service"]["identifyLink"] = (sender, token) =>
          known(signed.link(token), "signature", sender, "decisions")
        const identifyResult: Acting["Service"]["identifyResult"] = (sender, result) =>
          known(signed.result(result), "signature", sender, "calls")

        const queue = new FairQueue()
        const unsent = new Unsent()
        /** Waits for the principal's turn; fails if too many of its requests wait already. */
        const placeOf = (id: string, bytes: number): Effect.Effect<Leave, TooManyRequests> =>
          Effect.callback<Leave, TooManyRequests>((resume) => {
            const leave = queue.wait(id, bytes, (place) => resume(Effect.succeed(place)))
            if (leave !== undefined) return Effect.sync(leave)
            const limit = `${maxWaiting} waiting requests`
            resume(Effect.fail(new TooManyRequests({ resource: "http", limit, retryAfter: 1 })))
          })

        /** Delays the answer to a principal over its limit, so that it cannot ask as fast as it is refused. */
        const heldBack = (id: string): Effect.Effect<void> =>
          Effect.callback<void>((resume) => {
            const answer = () => resume(Effect.void)
            const leave = queue.hold(id, answer)
            if (leave !== undefined) return Effect.sync(leave)
            answer()
          })
        const isOver = (error: unknown): boolean =>
          error instanceof TooManyRequests || inner(error) instanceof TooManyRequests

        const record = (error: unknown): Effect.Effect<void, never, Caller> => {
          const denied = error instanceof Forbidden ? error : inner(error)
          return denied instanceof Forbidden ? grants.recordDenial(denied) : Effect.void
        }
        const recorded: Acting["Service"]["recorded"] = (app) => Effect.tapError(app, record)

        const as = <A, E, R>(
          caller: Caller["Service"],
          correlationId: CorrelationId,
          app: Effect.Effect<A, E, R>,
          request?: { readonly bytes: number | Effect.Effect<number>; readonly response: ServerResponse },
        ): Effect.Effect<A, E | TooManyRequests, Exclude<R, Caller>> => {
          const { id, kind } = caller.principal
          const cause: Cause = {
            correlationId,
            actor: id,
            provenance: provenanceOf(kind),
            ...(caller.run === undefined ? {} : { run: caller.run as RunId }),
          }
          // Looked at when its turn has come: the answers before it are written by then.
          const answered = Effect.suspend((): Effect.Effect<A, E | TooManyRequests, R | Caller> => {
            if (request === undefined) return app
            if (unsent.isFull(id))
              return Effect.fail(new TooManyRequests({ resource: "http", limit: unsentLimit, retryAfter: 1 }))
            unsent.add(id, request.response)
            return app
          })
          const until = (leave: Leave): Effect.Effect<A, E | TooManyRequests, R | Caller> =>
            leave === nothingToLeave ? answered : Effect.ensuring(answered, Effect.sync(leave))
          const begun = (bytes: number): Effect.Effect<A, E | TooManyRequests, R | Caller> => {
            const leave = queue.begin(id, bytes)
            return leave === undefined ? Effect.flatMap(placeOf(id, bytes), until) : until(leave)
          }
          // Small requests are limited only by their number.
          const sized = (bytes: number): Effect.Effect<A, E | TooManyRequests, R | Caller> =>
            bytes < kilobyte
              ? begun(bytes)
              : chain(limits.take(caller, "kilobytes", Math.ceil(bytes / kilobyte)), () => begun(bytes))
          const bytes = request?.bytes ?? 0
          const counted = chain(limits.take(caller, "http"), () =>
            typeof bytes === "number" ? sized(bytes) : Effect.flatMap(bytes, sized),
          )
          const held = Effect.tapError(counted, (error) => (isOver(error) ? heldBack(id) : record(error)))
          // Both at once: each addition may copy the whole context.
          return Effect.updateContext(
            held,
            (around: Context.Context<Exclude<R, Caller>>) =>
              Context.add(Context.add(around, Correlation, cause), Caller, caller) as Context.Context<R | Caller>,
          )
        }

        const fromOutside = <A, E, R>(correlationId: CorrelationId, app: Effect.Effect<A, E, R>) =>
          causedBy({ correlationId, actor: null, provenance: "outside" }, app)
        const asNobody: Acting["Service"]["asNobody"] = ({ address }, correlationId, app) =>
          Effect.andThen(limits.takeStranger(address ?? "unknown"), fromOutside(correlationId, app))
        const asTool: Acting["Service"]["asTool"] = (tool, correlationId, app) =>
          Effect.andThen(limits.takeResult(tool), fromOutside(correlationId, app))

        return Acting.of({
          asNobody,
          asTool,
          identify,
          identifyService,
          identifyLink,
          identifyResult,
          refused,
          as,
          recorded,
        })
      }),
    )
}
