/**
 * The cookie that a browser signs in with: out of reach of scripts, and sent by pages of this house alone. A write counts
 * only with an `Origin` (which has been compared with the house's own by then) and a header that no form can send.
 */
import type { HttpServerRequest } from "effect/http"

const name = "stoa_session"
const pageHeader = "x-stoa-page"
const reads = new Set(["GET", "HEAD"])

/** The session a request acts by, if it may. */
export const sessionIn = ({ cookies, headers, method }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const isOurs = headers["origin"] !== undefined && headers[pageHeader] !== undefined
  return reads.has(method) || isOurs ? cookies[name] || undefined : undefined
}

const written = (value: string, seconds: number, secure: boolean): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure ? "; Secure" : ""}`

export const sessionCookie = (value: string, seconds: number, address: string): string =>
  written(value, seconds, address.startsWith("https:"))

/** Takes it out of the browser. */
export const noSession = written("", 0, false)
