/** What the fixtures are made of: tools of a toolset that speak MCP, and short words for what they say and ask. */
import { MCPRefused } from "@stoa/tools"
import { Effect, type Schema } from "effect"
import type { CatalogueOffer } from "../../src/toolsets/toolsetTool.ts"
import { lacks, nativeTool } from "../../src/toolsets/nativeTool.ts"
import { type Answers, InputRequired, type MCPAsker, type Questions } from "../../src/servers/InputRequired.ts"

export type JsonObject = Readonly<Record<string, unknown>>
export { lacks }
export type Result = JsonObject | InputRequired | MCPRefused

export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
export const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="

const tasks = "io.modelcontextprotocol/tasks"
export const needsTasks = lacks({ extensions: { [tasks]: {} } })

/** The client as a fixture sees it: the ports that any toolset has, in one hand. */
export interface Line {
  readonly capabilities: JsonObject
  readonly answers: Answers
  readonly state: Schema.Json | undefined
  readonly takesTasks: boolean
  readonly letGo: (retryMs?: number) => void
  readonly progress: (progress: number, total?: number, message?: string) => Effect.Effect<void>
  readonly log: (data: string, level?: string) => void
}

/** Early answers are a first request's, before anybody has asked. */
const asked = ({ answered, client }: MCPAsker) => ({
  answers: answered?.answers ?? client?.answers ?? {},
  state: answered?.state,
  client,
})

type Run = (args: JsonObject, line: Line) => Result | Effect.Effect<Result, MCPRefused>

const made = (
  effects: "none" | "outside",
  name: string,
  inputSchema: JsonObject,
  run: Run,
  outputSchema?: JsonObject,
) =>
  nativeTool({
    name,
    description: `A fixture: ${name.replaceAll("_", " ")}`,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    effects,
    run: Effect.fnUntraced(function* (args, context) {
      const { answers, client, state } = asked(context)
      const capabilities = client?.capabilities ?? {}
      const line: Line = {
        capabilities,
        answers,
        state,
        takesTasks: (capabilities["extensions"] as JsonObject | undefined)?.[tasks] !== undefined,
        letGo: (retryMs) => client?.letGo(retryMs),
        progress: (progress, total, message) =>
          context.progress({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message }),
          }),
        log: (data, level = "info") => client?.log({ level, data }),
      }
      const said = run(args, line)
      const result = Effect.isEffect(said) ? yield* said : said
      return result instanceof MCPRefused ? yield* Effect.fail(result) : result
    }),
  })

/** A tool that changes nothing and answers at once. */
export const quick = (name: string, inputSchema: JsonObject, run: Run, outputSchema?: JsonObject): CatalogueOffer =>
  made("none", name, inputSchema, run, outputSchema)
/** A tool that asks its client, takes its time or changes something. */
export const tool = (name: string, inputSchema: JsonObject, run: Run): CatalogueOffer =>
  made("outside", name, inputSchema, run)

export const nothing = { type: "object", properties: {} }
export const object = (properties: JsonObject, ...required: ReadonlyArray<string>): JsonObject => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
})

export const text = (words: string): JsonObject => ({ type: "text", text: words })
export const content = (...blocks: ReadonlyArray<JsonObject>): JsonObject => ({ content: blocks })
export const say = (words: string): JsonObject => content(text(words))
export const failing = (words: string): JsonObject => ({ ...say(words), isError: true })

export const asks = (questions: Questions, state: Schema.Json = null): InputRequired =>
  new InputRequired(questions, state, false, false)
/** The same, as a task for whoever knows tasks. */
export const asksLater = (questions: Questions): InputRequired => new InputRequired(questions, null, false, true)
export const form = (message: string, requestedSchema: JsonObject): Questions[string] => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema },
})
export const sample = (words: string, maxTokens: number): Questions[string] => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text(words) }], maxTokens },
})
export const roots: Questions[string] = { method: "roots/list", params: {} }

/** A value a person typed into a form. */
export const typed = (answer: JsonObject | undefined, key: string): unknown =>
  (answer?.["content"] as JsonObject | undefined)?.[key]
