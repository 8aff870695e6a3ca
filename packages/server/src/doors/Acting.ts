/**
 * From a request to a caller. First what is checked before anybody reads it: is the house open, is the Host ours, does it come
 * from one of our pages. Then credential, caller, limit, cause and, if it is refused, the record of the refusal. The only way
 * in for HTTP, the feed and MCP. Identity comes from here and from nowhere else.
 */
import {
  Caller,
  CorrelationId,
  Forbidden,
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
import { Grants } from "../access/rights/Grants.ts"
import { resolvedValue, chain } from "../store/Resolved.ts"
import { skipIfDiskFull } from "../store/database/FullDisk.ts"
import { type Cause, Correlation, newCorrelation } from "../store/journal/Correlation.ts"
import { Journal } from "../store/journal/Journal.ts"
import { type Leave, mostWaiting, nothingToLeave, FairQueue } from "./fairness/FairQueue.ts"
import { HttpMethod } from "effect/http"
import type { Target } from "./node/Target.ts"

export interface RefusalOptions {
  readonly port: number
  readonly host: string
  readonly publicUrl: URL | undefined
  readonly draining: () => boolean
}

const traceId = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/
const isCorrelation = Schema.is(CorrelationId)

/** The trace id of the caller, if it sent one (W3C), so that one id runs through everything (G-39). */
export const correlationFrom = (traceparent: string | undefined): CorrelationId => {
  const found = traceparent === undefined ? undefined : traceId.exec(traceparent)?.[1]
  return found !== undefined && isCorrelation(found) && !/^0+$/.test(found) ? found : newCorrelation()
}

/** The names this house answers to. A request for another is DNS rebinding (G-44). */
export const hostsOf = ({ host, port, publicUrl }: RefusalOptions): ReadonlySet<string> => {
  const names = ["127.0.0.1", "localhost", "[::1]", host.includes(":") ? `[${host}]` : host]
  const own = names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])])
  return new Set([...own, ...(publicUrl === undefined ? [] : [publicUrl.host])].map((name) => name.toLowerCase()))
}

/** What of a request the refusals look at. */
interface Asked {
  readonly method: string
  readonly target: Target
  readonly headers: { readonly [name: string]: string | undefined }
}

const hasBody = (request: Asked): boolean =>
  HttpMethod.hasBody(request.method as "POST") &&
  (request.headers["transfer-encoding"] !== undefined || (request.headers["content-length"] ?? "0") !== "0")

