/**
 * Checks a server's lists and answers against the protocol before they are passed on: a client that cannot read one
 * item of a list reads none of it. The SDK's own schemas are used, because clients read with them.
 */
import { isSpecType, specTypeSchemas } from "@modelcontextprotocol/client"

/** Something that a server lists but that we leave out. */
export interface MCPDroppedItem {
  readonly what: "tool" | "resource" | "resource template" | "prompt"
  readonly name: string
  readonly why: string
}

type JsonObject = Readonly<Record<string, unknown>>

type Shape = "Tool" | "Resource" | "ResourceTemplate" | "Prompt"

const needed: Readonly<Record<Shape, ReadonlyArray<string>>> = {
  Tool: ["name", "inputSchema"],
  Resource: ["uri", "name"],
  ResourceTemplate: ["uriTemplate", "name"],
  Prompt: ["name"],
}
const words = { Tool: "tool", Resource: "resource", ResourceTemplate: "resource template", Prompt: "prompt" } as const
const lists = {
  tools: "Tool",
  resources: "Resource",
  resourceTemplates: "ResourceTemplate",
  prompts: "Prompt",
} as const

interface Issue {
  readonly message: string
  readonly path?: ReadonlyArray<unknown> | undefined
}

const issuesOf = (shape: keyof typeof specTypeSchemas, value: unknown): ReadonlyArray<Issue> => {
  const judged = specTypeSchemas[shape]["~standard"].validate(value)
  return "issues" in judged && judged.issues !== undefined ? judged.issues : []
}

/** Parts of an item that no client could read; `undefined` is the item itself. */
const faultyParts = (shape: Shape, item: JsonObject): ReadonlySet<unknown> => {
  const parts = new Set(issuesOf(shape, item).map(({ path = [] }) => path[0]))
  // A size is a number of bytes; older schemas require that, the SDK does not.
  if (item["size"] !== undefined && !Number.isSafeInteger(item["size"])) parts.add("size")
  return parts
}

const nameOf = (item: unknown): string | undefined => {
  const { name, uri, uriTemplate } = (item ?? {}) as JsonObject
  return [name, uri, uriTemplate].find((it): it is string => typeof it === "string")?.slice(0, 100)
}

/**
 * The valid part of a list, and a few words about each removed part. `strict`: also removes tools that an older era
 * would accept.
 */
const mended = (shape: Shape, items: ReadonlyArray<unknown>, strict: boolean) => {
  const dropped: Array<MCPDroppedItem> = []
  const kept = items.flatMap((item, at): ReadonlyArray<unknown> => {
    const parts = faultyParts(shape, (item ?? {}) as JsonObject)
    if (parts.size === 0) return [item]
    const lacks = parts.has(undefined) ? needed[shape] : needed[shape].filter((key) => parts.has(key))
    if (lacks.length > 0 && (shape !== "Tool" || strict)) {
      const why = `it has no ${lacks.join(" or no ")} that can be read`
      dropped.push({ what: words[shape], name: nameOf(item) ?? `number ${at + 1}`, why })
      return []
    }
    if (parts.has(undefined)) return [item]
    const good = Object.entries(item as JsonObject).filter(([key]) => lacks.includes(key) || !parts.has(key))
    return [Object.fromEntries(good)]
  })
  return { kept, dropped }
}

/** The key under which a result holds what was left out of its list. */
const droppedKey = "stoa/dropped"
export const droppedFrom = (result: JsonObject): ReadonlyArray<MCPDroppedItem> =>
  ((result["_meta"] as JsonObject | undefined)?.[droppedKey] as ReadonlyArray<MCPDroppedItem> | undefined) ?? []

/** Repairs a result in place: an unreadable item of a list is removed, an unreadable part is removed from its item. */
export const repairMCPResult = (result: Record<string, unknown>): void => {
  mendIcons(result)
  if (typeof result["completion"] === "object") Object.assign(result, repairMCPCompletion(result))
  for (const [key, shape] of Object.entries(lists)) {
    const items: unknown = result[key]
    if (!Array.isArray(items)) continue
    const { dropped, kept } = mended(shape, items, result["resultType"] !== undefined)
    result[key] = kept
    const meta = { ...(result["_meta"] as object | undefined) } as Record<string, unknown>
    delete meta[droppedKey]
    if (dropped.length > 0) meta[droppedKey] = dropped
    if (dropped.length > 0 || result["_meta"] !== undefined) result["_meta"] = meta
  }
}

/** At most this many icons, of at most this size. */
const [maxIcons, largestIcon] = [16, 64 * 1024]
/** Only raster images: an SVG may contain a script. */
const picture = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon);base64,[a-z0-9+/=]*$/i

/** Clients fetch and show icons: only https addresses and embedded images are allowed. */
export const isSafeMCPIcon = (icon: unknown): boolean => {
  const src = ((icon ?? {}) as JsonObject)["src"]
  if (typeof src !== "string" || src.length > largestIcon) return false
  if (picture.test(src)) return true
  const url = /^https:\/\//i.test(src) ? URL.parse(src) : null
  return url?.protocol === "https:" && url.username === "" && url.password === ""
}

/** Removes unsafe icons from one thing. */
const mendIconsOf = (thing: unknown): void => {
  if (typeof thing !== "object" || thing === null || !("icons" in thing)) return
  const { icons } = thing
  if (!Array.isArray(icons)) return
  const safe = icons.filter(isSafeMCPIcon).slice(0, maxIcons)
  if (safe.length > 0) thing.icons = safe
  else delete (thing as Record<string, unknown>)["icons"]
}
const each = (things: unknown, mend: (thing: unknown) => void): void => {
  if (Array.isArray(things)) for (const thing of things) mend(thing)
}

/** Everywhere the protocol has icons: items of a list, and resource links in results of tools and prompts. */
const mendIcons = (result: JsonObject): void => {
  for (const key of Object.keys(lists)) each(result[key], mendIconsOf)
  each(result["content"], mendIconsOf)
  each(result["messages"], (message) => {
    const content = ((message ?? {}) as JsonObject)["content"]
    if (Array.isArray(content)) each(content, mendIconsOf)
    else mendIconsOf(content)
  })
  const inner = result["result"]
  // The result of a task is inside its state.
  if (typeof inner === "object" && inner !== null) each((inner as JsonObject)["content"], mendIconsOf)
}

/** Whether a client can read these icons. */
export const isMCPIconList = (icons: unknown): boolean => isSpecType.Icons({ icons })

const results = {
  "tools/call": "CallToolResult",
  "resources/read": "ReadResourceResult",
  "prompts/get": "GetPromptResult",
} as const

/** What a client could not read in the answer to this method, in words. */
export const faultOfMCPResult = (method: string, result: unknown): string | undefined => {
  const shape = method in results ? results[method as keyof typeof results] : undefined
  const issue = shape === undefined ? undefined : issuesOf(shape, result)[0]
  return issue && `${(issue.path ?? []).map(String).join(".") || "it"} is not what MCP has there (${issue.message})`
}

/** The most completions a client accepts. */
const maxCompletions = 100

/** Completions as a client can read them: only texts count. */
export const repairMCPCompletion = (result: JsonObject): JsonObject => {
  if (issuesOf("CompleteResult", result).length === 0) return result
  const { hasMore, total, values } = (result["completion"] ?? {}) as JsonObject
  const texts = (Array.isArray(values) ? values : []).filter((it) => typeof it === "string")
  return {
    completion: {
      values: texts.slice(0, maxCompletions),
      ...(Number.isSafeInteger(total) ? { total } : {}),
      ...(typeof hasMore === "boolean" ? { hasMore } : {}),
    },
  }
}
