/**
 * Converts v1 tools to the present form (S1-10): `stoa tools migrate FILE`. Nothing happens silently: what was guessed,
 * renamed or left out is in the notes, and every resulting tool is accepted by `readTool`.
 */
import {
  defaultVisibility,
  ExecutionType,
  isObject,
  type Issue,
  isTooDeep,
  type JsonObject,
  own,
  readTool,
  type ToolForm,
  Visibility,
} from "@stoa/contract"
import { type Shape, shapeOf } from "./shape.ts"
import { placeholders, schemaFrom } from "./input.ts"

export type Migrated =
  | { readonly ok: true; readonly tools: ReadonlyArray<ToolForm>; readonly notes: ReadonlyArray<string> }
  | { readonly ok: false; readonly issues: ReadonlyArray<Issue> }

interface Look {
  /** v1's flag: its calls are shown in a space. */
  readonly shown: boolean | undefined
  readonly customUI: string | undefined
}

interface Made {
  readonly executionType: ExecutionType
  readonly execution?: Readonly<Record<string, unknown>>
}

const longest = 300_000
/** Milliseconds, within our limits. */
const timeoutOf = (from: Shape): { readonly timeout?: number } => {
  const given = from.take("timeout", "timeoutMs")
  if (given === undefined) return {}
  const number = Number(given)
  const timeout = Number.isFinite(number) && number >= 1 ? Math.min(Math.round(number), longest) : undefined
  if (timeout !== given)
    from.note(timeout === undefined ? "left out a timeout that is not a number" : `timeout is ${timeout} ms now`)
  return timeout === undefined ? {} : { timeout }
}

const present = (entries: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined))

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])

const request = (from: Shape): Made => {
  const url = from.text("url", "endpoint", "uri")
  const given = from.text("method", "httpMethod", "verb")
  const method = given?.toUpperCase()
  if (method !== undefined && !methods.has(method))
    from.fault("method", `"${given}" is not a method that an http tool can use`)
  const headers = from.take("headers")
  const query = from.take("query", "queryParams", "searchParams", "params")
  const body = from.take("body", "data", "payload")
  if (url === undefined) from.fault("url", "a request needs an address here, in execution or in config")
  return {
    executionType: "gateway",
    execution: present({
      url,
      method,
      headers,
      query,
      body,
      ...timeoutOf(from),
      retries: from.take("retries", "maxRetries"),
    }),
  }
}

const agent = (from: Shape): Made => {
  const includeContext = from.flag("includeContext", "shareContext")
  const timeout = timeoutOf(from)
  const given = from.take("agentConfig", "agent", "subAgent")
  const agentConfig = isObject(given) ? given : { ...from.rest(), ...(given === undefined ? {} : { agent: given }) }
  if (!isObject(given)) from.note(`gathered agentConfig from ${Object.keys(agentConfig).join(", ") || "nothing"}`)
  return { executionType: "gateway", execution: present({ agentConfig, includeContext, ...timeout }) }
}

const image = (from: Shape): Made => {
  const provider = from.text("provider", "service", "vendor")
  if (provider === undefined) from.note('took "dall-e" for the provider it does not name')
  const [model, size] = [from.text("model", "modelName"), from.text("size", "dimensions", "resolution")]
  const [quality, prompt] = [from.text("quality"), from.text("prompt", "promptTemplate")]
  return {
    executionType: "gateway",
    execution: present({ provider: provider ?? "dall-e", model, size, quality, prompt, ...timeoutOf(from) }),
  }
}

const compute = (from: Shape, _look: Look, hidden: boolean): Made => {
  const operation = from.text("operation") ?? "evaluate"
  const expression = from.text("expression", "formula", "calculation", "code", "script")
  if (operation !== "evaluate")
    from.fault("operation", `"${operation}" is no longer an operation; use "evaluate" with an expression`)
  if (expression === undefined) from.fault("expression", "a computation needs an expression here")
  return {
    executionType: hidden ? "internal" : "gateway",
    execution: present({ operation, expression, ...timeoutOf(from) }),
  }
}

const basic = (from: Shape, look: Look): Made => {
  const output = from.take("output", "result", "response", "staticOutput", "value")
  if (look.shown !== true && look.customUI === undefined)
    return { executionType: "internal", ...(output === undefined ? {} : { execution: { output } }) }
  if (output !== undefined) from.note("left out its fixed output: a space tool waits for what people submit")
  const timeout = from.take("timeout", "timeoutMs")
  return { executionType: "space", ...(timeout === undefined ? {} : { execution: { timeout } }) }
}

const made: Readonly<Record<string, (from: Shape, look: Look, hidden: boolean) => Made>> = {
  basic,
  request,
  "ai-agent": agent,
  "image-generator": image,
  compute,
}

/** v1's flag, its component, and the space it was told (S1-64, S1-91). */
const lookOf = (from: Shape): Look => {
  const flag = from.flag("displayTool", "display", "interactive", "showInSpace", "ui")
  const display = from.take("display")
  const inside = isObject(display) ? display : {}
  const named = [own(inside, "customUI"), own(inside, "component"), display].find((it) => typeof it === "string")
  const customUI = from.text("customUI", "component", "uiComponent", "ui") ?? named
  if (own(inside, "format") !== undefined || own(inside, "template") !== undefined)
    from.note("left out display.format: a call's data is never turned into text")
  for (const key of ["targetSpaceId", "spaceId"])
    from.drop(key, "a tool does not name a space; its calls go to the caller's active one")
  if (flag !== undefined) from.note(`its display flag is gone; visibility and executionType say it now`)
  return { shown: flag ?? (isObject(display) ? true : undefined), customUI }
}

