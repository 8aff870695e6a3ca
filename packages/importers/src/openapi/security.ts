/** The credentials that an operation requires, as headers or query parameters filled from named secrets. */
import { isObject, type JsonObject, own, placeholderText } from "@stoa/contract"
import { follow } from "./references.ts"
import { headerName } from "./parameters.ts"

export interface Need {
  readonly secret: string
  /** What to store under that name, and where it is sent. */
  readonly why: string
}

export interface Credentials {
  readonly headers: ReadonlyMap<string, string>
  readonly query: ReadonlyMap<string, string>
  readonly needs: ReadonlyArray<Need>
}

/**
 * Named after the host that gets it, or after the operator's name for the API: a document chooses neither, and so
 * cannot ask for a secret meant for another API.
 */
const secretName = (prefix: string, host: string, scheme: string): string => {
  // The end of a host name is what its owner controls.
  const owner = prefix || host.replace(/[^A-Za-z0-9.-]/g, "_").slice(-40)
  const name = `${owner}_${scheme.replace(/[^A-Za-z0-9_.-]+/g, "_")}`.slice(0, 64)
  return /^[A-Za-z]/.test(name) ? name : `at_${name}`.slice(0, 64)
}

type Placed = { readonly header?: string; readonly query?: string; readonly value: string; readonly what: string }

const secretText = (name: string): string => placeholderText({ from: "secret", name })

const place = (scheme: JsonObject, secret: string): Placed | string => {
  const bearer = (what: string): Placed => ({ header: "Authorization", value: `Bearer ${secretText(secret)}`, what })
  const type = own(scheme, "type")
  if (type === "oauth2" || type === "openIdConnect") return bearer("an access token")
  if (type === "http") {
    const kind = String(own(scheme, "scheme")).toLowerCase()
    if (kind === "bearer") return bearer("the bearer token")
    if (kind === "basic")
      return {
        header: "Authorization",
        value: `Basic ${secretText(secret)}`,
        what: "user name, colon and password in base64",
      }
    return `HTTP's "${kind.slice(0, 40)}"`
  }
  const name = own(scheme, "name")
  const where = own(scheme, "in")
  if (type !== "apiKey" || typeof name !== "string") return `a security scheme of type ${JSON.stringify(type) ?? "?"}`
  const value = secretText(secret)
  if (where === "header" && headerName.test(name)) return { header: name, value, what: "the key" }
  if (where === "query" && !/[{}]/.test(name)) return { query: name, value, what: "the key" }
  return "a key in a cookie"
}

/** The first alternative that we support. None at all needs nothing. */
export const securityOf = (
  root: JsonObject,
  operation: JsonObject,
  prefix: string,
  host: string,
): Credentials | { readonly fault: string } => {
  const nothing: Credentials = { headers: new Map(), query: new Map(), needs: [] }
  const given = own(operation, "security") ?? own(root, "security")
  const alternatives = Array.isArray(given) ? given.filter(isObject) : []
  if (alternatives.length === 0) return nothing
  const components = own(root, "components")
  const listed = isObject(components) ? own(components, "securitySchemes") : undefined
  const schemes = isObject(listed) ? listed : {}
  const faults: Array<string> = []
  for (const alternative of alternatives.toSorted((a, b) => Number(isEmpty(a)) - Number(isEmpty(b)))) {
    const shown = { headers: new Map<string, string>(), query: new Map<string, string>(), needs: [] as Array<Need> }
    const before = faults.length
    for (const name of Object.keys(alternative)) {
      const found = follow(root, own(schemes, name))
      const scheme = "fault" in found ? undefined : found.value
      const secret = secretName(prefix, host, name)
      const placed = isObject(scheme) ? place(scheme, secret) : `"${name.slice(0, 60)}", which is not described`
      if (typeof placed === "string") {
        faults.push(`asks for ${placed}`)
        continue
      }
      const taken = [...shown.headers.keys()].map((it) => it.toLowerCase())
      if (placed.header !== undefined && taken.includes(placed.header.toLowerCase())) {
        faults.push(`asks for two things in header ${placed.header}`)
        continue
      }
      if (placed.header !== undefined) shown.headers.set(placed.header, placed.value)
      if (placed.query !== undefined) shown.query.set(placed.query, placed.value)
      const at = placed.header === undefined ? `query parameter ${placed.query}` : `header ${placed.header}`
      shown.needs.push({ secret, why: `${placed.what} of ${name}, sent to ${host} as ${at}` })
    }
    if (faults.length === before) return shown
  }
  return { fault: [...new Set(faults)].join("; ") }
}

const isEmpty = (value: JsonObject) => Object.keys(value).length === 0
