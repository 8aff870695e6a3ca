/**
 * The cookie that a browser signs in with: out of reach of scripts, and sent by pages of this house alone. A write counts
 * only with an `Origin` (which has been compared with the house's own by then) and a header that no form can send. Under
 * https its name keeps every other host and every plain connection from setting it.
 */
import type { HttpServerRequest } from "effect/http"

const pageHeader = "x-stoa-page"
const reads = new Set(["GET", "HEAD"])
/** What a browser says of where a request comes from; `none` is the person, who typed the address. */
const ownSites = new Set([undefined, "same-origin"])
const readSites = new Set([...ownSites, "none"])

const isSecure = (address: string): boolean => address.startsWith("https:")
const nameAt = (address: string): string => (isSecure(address) ? "__Host-stoa_session" : "stoa_session")

/** The session a request acts by, if it may. `address`: where people reach the house. */
export const sessionIn = (request: HttpServerRequest.HttpServerRequest, address: string): string | undefined => {
  const { cookies, headers, method } = request
  const site = headers["sec-fetch-site"]
  const isOurs = reads.has(method)
    ? readSites.has(site)
    : ownSites.has(site) && headers["origin"] !== undefined && headers[pageHeader] !== undefined
  return isOurs ? cookies[nameAt(address)] || undefined : undefined
}

export const sessionCookie = (value: string, seconds: number, address: string): string =>
  `${nameAt(address)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure(address) ? "; Secure" : ""}`

/** Takes it out of the browser. */
export const noSession = (address: string): string => sessionCookie("", 0, address)
