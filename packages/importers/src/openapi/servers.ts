/** The address of an operation: the nearest list of servers, with the defaults of its variables. */
import { isObject, type JsonObject, own } from "@stoa/contract"

const firstOf = (value: JsonObject): JsonObject | undefined => {
  const list = own(value, "servers")
  return Array.isArray(list) && isObject(list[0]) ? list[0] : undefined
}

/** Scheme, host and leading path without a trailing slash, or why there is none. */
export const serverOf = (
  levels: ReadonlyArray<JsonObject>,
  baseUrl: string | undefined,
): { readonly url: string } | { readonly fault: string } => {
  const server = levels.map(firstOf).find((one) => one !== undefined)
  const written = server === undefined ? undefined : own(server, "url")
  // A document without servers is about the one it was fetched from.
  const template = typeof written === "string" ? written : (baseUrl ?? "/")
  const declared = server === undefined ? undefined : own(server, "variables")
  const variables = isObject(declared) ? declared : {}
  const missing: Array<string> = []
  const text = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = own(variables, name)
    const usual = isObject(variable) ? own(variable, "default") : undefined
    if (typeof usual !== "string") missing.push(name)
    return typeof usual === "string" ? usual : ""
  })
  if (missing.length > 0) return { fault: `its server has no default for ${missing.join(", ")}` }
  const url = baseUrl === undefined ? URL.parse(text) : URL.parse(text, baseUrl)
  if (url === null) return { fault: `its server "${text.slice(0, 100)}" is relative; say where with baseUrl` }
  if (url.protocol !== "http:" && url.protocol !== "https:") return { fault: `its server speaks ${url.protocol}` }
  if (url.username !== "" || url.password !== "") return { fault: "its server's address holds a user name or password" }
  if (url.search !== "" || url.hash !== "") return { fault: "its server's address holds a query or fragment" }
  return { url: `${url.origin}${url.pathname.replace(/\/+$/, "")}` }
}
