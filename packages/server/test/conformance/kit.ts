/** What the fixture tools are made of. */
import { Effect } from "effect"
import type {
  Asks,
  ClientRequests,
  Content,
  JsonObject,
  Line,
  ListedTool,
  Outcome,
  Use,
} from "../../src/doors/mcp/Desk.ts"
import type { Fault } from "../../src/doors/mcp/Fault.ts"

export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
export const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="

export type Answers = Effect.Effect<Outcome, Fault>
export interface FixtureTool {
  readonly listed: ListedTool
  readonly call: (use: Use, line: Line) => Answers
}

export const nothing = { type: "object", properties: {} }
export const object = (properties: JsonObject, ...required: ReadonlyArray<string>): JsonObject => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
})

export const tool = (
  name: string,
  inputSchema: JsonObject,
  call: (use: Use, line: Line) => Answers | Outcome,
): FixtureTool => ({
  listed: { name, description: `A fixture: ${name.replaceAll("_", " ")}`, inputSchema },
  call: (use, line) =>
    Effect.suspend(() => {
      const answer = call(use, line)
      return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
    }),
})

export const text = (words: string): JsonObject => ({ type: "text", text: words })
export const content = (...blocks: ReadonlyArray<JsonObject>): Content => ({
  _tag: "Content",
  result: { content: blocks },
})
export const say = (words: string): Content => content(text(words))

export const asks = (requests: ClientRequests, state?: unknown): Asks =>
  state === undefined ? { _tag: "Asks", requests } : { _tag: "Asks", requests, state }
export const form = (message: string, requestedSchema: JsonObject): ClientRequests[string] => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema },
})
export const sample = (words: string, maxTokens: number): ClientRequests[string] => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text(words) }], maxTokens },
})
export const roots: ClientRequests[string] = { method: "roots/list", params: {} }

/** A value a person typed into a form. */
export const typed = (answer: JsonObject | undefined, key: string): unknown =>
  (answer?.["content"] as JsonObject | undefined)?.[key]
