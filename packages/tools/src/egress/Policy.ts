/** What may be requested, before any name is looked up: the shape of the URL, the host lists and the headers. Pure. */
import { type AddressKind, addressKind, isAddress, isOpenable } from "./Address.ts"

export interface EgressPolicy {
  /** When given, only these: `api.example.com`, `*.example.com`, each with or without `:port`. */
  readonly hosts: ReadonlyArray<string> | undefined
  /**
   * Named exceptions that may be private or loopback: `127.0.0.1:1234`, `searx.lan`. Nothing is allowed by
   * default, and link-local and metadata addresses never.
   */
  readonly allow: ReadonlyArray<string>
  readonly maxRedirects: number
  /** Of a body, after decompression. */
  readonly maxBytes: number
  readonly maxHeaderBytes: number
  /** For everything together: DNS, connections, redirects, body. */
  readonly timeoutMs: number
}

export const defaultEgressPolicy: EgressPolicy = {
  hosts: undefined,
  allow: [],
  maxRedirects: 5,
  maxBytes: 1 << 20,
  maxHeaderBytes: 16_384,
  timeoutMs: 15_000,
}

export type EgressReason =
  | "scheme"
  | "url"
  | "credentials-in-url"
  | "spelling"
  | "host-not-listed"
  | "header"
  | "address"
  | "unresolved"
  | "redirects"
  | "redirect-body"
  | "too-large"
  | "encoding"
  | "timeout"
  | "connection"

/** A refusal in words; `Egress` adds the tool's name. */
export interface Refusal {
  readonly reason: EgressReason
  readonly detail: string
}

/** The host as people write it: no brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "")
const portOf = (url: URL): string => url.port || (url.protocol === "https:" ? "443" : "80")

/** Whether a list entry matches a URL. An entry without a port matches every port. */
const entryMatches = (entry: string, url: URL): boolean => {
  const [, name = "", port] = /^(\[[^\]]+\]|[^:]+|[0-9a-f:]+)(?::(\d+))?$/i.exec(entry.trim().toLowerCase()) ?? []
  if (port !== undefined && port !== portOf(url)) return false
  const wanted = name.replace(/^\[|\]$/g, "")
  const host = hostOf(url)
  return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) && host.length > wanted.length - 1 : host === wanted
}
export const matchesHost = (list: ReadonlyArray<string>, url: URL): boolean =>
  list.some((entry) => entryMatches(entry, url))

/** The kind of an entry's address if no setting opens it, however it is spelled: such an entry is a mistake. */
export const unopenable = (entry: string): AddressKind | undefined => {
  const url = URL.parse(`http://${entry}`)
  if (url === null || !isAddress(hostOf(url))) return undefined
  const kind = addressKind(hostOf(url))
  return kind === "public" || isOpenable(kind) ? undefined : kind
}

/**
 * A numeric address can be spelled in a dozen ways (2130706433, 0x7f.1, 017700000001, %31…, fullwidth), which is used
 * to get past lists. URL understands them all; so the text must equal what URL understood.
 */
const oddlySpelled = (text: string, url: URL): boolean => {
  const host = hostOf(url)
  if (host.endsWith(".")) return true
  const plain = `${url.protocol}//${host}`
  const written = text.toLowerCase()
  return (
    isAddress(host) &&
    !host.includes(":") &&
    !(written.startsWith(plain) && /^([:/?#]|$)/.test(written.slice(plain.length)))
  )
}

/** A URL that may be looked up, or why not. */
export const readUrl = (text: string, hosts: EgressPolicy["hosts"]): URL | Refusal => {
  if (text.length > 8192) return { reason: "url", detail: "the URL has more than 8192 characters" }
  // URL drops tabs and newlines and turns backslashes into slashes; no honest URL has them.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\\\u007f]/.test(text))
    return { reason: "url", detail: "the URL has spaces, control characters or backslashes" }
  const url = URL.parse(text)
  if (url === null) return { reason: "url", detail: `"${text.slice(0, 200)}" is not a URL` }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return { reason: "scheme", detail: `only http and https are allowed, not "${url.protocol}"` }
  if (url.username !== "" || url.password !== "")
    return { reason: "credentials-in-url", detail: "the URL has a user name or password; send a header" }
  if (oddlySpelled(text, url))
    return { reason: "spelling", detail: `the host is an unusual spelling of "${hostOf(url)}"; write it plainly` }
  if (hosts !== undefined && !matchesHost(hosts, url))
    return { reason: "host-not-listed", detail: `"${url.host}" is not among the allowed hosts (${hosts.join(", ")})` }
  return url
}

/** Headers that control how and where bytes travel: only we set them. */
const ownHeaders = new Set([
  "host",
  "connection",
  "keep-alive",
  "upgrade",
  "transfer-encoding",
  "content-length",
  "te",
  "trailer",
  "expect",
  "accept-encoding",
  "proxy-authorization",
  "proxy-connection",
])
/** Headers that may follow to another origin. Anything else may be a credential: Authorization, Cookie, X-Api-Key … */
const harmless = new Set(["accept", "accept-language", "user-agent"])

export type Headers = Readonly<Record<string, string>>

export const readHeaders = (headers: Headers): Headers | Refusal => {
  const read: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/i.test(name))
      return { reason: "header", detail: "a header has an invalid name" }
    if (ownHeaders.has(name.toLowerCase())) return { reason: "header", detail: `the header "${name}" may not be set` }
    // oxlint-disable-next-line no-control-regex
    if (!/^[\t\u0020-\u007e\u0080-\u00ff]{0,8192}$/.test(value))
      return {
        reason: "header",
        detail: `the header "${name}" has line breaks, other forbidden characters, or is too long`,
      }
    read[name.toLowerCase()] = value
  }
  return read
}

export const headersFor = (headers: Headers, from: URL, to: URL): Headers =>
  from.origin === to.origin
    ? headers
    : Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.has(name)))
