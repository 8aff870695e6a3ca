/**
 * The cookie of a signed-in browser: unreadable for scripts, and sent only by pages of this house. A write also needs
 * an `Origin` (already compared with the house's own) and a header that no form can send. Under https its name keeps
 * every other host and every plain connection from setting it.
 */
import type { HttpServerRequest } from "effect/http"

const pageHeader = "x-stoa-page"
const reads = new Set(["GET", "HEAD"])
/** What a browser says about where a request comes from; `none` means that the person typed the address. */
const ownSites = new Set([undefined, "same-origin"])
const readSites = new Set([...ownSites, "none"])

const isSecure = (address: string): boolean => address.startsWith("https:")
const nameAt = (address: string): string => (isSecure(address) ? "__Host-stoa_session" : "stoa_session")

/** The session of a request, if it may use it. `address`: the public address of the house. */
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

/** Removes it from the browser. */
export const noSession = (address: string): string => sessionCookie("", 0, address)
