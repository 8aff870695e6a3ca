/**
 * The names of a server's things where several servers share an endpoint, and back. A prompt is `<server>__<prompt>`,
 * built like the wire names of tools; a resource keeps its address behind a prefix, `stoa-mcp://<server>/<its own
 * address>`, so that nothing in it (such as a template's braces) needs encoding. The page of an app keeps its scheme,
 * `ui://<server>/<rest>`, because hosts show nothing else as an app. At its own endpoint a server's things have the
 * names it gave them. Pure.
 */
import { fromWireName, toWireName } from "@stoa/tools"
import type { JsonObject } from "../Desk.ts"
import { isObject } from "../../wire/message.ts"

/** How the things of one server are named here. */
export interface Naming {
  readonly prompt: (name: string) => string
  readonly uri: (uri: string) => string
}
/** What a name here stands for: its server, and its name there. */
export interface ServerName {
  readonly server: string
  readonly own: string
}

const same = (text: string) => text
export const ownNames: Naming = { prompt: same, uri: same }

const scheme = "stoa-mcp://"
const app = "ui://"
export const namesOf = (server: string): Naming => ({
  prompt: (name) => toWireName(`${server}/${name}`),
  uri: (uri) => {
    const place = `${encodeURIComponent(server)}/`
    return uri.startsWith(app) ? `${app}${place}${uri.slice(app.length)}` : `${scheme}${place}${uri}`
  },
})

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Undefined: it belongs to no server. */
export const ownUri = (uri: string): ServerName | undefined => {
  const kept = uri.startsWith(app) ? app : ""
  const from = kept === "" ? scheme : app
  const end = uri.startsWith(from) ? uri.indexOf("/", from.length) : -1
  const server = end === -1 ? undefined : decoded(uri.slice(from.length, end))
  return server === undefined || server === "" ? undefined : { server, own: kept + uri.slice(end + 1) }
}

/** Undefined for a name that was too long and had to be cut: it cannot be translated back. */
export const ownName = (name: string): ServerName | undefined => {
  const whole = fromWireName(name)
  const at = whole === undefined ? -1 : whole.indexOf("/")
  if (whole === undefined || at <= 0 || toWireName(whole) !== name) return undefined
  return { server: whole.slice(0, at), own: whole.slice(at + 1) }
}

const renamed = (thing: JsonObject, key: string, to: (text: string) => string): JsonObject =>
  typeof thing[key] === "string" ? { ...thing, [key]: to(thing[key]) } : thing

/** The `_meta` of a thing may name the page of an app: in `ui`, or under the key from before there was `ui`. */
export const metaOutward = (thing: JsonObject, { uri }: Naming): JsonObject => {
  const meta = thing["_meta"]
  if (!isObject(meta)) return thing
  const { ui } = meta
  return {
    ...thing,
    _meta: {
      ...renamed(meta, "ui/resourceUri", uri),
      ...(isObject(ui) ? { ui: renamed(ui, "resourceUri", uri) } : {}),
    },
  }
}

export const resourceOutward = (thing: JsonObject, naming: Naming): JsonObject =>
  naming === ownNames
    ? thing
    : metaOutward(renamed(renamed(thing, "uri", naming.uri), "uriTemplate", naming.uri), naming)

export const promptOutward = (thing: JsonObject, naming: Naming): JsonObject =>
  naming === ownNames ? thing : metaOutward(renamed(thing, "name", naming.prompt), naming)

const blockOutward = (block: unknown, naming: Naming): unknown => {
  if (!isObject(block)) return block
  if (block["type"] === "resource_link") return resourceOutward(block, naming)
  const own = metaOutward(block, naming)
  return own["type"] === "resource" && isObject(own["resource"])
    ? { ...own, resource: resourceOutward(own["resource"], naming) }
    : own
}

const each = (value: unknown, change: (one: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map(change) : value

/**
 * A result of `tools/call`, `prompts/get` or `resources/read`: translates addresses only where the protocol has them.
 */
export const resultOutward = (result: JsonObject, naming: Naming): JsonObject => {
  if (naming === ownNames) return result
  const message = (one: unknown): unknown =>
    isObject(one) ? { ...one, content: blockOutward(one["content"], naming) } : one
  return metaOutward(
    {
      ...result,
      ...("content" in result ? { content: each(result["content"], (it) => blockOutward(it, naming)) } : {}),
      ...("messages" in result ? { messages: each(result["messages"], message) } : {}),
      ...("contents" in result
        ? { contents: each(result["contents"], (it) => (isObject(it) ? resourceOutward(it, naming) : it)) }
        : {}),
    },
    naming,
  )
}
