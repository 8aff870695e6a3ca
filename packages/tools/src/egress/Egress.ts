/**
 * The only way out: every tool that uses the network does so through here. A URL is parsed, its host is looked up once,
 * every address is judged, and the connection is made only to those addresses; each redirect goes through all of it
 * again. A refusal is a ToolExecutionError whose `cause` is an EgressFault.
 */
import { ToolExecutionError } from "@stoa/contract"
import { Context, Effect } from "effect"
import { addressKind, isAddress, isOpenable } from "./Address.ts"
import { type HttpResponse, sendHttpRequest } from "./httpRequest.ts"
import {
  defaultEgressPolicy,
  type EgressPolicy,
  type EgressReason,
  headersFor,
  hostOf,
  matchesHost,
  readHeaders,
  readUrl,
  type Refusal,
} from "./Policy.ts"
import { Resolver } from "./Resolver.ts"

/** The policy in force. Provide another one to change a default. */
export const CurrentEgressPolicy = Context.Reference<EgressPolicy>("tools/egress/EgressPolicy", {
  defaultValue: () => defaultEgressPolicy,
})

export interface EgressRequest {
  /** The tool that a failure is reported for. */
  readonly tool: string
  readonly url: string
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** A GET or HEAD may use a connection that an earlier request of this tool left open. */
  readonly keepAlive?: boolean
  /** A body that is too long is cut and marked instead of refused. */
  readonly cut?: boolean
  /** Narrows the policy for this request. Never pass a model's choice here. */
  readonly hosts?: ReadonlyArray<string>
  /** Allows private hosts that the operator named in this tool's own configuration. Never a model's choice. */
  readonly allow?: ReadonlyArray<string>
  readonly maxBytes?: number
  readonly timeoutMs?: number
}

export interface EgressResponse extends HttpResponse {
  /** The final URL, after redirects. */
  readonly url: string
}

/** The `cause` of a ToolExecutionError of the egress policy. */
export interface EgressFault {
  readonly reason: EgressReason
  /** Without its query, which may hold a key. */
  readonly url: string
}

export interface EgressService {
  readonly fetch: (request: EgressRequest) => Effect.Effect<EgressResponse, ToolExecutionError>
}

const isRefusal = (it: object): it is Refusal => "reason" in it && "detail" in it
const orRefuse = <A extends object>(it: A | Refusal): Effect.Effect<A, Refusal> =>
  isRefusal(it) ? Effect.fail(it) : Effect.succeed(it)

const refuse = (reason: EgressReason, detail: string): Effect.Effect<never, Refusal> => Effect.fail({ reason, detail })

/** The addresses that this request may connect to. One forbidden address among allowed ones refuses all: it is an attack. */
export const checkHost = Effect.fnUntraced(function* (
  url: URL,
  allow: ReadonlyArray<string>,
): Effect.fn.Return<ReadonlyArray<string>, Refusal> {
  const host = hostOf(url)
  const literal = isAddress(host)
  const addresses = literal ? [host] : yield* (yield* Resolver).resolve(host)
  if (addresses.length === 0) return yield* refuse("unresolved", `"${host}" has no address`)
  const opened = matchesHost(allow, url)
  for (const address of addresses) {
    const kind = addressKind(address)
    const inside = isOpenable(kind)
    if (kind === "public" || (opened && inside)) continue
    const shown = literal ? host : `${host} (${address})`
    const next = inside
      ? `; an operator opens it by naming "${url.host}" under egress.allow of the configuration file`
      : "; no setting opens it"
    return yield* refuse("address", `${shown} is a ${kind} address, which tools may not reach${next}`)
  }
  return addresses
})

interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

const next = (
  hop: Hop,
  { headers, status }: HttpResponse,
  read: (url: string) => URL | Refusal,
): Hop | Refusal | undefined => {
  const { location } = headers
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return undefined
  const target = URL.parse(location, hop.url)
  // An absolute URL is read as written: resolving it would hide its spelling.
  const url = read(/^[a-z][a-z0-9+.-]*:/i.test(location) || target === null ? location : target.href)
  if (isRefusal(url)) return { ...url, detail: `it redirects, and ${url.detail}` }
  const keeps = hop.method === "GET" || hop.method === "HEAD" || status === 307 || status === 308
  if (keeps && hop.body !== undefined && url.origin !== hop.url.origin)
    return {
      reason: "redirect-body",
      detail: `it redirects to ${url.origin}, and a body is not sent to another origin`,
    }
  const carried = headersFor(hop.headers, hop.url, url)
  return keeps ? { ...hop, url, headers: carried } : { url, method: "GET", headers: carried, body: undefined }
}

const follow = Effect.fnUntraced(function* (
  request: EgressRequest,
  policy: EgressPolicy,
): Effect.fn.Return<EgressResponse, Refusal> {
  const both = (url: string): URL | Refusal => {
    const narrow = readUrl(url, request.hosts)
    return isRefusal(narrow) ? narrow : readUrl(url, policy.hosts)
  }
  const { body } = request
  let hop: Hop = {
    url: yield* orRefuse(both(request.url)),
    method: request.method ?? "GET",
    headers: yield* orRefuse(readHeaders(request.headers ?? {})),
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
  }
  for (let redirects = 0; ; redirects++) {
    const addresses = yield* checkHost(hop.url, [...policy.allow, ...(request.allow ?? [])])
    const maxBytes = Math.min(request.maxBytes ?? policy.maxBytes, policy.maxBytes)
    const answer = yield* sendHttpRequest({
      ...hop,
      addresses,
      maxBytes,
      maxHeaderBytes: policy.maxHeaderBytes,
      cut: request.cut === true,
      reuseKey:
        request.keepAlive === true
          ? [request.tool, policy.hosts, policy.allow, request.hosts, request.allow]
          : undefined,
    })
    const redirect = next(hop, answer, both)
    if (redirect === undefined) return { ...answer, url: hop.url.href }
    hop = yield* orRefuse(redirect)
    if (redirects >= policy.maxRedirects)
      return yield* refuse("redirects", `more than ${policy.maxRedirects} redirects`)
  }
})

/** A URL as it may be shown: without query and credentials. */
const shown = (text: string): string => {
  const url = URL.parse(text)
  return url === null ? text.slice(0, 200) : `${url.protocol}//${url.host}${url.pathname}`.slice(0, 500)
}

const fetch = Effect.fn("Egress.fetch")(function* (request: EgressRequest) {
  const policy = yield* CurrentEgressPolicy
  const timeoutMs = Math.min(request.timeoutMs ?? policy.timeoutMs, policy.timeoutMs)
  return yield* follow(request, policy).pipe(
    Effect.timeoutOrElse({
      duration: timeoutMs,
      orElse: () => refuse("timeout", `no whole answer within ${timeoutMs} ms`),
    }),
    Effect.mapError(({ detail, reason }) => {
      const cause: EgressFault = { reason, url: shown(request.url) }
      return new ToolExecutionError({
        message: `${request.method ?? "GET"} ${cause.url} failed: ${detail}.`,
        toolName: request.tool,
        cause,
      })
    }),
  )
})

export const Egress = Context.Reference<EgressService>("tools/egress/Egress", { defaultValue: () => ({ fetch }) })
