/**
 * Outcomes and lists of tools in the form of each revision. A tool's output is turned into text once: the same text is the
 * structured content and, escaped, the text content. A list is rendered once per list and revision.
 */
import type { WaitsOn } from "@stoa/contract"
import type { ClientRequests, JsonObject, ListedTool, Outcome, Task } from "../desk/Desk.ts"
import { isReservedMeta } from "../../../servers/ReservedMeta.ts"
import { metaKeys, type Id, isObject } from "./message.ts"
import type { Fault } from "./Fault.ts"
import { featuresOf, type Revision } from "./revision.ts"
import { paramHeaders } from "./headers.ts"

export const serverInfo = (version: string): JsonObject => ({ name: "stoa", title: "Stoa", version })

const idText = (id: Id): string => (typeof id === "number" ? String(id) : JSON.stringify(id))

/** A response around the text of a result. */
export const responseText = (id: Id, result: string): string =>
  `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`

/** An unknown id is left out: null is not an id. */
export const errorText = (id: Id | undefined, fault: Fault): string =>
  `{"jsonrpc":"2.0",${id === undefined ? "" : `"id":${idText(id)},`}"error":${JSON.stringify({
    code: fault.code,
    message: fault.message,
    ...(fault.data === undefined ? {} : { data: fault.data }),
  })}}`

export const notificationText = (method: string, params: JsonObject): string =>
  `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`

/** What every result of the new era carries: the tail of each result, built once for the house. */
export interface Stamp {
  readonly info: JsonObject
  /** `"resultType":"complete","_meta":{…}` */
  readonly complete: string
}
export const stampOf = (info: JsonObject): Stamp => ({
  info,
  complete: `"resultType":"complete","_meta":${JSON.stringify({ [metaKeys.server]: info })}`,
})

/**
 * The text of a result from its inner members, stamped if the era requires it. `inner` has no braces and may be empty.
 */
export const resultText = (inner: string, revision: Revision, stamp: Stamp): string =>
  featuresOf(revision).stateless ? `{${inner}${inner === "" ? "" : ","}${stamp.complete}}` : `{${inner}}`

/** The inner members of an object. */
const innerOf = (value: JsonObject): string => JSON.stringify(value).slice(1, -1)

const ownMeta = (meta: unknown, stamp: Stamp | undefined): JsonObject => {
  const kept = isObject(meta) ? Object.entries(meta).filter(([key]) => !isReservedMeta(key)) : []
  return { ...Object.fromEntries(kept), ...(stamp === undefined ? {} : { [metaKeys.server]: stamp.info }) }
}

/** An object as a result: its own members, with the reserved ones replaced by ours. */
export const objectResult = (value: JsonObject, revision: Revision, stamp: Stamp): string => {
  const { _meta: meta, cacheScope: _scope, resultType: _type, ttlMs: _ttl, ...rest } = value
  const { stateless } = featuresOf(revision)
  if (stateless)
    return meta === undefined
      ? resultText(innerOf(rest), revision, stamp)
      : JSON.stringify({ ...rest, resultType: "complete", _meta: ownMeta(meta, stamp) })
  const kept = ownMeta(meta, undefined)
  return JSON.stringify(Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept })
}

const words = (value: unknown): string => (typeof value === "string" ? value : "?")
const note = (text: string): JsonObject => ({ type: "text", text })

/** A block of content for a client that may be too old for its type. */
export const projectBlock = (block: JsonObject, revision: Revision): JsonObject => {
  const { audio, structured } = featuresOf(revision)
  if (structured) return block
  if (block["type"] === "audio" && !audio) return note(`[audio, ${words(block["mimeType"])}]`)
  if (block["type"] === "resource_link") return note(`${words(block["name"])}: ${words(block["uri"])}`)
  const { _meta, ...rest } = block
  return rest
}

const projected = (content: unknown, revision: Revision): ReadonlyArray<JsonObject> =>
  (Array.isArray(content) ? content : []).flatMap((it: unknown) => (isObject(it) ? [projectBlock(it, revision)] : []))