/** Why a request is turned away before anybody reads it; undefined when it is not. */
export const refusals = (options: RefusalOptions) => {
  const hosts = hostsOf(options)
  // Behind 0.0.0.0 every name of the machine is ours; only the Origin then tells a foreign page apart.
  const anyHost = options.host === "0.0.0.0" || options.host === "::"

  const refusal = (request: Asked) => {
    const { headers, target } = request
    const { fault, path } = target
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
  /** A page of ours: the origin names the host that was asked, or the public address. No CORS beyond that. */
  const isOwn = (origin: string, host: string): boolean => {
    const parsed = URL.parse(origin)
    if (parsed === null) return false
    return parsed.host === host.toLowerCase() || parsed.host === options.publicUrl?.host.toLowerCase()
  }

  return refusal
}

/** What of a request says who sent it. */
export interface Sender {
  readonly authorization: string | undefined
  /** What a browser that signed in sends instead. */
  readonly session?: string | undefined
  /** Where it came from, counted for wrong guesses. */
  readonly address: string | undefined
}

const kilobyte = 1024
const scheme = "bearer "
/** The token of a header, however the scheme is written; undefined where it is none. */
const tokenIn = (authorization: string): string | undefined =>
  authorization.slice(0, scheme.length).toLowerCase() === scheme
    ? authorization.slice(scheme.length).trim() || undefined
    : undefined

/** A failure in which a refusal may be wrapped: effect/http-api hands a security middleware its handler's in one. */
const inner = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "error" in error ? (error as { readonly error: unknown }).error : error

/** What `WWW-Authenticate` and `Retry-After` say of a refusal; nothing of any other. */
export const headersOf = (given: unknown): Readonly<Record<string, string>> => {
  const error = given instanceof Unauthenticated || given instanceof TooManyRequests ? given : inner(given)
  // A token that was sent and refused is named so; one that was not sent is no error.
  if (error instanceof Unauthenticated)
    return { "www-authenticate": error.reason === "missing" ? "Bearer" : 'Bearer error="invalid_token"' }
  return error instanceof TooManyRequests ? { "retry-after": String(error.retryAfter) } : {}
}

export class Acting extends Context.Service<
  Acting,
  {
    /** Who sent it. No credential is the stand-in, where a setting names one; one that is no bearer token is refused. */
    readonly identify: (sender: Sender) => Effect.Effect<Caller["Service"], Unauthenticated | TooManyRequests>
    /** Counted as a request of the caller's, done as theirs, and written down as denied where it is refused. */
    readonly as: <A, E, R>(
      caller: Caller["Service"],
      correlationId: CorrelationId,
      app: Effect.Effect<A, E, R>,
      /** Of the request's body; of one that comes in parts, once it is there. */
      bytes?: number | Effect.Effect<number>,
    ) => Effect.Effect<A, E | TooManyRequests, Exclude<R, Caller>>
    /** For a door that answers refusals in words of its own: what fails as forbidden is written down first. */
    readonly recorded: <A, E, R>(app: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Caller>
    /** A guess at a credential that was wrong: counted, and written down. */
    readonly refused: <E extends Unauthenticated>(
      error: E,
      sender: Sender,
      resource: string,
    ) => Effect.Effect<never, E | TooManyRequests>
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

        const refused: Acting["Service"]["refused"] = Effect.fnUntraced(function* (error, { address }, resource) {
          // Counted before it is written down: a flood of guesses must not become a flood of rows.
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
            return refused(new Unauthenticated({ reason: "refused" }), sender, "tokens")
          const known = token === undefined ? tokens.authenticateSession(session!) : tokens.authenticate(token)
          return resolvedValue(known) !== undefined
            ? known
            : Effect.catchTag(known, "Unauthenticated", (error) => refused(error, sender, "tokens"))
        }

        const queue = new FairQueue()
        /** Until its turn has come; a principal with too many before it is told so. */
        const placeOf = (id: string, bytes: number): Effect.Effect<Leave, TooManyRequests> =>
          Effect.callback<Leave, TooManyRequests>((resume) => {
            const leave = queue.wait(id, bytes, (place) => resume(Effect.succeed(place)))
            if (leave !== undefined) return Effect.sync(leave)
            const limit = `${mostWaiting} waiting requests`
            resume(Effect.fail(new TooManyRequests({ resource: "http", limit, retryAfter: 1 })))
          })

        /** Somebody over a limit is answered a little later: it cannot ask as fast as it is refused. */
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
          bytes: number | Effect.Effect<number> = 0,
        ): Effect.Effect<A, E | TooManyRequests, Exclude<R, Caller>> => {
          const { id, kind } = caller.principal
          const cause: Cause = { correlationId, actor: id, provenance: kind === "service" ? "outside" : kind }
          const until = (leave: Leave): Effect.Effect<A, E, R | Caller> =>
            leave === nothingToLeave ? app : Effect.ensuring(app, Effect.sync(leave))
          const begun = (bytes: number): Effect.Effect<A, E | TooManyRequests, R | Caller> => {
            const leave = queue.begin(id, bytes)
            return leave === undefined ? Effect.flatMap(placeOf(id, bytes), until) : until(leave)
          }
          // Small ones are bounded by their number.
          const sized = (bytes: number): Effect.Effect<A, E | TooManyRequests, R | Caller> =>
            bytes < kilobyte
              ? begun(bytes)
              : chain(limits.take(caller, "kilobytes", Math.ceil(bytes / kilobyte)), () => begun(bytes))
          const counted = chain(limits.take(caller, "http"), () =>
            typeof bytes === "number" ? sized(bytes) : Effect.flatMap(bytes, sized),
          )
          const answered = Effect.tapError(counted, (error) => (isOver(error) ? heldBack(id) : record(error)))
          // Both at once: each addition may copy the whole.
          return Effect.updateContext(
            answered,
            (around: Context.Context<Exclude<R, Caller>>) =>
              Context.add(Context.add(around, Correlation, cause), Caller, caller) as Context.Context<R | Caller>,
          )
        }

        return Acting.of({ identify, as, recorded, refused })
      }),
    )
}
