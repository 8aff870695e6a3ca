/** The suite's fixtures as one face: a toolset of tests, served through the same port as any other. */
import { Effect } from "effect"
import type { Change, Content, Face, Interest, JsonObject } from "../../src/doors/mcp/Desk.ts"
import { invalidParams, unknownTool } from "../../src/doors/mcp/Fault.ts"
import { askingPrompt, askingTools } from "./asking.ts"
import { type FixtureTool, nothing, png, say, text, tool } from "./kit.ts"
import { makeTasks } from "./tasks.ts"
import { plainTools } from "./tools.ts"

const messages = (...contents: ReadonlyArray<JsonObject>): Content => ({
  _tag: "Content",
  result: { messages: contents.map((content) => ({ role: "user", content })) },
})
const argument = (name: string) => ({ name, description: `The ${name}`, required: true })

const prompts: ReadonlyArray<JsonObject> = [
  { name: "test_simple_prompt", description: "A prompt without arguments" },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt with two arguments",
    arguments: [argument("arg1"), argument("arg2")],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt around a resource",
    arguments: [argument("resourceUri")],
  },
  { name: "test_prompt_with_image", description: "A prompt around an image" },
  { name: "test_input_required_result_prompt", description: "A prompt that asks first" },
]
const resources: ReadonlyArray<JsonObject> = [
  { uri: "test://static-text", name: "static-text", description: "Text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "static-binary", description: "An image", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "watched-resource", description: "Changes", mimeType: "text/plain" },
]
const templates: ReadonlyArray<JsonObject> = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "template",
    description: "Data by id",
    mimeType: "application/json",
  },
]

const read = (uri: string): JsonObject | undefined => {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id !== undefined)
    return {
      uri,
      mimeType: "application/json",
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }
  if (uri === "test://static-text")
    return { uri, mimeType: "text/plain", text: "This is the content of the static text resource." }
  if (uri === "test://static-binary") return { uri, mimeType: "image/png", blob: png }
  return uri === "test://watched-resource" ? { uri, mimeType: "text/plain", text: "Watched" } : undefined
}

interface Watcher {
  readonly interest: Interest
  readonly tell: (change: Change) => void
}

/** One for all callers: what one of them changes, the others see. */
export const conformanceFace = (): (() => Face) => {
  const watchers = new Set<Watcher>()
  const tell = (kind: "tools" | "prompts") => {
    for (const it of watchers) if (it.interest[kind]) it.tell({ kind })
  }
  const tasks = makeTasks()
  const extra = tool("test_comes_and_goes", nothing, () => say("Here I am"))
  let shownPrompts = prompts
  const triggers: ReadonlyArray<FixtureTool> = [
    tool("test_trigger_tool_change", nothing, () => {
      tools = tools.includes(extra) ? base : [...base, extra]
      face = { ...face, tools: tools.map((it) => it.listed) }
      tell("tools")
      return say("The list of tools has changed")
    }),
    tool("test_trigger_prompt_change", nothing, () => {
      shownPrompts =
        shownPrompts === prompts ? [...prompts, { name: "comes_and_goes", description: "Now and then" }] : prompts
      tell("prompts")
      return say("The list of prompts has changed")
    }),
  ]
  const base = [...plainTools, ...askingTools, ...tasks.tools, ...triggers]
  let tools: ReadonlyArray<FixtureTool> = base
  let face: Face = {
    instructions: "Fixtures of a conformance suite.",
    tools: tools.map((it) => it.listed),
    call: (use, line) => {
      const found = tools.find((it) => it.listed.name === use.name)
      return found === undefined ? Effect.fail(unknownTool(use.name)) : found.call(use, line)
    },
    resources: {
      list: () => Effect.succeed({ items: resources }),
      templates: () => Effect.succeed({ items: templates }),
      read: (uri) =>
        Effect.sync(() => {
          const found = read(uri)
          return found === undefined ? undefined : { _tag: "Content" as const, result: { contents: [found] } }
        }),
      subscribable: true,
    },
    prompts: {
      list: () => Effect.sync(() => ({ items: shownPrompts })),
      get: (name, given, { answers }) => {
        switch (name) {
          case "test_simple_prompt":
            return Effect.succeed(messages(text("This is a simple prompt for testing.")))
          case "test_prompt_with_arguments":
            return Effect.succeed(
              messages(text(`Prompt with arguments: arg1='${String(given["arg1"])}', arg2='${String(given["arg2"])}'`)),
            )
          case "test_prompt_with_embedded_resource": {
            const uri = String(given["resourceUri"])
            const resource = { uri, mimeType: "text/plain", text: "Embedded resource content for testing." }
            return Effect.succeed(
              messages({ type: "resource", resource }, text("Please process the embedded resource above.")),
            )
          }
          case "test_prompt_with_image":
            return Effect.succeed(
              messages({ type: "image", data: png, mimeType: "image/png" }, text("Please analyze the image above.")),
            )
          case "test_input_required_result_prompt":
            return Effect.succeed(askingPrompt(answers))
          default:
            return Effect.fail(invalidParams(`Unknown prompt: ${name}`))
        }
      },
    },
    complete: () => Effect.succeed({ completion: { values: ["paris", "park", "party"], total: 3, hasMore: false } }),
    logs: true,
    tasks,
    watch: (interest, tellOne) =>
      Effect.sync(() => {
        const watcher: Watcher = { interest, tell: tellOne }
        watchers.add(watcher)
        return { honoured: { ...interest, tasks: [] }, stop: () => void watchers.delete(watcher) }
      }),
  }
  return () => face
}