/** A tool's result in MCP's shape, for this revision. Old clients get structured content only if it is an object. */
const contentResult = (result: JsonObject, revision: Revision, stamp: Stamp): string => {
  const features = featuresOf(revision)
  const { content, structuredContent, ...rest } = result
  const blocks = projected(content, revision)
  const shown = features.stateless || (features.structured && isObject(structuredContent))
  const lost = structuredContent !== undefined && !shown && !blocks.some((it) => it["type"] === "text")
  return objectResult(
    {
      content: lost ? [...blocks, note(JSON.stringify(structuredContent))] : blocks,
      ...(structuredContent !== undefined && shown ? { structuredContent } : {}),
      ...rest,
    },
    revision,
    stamp,
  )
}

/**
 * Text for the model, and the same as structured content if the client supports it; optionally a hint on what to do
 * next.
 */
const bothWays = (json: string, text: string, structure: boolean, isError: boolean, next?: string): string =>
  `"content":[${JSON.stringify(note(text))}${next === undefined ? "" : `,${JSON.stringify(note(next))}`}]` +
  (structure ? `,"structuredContent":${json}` : "") +
  (isError ? `,"isError":true` : "")

const doneText = (json: string, tool: ListedTool | undefined, revision: Revision): string => {
  const { stateless, structured } = featuresOf(revision)
  const first = json.charAt(0)
  const declared = tool?.outputSchema !== undefined
  const structure = structured && (first === "{" || (stateless && (declared || first !== '"')))
  // An old client that was shown no schema gets no structured content: it could not check it.
  const shown = structure && (stateless || !declared || isObjectSchema(tool.outputSchema))
  return bothWays(json, first === '"' ? (JSON.parse(json) as string) : json, shown, false)
}

/** The result of `tools/call`. `Asks` and `Lacks` are not results, and are handled before. */
export const outcomeText = (
  outcome: Exclude<Outcome, { readonly _tag: "Asks" | "Lacks" }>,
  tool: ListedTool | undefined,
  revision: Revision,
  stamp: Stamp,
): string => {
  const { structured } = featuresOf(revision)
  switch (outcome._tag) {
    case "Done":
      return resultText(doneText(outcome.json, tool, revision), revision, stamp)
    case "Content":
      return contentResult(outcome.result, revision, stamp)
    case "Failed": {
      const json = JSON.stringify({ error: outcome.error })
      return resultText(bothWays(json, json, structured, true), revision, stamp)
    }
    case "Waiting": {
      const decision = outcome.on.kind === "decision" ? { decision: outcome.on.id } : { on: outcome.on }
      const how = `${waitsFor[outcome.on.kind]}${outcome.note === undefined ? "" : `. ${outcome.note.replace(/\.$/, "")}`}`
      return pending({ state: "waiting", call: outcome.call, ...decision }, how, outcome.closed, revision, stamp)
    }
    case "Running":
      return pending({ state: "running", call: outcome.call }, "still runs", outcome.closed, revision, stamp)
  }
}

const waitsFor: Record<WaitsOn["kind"], string> = {
  decision: "waits for a person to decide",
  client: "waits for somebody to fill in a form",
  callback: "waits for an answer from outside",
  run: "waits for another agent's work",
  reply: "waits for replies",
}

/** The tools that a result names which says that the call goes on. */
export const followUps = { ask: "call_status", giveUp: "cancel_call" } as const

/**
 * For a client without task support: a normal result that says where to look. Both tools answer here, listed or not; one
 * that is closed to the caller is not named.
 */
const pending = (
  state: JsonObject & { readonly call: string },
  how: string,
  closed: ReadonlyArray<string> = [],
  revision: Revision,
  stamp: Stamp,
) => {
  const json = JSON.stringify(state)
  const call = JSON.stringify({ call: state.call })
  const asks = closed.includes(followUps.ask) ? "" : `, and ask for its result with ${followUps.ask} ${call}`
  const givesUp = closed.includes(followUps.giveUp) ? "" : `; ${followUps.giveUp} ${call} gives it up`
  const next = `This call ${how}. Go on with other work${asks}${givesUp}.`
  return resultText(bothWays(json, json, featuresOf(revision).structured, false, next), revision, stamp)
}

export const inputRequiredText = (requests: ClientRequests, state: string | undefined, stamp: Stamp): string =>
  JSON.stringify({
    resultType: "input_required",
    ...(Object.keys(requests).length === 0 ? {} : { inputRequests: requests }),
    ...(state === undefined ? {} : { requestState: state }),
    _meta: { [metaKeys.server]: stamp.info },
  })

