/**
 * The names of a server's things where several servers share an endpoint, and back. A prompt is `<server>__<prompt>`, made as
 * the wire names of tools are; a
 * resource keeps its address behind a prefix, `stoa-mcp://<server>/<its own address>`, so that nothing in it, a template's
 * braces least of all, needs to be encoded. Under its own endpoint a server's things have the names it gave them. Pure.
 */
import { fromWireName, toWireName } from "@stoa/tools"
import type { UpstreamServer } from "../../../upstreams/Upstreams.ts"
import type { JsonObject } from "./Desk.ts"
import { isObject } from "../wire/message.ts"

export interface Naming {
  readonly prompt: (name: string) => string
  readonly uri: (uri: string) => string
  /** Undefined: none of this server's. */
  readonly ownPrompt: (name: string) => string | undefined
  readonly ownUri: (uri: string) => string | undefined
}

/** A server somebody may use, and what its things are called there. */
export interface Reached {
  readonly server: UpstreamServer
  readonly naming: Naming
}

const same = (text: string) => text
export const ownNames: Naming = { prompt: same, uri: same, ownPrompt: same, ownUri: same }

const inside = (prefix: string) => (text: string) => (text.startsWith(prefix) ? text.slice(prefix.length) : undefined)

/** `known` are its prompts, for names that were too long and had to be cut. */
export const namesOf = (server: string, known: () => ReadonlyArray<JsonObject>): Naming => {
  const wireName = (name: string) => toWireName(`${server}/${name}`)
  const uris = `stoa-mcp://${encodeURIComponent(server)}/`
  return {
    prompt: wireName,
    uri: (uri) => uris + uri,
    ownPrompt: (name) => {
      const own = inside(`${server}/`)(fromWireName(name))
      if (own !== undefined && wireName(own) === name) return own
      return known().find((it) => wireName(String(it["name"])) === name)?.["name"] as string | undefined
    },
    ownUri: inside(uris),
  }
}

const renamed = (thing: JsonObject, key: string, to: (text: string) => string): JsonObject =>
  typeof thing[key] === "string" ? { ...thing, [key]: to(thing[key]) } : thing

/** A page of an app is named in `_meta` of whatever it belongs to. */
export const metaOutward = (thing: JsonObject, { uri }: Naming): JsonObject => {
  const meta = thing["_meta"]
  const ui = isObject(meta) ? meta["ui"] : undefined
  if (!isObject(meta) || !isObject(ui)) return thing
  return { ...thing, _meta: { ...meta, ui: renamed(ui, "resourceUri", uri) } }
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
  return block["type"] === "resource" && isObject(block["resource"])
    ? { ...block, resource: resourceOutward(block["resource"], naming) }
    : block
}

const each = (value: unknown, change: (one: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map(change) : value

/** A result of `tools/call`, `prompts/get` or `resources/read`: the addresses where the protocol has them, and no others. */
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