const isVisibility = (value: unknown): value is Visibility => Visibility.literals.some((one) => one === value)

const visibilityOf = (asked: unknown, hidden: boolean | undefined, look: Look): Visibility | undefined => {
  if (isVisibility(asked)) return asked
  if (hidden !== undefined) return hidden ? "hidden" : "visible"
  return look.shown === undefined ? undefined : look.shown ? "visible" : "hidden"
}

const nameOf = (from: Shape): string => {
  const given = from.text("name", "id", "toolName") ?? ""
  const name = given
    .replace(/[^a-zA-Z0-9_.-]+/g, "_")
    .replace(/_{2,}/g, "_")
    .replace(/^[^a-zA-Z0-9]+/, "")
    .slice(0, 64)
  if (name !== given && name !== "") from.note(`is called "${name}" now`)
  return name
}

const kept = ["riskLevel", "requiresApproval", "approval", "outputSchema", "annotations"]

const oneTool = (value: unknown, notes: Array<string>, issues: Array<Issue>): ToolForm | undefined => {
  if (!isObject(value)) return void issues.push({ path: "", message: "a tool is an object" })
  if (isTooDeep(value, 100)) return void issues.push({ path: "", message: "is nested deeper than 100 levels" })
  const said: Array<string> = []
  const from = shapeOf(value, said, issues)
  const type = from.text("type", "executionType", "toolType")
  if (type === "waiting") {
    from.fault("type", '"waiting" was removed; send a message with "wait" instead (send_message {text, wait: true})')
    return undefined
  }
  if (type === "prebuilt") {
    notes.push(
      `${from.text("name") ?? "a prebuilt tool"}: left out; prebuilt tools are part of the house and are not configured`,
    )
    return undefined
  }
  if (type !== undefined && ExecutionType.literals.some((one) => one === type)) return alreadyNew(value, notes, issues)
  const make = type === undefined ? undefined : Object.hasOwn(made, type) ? made[type] : undefined
  if (make === undefined) {
    const known = [...Object.keys(made), "waiting", "prebuilt"].join(", ")
    from.fault(
      "type",
      type === undefined ? `is missing; v1 had ${known}` : `"${type}" is not a type of v1, which had ${known}`,
    )
    return undefined
  }

  const name = nameOf(from)
  const description = from.text("description", "summary") ?? ""
  if (description === "") from.note("had no description; its name is used instead")
  const look = lookOf(from)
  const hidden = from.flag("hidden", "internal", "silent")
  const visibility = visibilityOf(from.take("visibility"), hidden, look)
  const others = present(Object.fromEntries(kept.map((key) => [key, from.take(key)])))
  const given = from.take("inputSchema", "input_schema", "parameters", "schema", "input", "args")
  const { execution, executionType } = make(from, look, visibility === "hidden")
  const left = Object.keys(from.rest())
  if (left.length > 0) from.note(`left out what has no place today: ${left.join(", ")}`)
  const inputSchema = schemaFrom(given, execution, from.note)
  const shown = visibility !== undefined && visibility !== defaultVisibility[executionType]
  const contradicts = executionType === "internal" || (executionType === "space" && visibility === "hidden")
  if (shown && contradicts) from.note(`left out visibility "${visibility}", which ${executionType} cannot have`)
  const form = {
    name,
    description: description === "" ? name : description,
    inputSchema,
    executionType,
    ...(shown && !contradicts ? { visibility } : {}),
    ...(execution === undefined ? {} : { execution: placeholders(execution, inputSchema, from.note) }),
    ...(look.customUI === undefined ? {} : { display: { customUI: look.customUI } }),
    ...others,
  }
  notes.push(...said)
  return checked(form, issues)
}

const checked = (form: unknown, issues: Array<Issue>): ToolForm | undefined => {
  if (issues.length > 0) return undefined
  const read = readTool(form)
  if (read.ok) return read.tool.form
  issues.push(...read.issues)
  return undefined
}

const alreadyNew = (value: JsonObject, notes: Array<string>, issues: Array<Issue>): ToolForm | undefined => {
  const form = checked(value, issues)
  if (form !== undefined) notes.push(`${form.name}: is in today's form already`)
  return form
}

/** One v1 tool, a list of them, or `{tools: [...]}`. All of it is converted, or the obstacles are named by path. */
export const migrateTools = (value: unknown): Migrated => {
  const held = isObject(value) ? own(value, "tools") : undefined
  const [list, prefix] = Array.isArray(value) ? [value, ""] : Array.isArray(held) ? [held, "tools."] : [[value], null]
  const notes: Array<string> = []
  const issues: Array<Issue> = []
  const tools = new Map<string, ToolForm>()
  for (const [at, one] of (list as ReadonlyArray<unknown>).entries()) {
    const found: Array<Issue> = []
    const tool = oneTool(one, notes, found)
    if (tool !== undefined && tools.has(tool.name))
      found.push({ path: "name", message: `"${tool.name}" is there twice` })
    else if (tool !== undefined) tools.set(tool.name, tool)
    const place = prefix === null ? "" : `${prefix}${at}`
    issues.push(
      ...found.map(({ message, path }) => ({ path: [place, path].filter((it) => it !== "").join("."), message })),
    )
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, tools: [...tools.values()], notes }
}