const taskFields = (task: Task): JsonObject => ({
  taskId: task.id,
  status: task.status,
  ...(task.message === undefined ? {} : { statusMessage: task.message }),
  createdAt: task.createdAt,
  lastUpdatedAt: task.updatedAt,
  ttlMs: task.ttlMs,
  ...(task.pollMs === undefined ? {} : { pollIntervalMs: task.pollMs }),
})

/** The answer to a call that became a task: nothing about its outcome, even if it has one already. */
export const taskMadeText = (task: Task, stamp: Stamp): string =>
  JSON.stringify({ resultType: "task", ...taskFields(task), _meta: { [metaKeys.server]: stamp.info } })

/** A task with the fields of its state. */
export const taskDetail = (task: Task, revision: Revision, stamp: Stamp): JsonObject => ({
  ...taskFields(task),
  ...(task.status === "input_required" ? { inputRequests: task.requests ?? {} } : {}),
  ...(task.status === "completed" && task.outcome !== undefined
    ? { result: JSON.parse(outcomeText(task.outcome, undefined, revision, stamp)) as JsonObject }
    : {}),
  ...(task.status === "failed"
    ? { error: { code: task.fault?.code ?? -32603, message: task.fault?.message ?? "The task failed" } }
    : {}),
})

const keyword = "x-mcp-header"
const without = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(without)
  if (!isObject(node)) return node
  return Object.fromEntries(Object.entries(node).flatMap(([key, it]) => (key === keyword ? [] : [[key, without(it)]])))
}

const shaped = (schema: JsonObject): JsonObject =>
  schema["type"] === "object" ? schema : { ...schema, type: "object" }

/** The old schemas require an object for every property: `true` and `false` are written out. */
const spelledOut = (schema: JsonObject): JsonObject => {
  const properties = schema["properties"]
  if (!isObject(properties) || !Object.values(properties).some((it) => typeof it === "boolean")) return schema
  const written = Object.entries(properties).map(([name, it]) => [
    name,
    it === true ? {} : it === false ? { not: {} } : it,
  ])
  return { ...schema, properties: Object.fromEntries(written) }
}

/** Whether an old client may see this output schema, and with it the structured content. */
const isObjectSchema = (schema: JsonObject | undefined): boolean => schema?.["type"] === "object"

export const projectTool = (tool: ListedTool, revision: Revision): JsonObject => {
  const { annotations, icons, stateless, structured } = featuresOf(revision)
  const input = shaped(tool.inputSchema)
  const output = tool.outputSchema
  const outputShown = structured && output !== undefined && (stateless || isObjectSchema(output))
  return {
    name: tool.name,
    ...(structured && tool.title !== undefined ? { title: tool.title } : {}),
    description: tool.description,
    inputSchema: stateless ? (paramHeaders(input) === undefined ? without(input) : input) : spelledOut(input),
    ...(outputShown ? { outputSchema: stateless ? output : spelledOut(output) } : {}),
    ...(annotations && tool.annotations !== undefined ? { annotations: tool.annotations } : {}),
    ...(tool.tags === undefined ? {} : { tags: tool.tags }),
    ...(icons && tool.icons !== undefined ? { icons: tool.icons } : {}),
    ...(structured && tool.meta !== undefined ? { _meta: tool.meta } : {}),
  }
}

const rendered = new WeakMap<ReadonlyArray<ListedTool>, Map<Revision, string>>()

/** The array of `tools/list`, as text. */
export const toolsText = (tools: ReadonlyArray<ListedTool>, revision: Revision): string => {
  let texts = rendered.get(tools)
  if (texts === undefined) rendered.set(tools, (texts = new Map()))
  let text = texts.get(revision)
  if (text === undefined) texts.set(revision, (text = JSON.stringify(tools.map((it) => projectTool(it, revision)))))
  return text
}

const indexes = new WeakMap<ReadonlyArray<ListedTool>, ReadonlyMap<string, ListedTool>>()

export const findTool = (tools: ReadonlyArray<ListedTool>, name: string): ListedTool | undefined => {
  let index = indexes.get(tools)
  if (index === undefined) indexes.set(tools, (index = new Map(tools.map((it) => [it.name, it]))))
  return index.get(name)
}
