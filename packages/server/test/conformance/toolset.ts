/** The suite's fixtures as a toolset of tests, brought into a house through the ports that any toolset has. */
import { Effect, Layer } from "effect"
import { Catalogue } from "../../src/calls/catalogue/Catalogue.ts"
import type { CatalogueOffer } from "../../src/toolsets/toolsetTool.ts"
import { ExtraToolsets, type Toolset } from "../../src/toolsets/Toolsets.ts"
import type { Contents } from "../../src/servers/contents/Contents.ts"
import { type JsonObject, nothing, png, say, text, tool } from "./fixture.ts"
import { longTools } from "./longer.ts"
import { plainTools } from "./plain.ts"
import { askingPrompt, askingTools } from "./questions.ts"

const messages = (...contents: ReadonlyArray<JsonObject>): JsonObject => ({
  messages: contents.map((content) => ({ role: "user", content })),
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

/** What a prompt says; undefined where there is none of that name. */
const prompt = (name: string, given: JsonObject): JsonObject | undefined => {
  switch (name) {
    case "test_simple_prompt":
      return messages(text("This is a simple prompt for testing."))
    case "test_prompt_with_arguments":
      return messages(text(`Prompt with arguments: arg1='${String(given["arg1"])}', arg2='${String(given["arg2"])}'`))
    case "test_prompt_with_embedded_resource": {
      const uri = String(given["resourceUri"])
      const resource = { uri, mimeType: "text/plain", text: "Embedded resource content for testing." }
      return messages({ type: "resource", resource }, text("Please process the embedded resource above."))
    }
    case "test_prompt_with_image":
      return messages({ type: "image", data: png, mimeType: "image/png" }, text("Please analyze the image above."))
    default:
      return undefined
  }
}

/** One for all callers: what one of them changes, the others see. */
export const conformance: Effect.Effect<Toolset, never, Catalogue> = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const hearers = new Set<(what: "prompts" | "resources") => void>()
  let shownPrompts = prompts
  let isThere = false

  const extra = tool("test_comes_and_goes", nothing, () => say("Here I am"))
  const triggers: ReadonlyArray<CatalogueOffer> = [
    tool("test_trigger_tool_change", nothing, () =>
      Effect.gen(function* () {
        isThere = !isThere
        if (isThere) yield* Effect.orDie(catalogue.offer("brought:conformance", extra.tool, extra.traits))
        else yield* catalogue.withdraw("brought:conformance", extra.tool.definition.name)
        return say("The list of tools has changed")
      }),
    ),
    tool("test_trigger_prompt_change", nothing, () => {
      shownPrompts =
        shownPrompts === prompts ? [...prompts, { name: "comes_and_goes", description: "Now and then" }] : prompts
      for (const hear of hearers) hear("prompts")
      return say("The list of prompts has changed")
    }),
  ]

  const contents: Contents = {
    instructions: "Fixtures of a conformance suite.",
    logs: true,
    resources: {
      list: Effect.succeed(resources),
      templates: Effect.succeed(templates),
      read: (uri) =>
        Effect.sync(() => {
          const found = read(uri)
          return found === undefined ? undefined : { contents: [found] }
        }),
      subscribe: (uri) => Effect.sync(() => (read(uri) === undefined ? undefined : {})),
      watch: (uris) => Effect.succeed({ honoured: uris.filter((uri) => read(uri) !== undefined), stop: () => {} }),
    },
    prompts: {
      list: Effect.sync(() => shownPrompts),
      get: (name, given, { answers }) =>
        name === "test_input_required_result_prompt"
          ? Effect.sync(() => askingPrompt(answers))
          : Effect.succeed(prompt(name, given)),
    },
    complete: () => Effect.succeed({ completion: { values: ["paris", "park", "party"], total: 3, hasMore: false } }),
    onChange: (_, hear) => {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
  }
  return { name: "conformance", tools: [...plainTools, ...askingTools, ...longTools, ...triggers], contents }
})

/** For a house that shall have them, at `/mcp/conformance`. */
export const withFixtures = Layer.succeed(ExtraToolsets, [conformance])
