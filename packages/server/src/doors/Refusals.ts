/**
 * What every door checks before it reads a request: is the house open, is the Host ours, does the request come from one
 * of our pages, and which correlation id does it carry.
 */
import { BadInput, CorrelationId, ForeignOrigin, Unavailable, UnsupportedBody } from "@stoa/contract"
import { Schema } from "effect"
import { HttpMethod } from "effect/http"
import { newCorrelation } from "../store/journal/Correlation.ts"
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
