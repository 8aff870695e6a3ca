/** The fixture tools that settle at once, by both eras' suites, word for word. */
import { Effect } from "effect"
import type { CatalogueOffer } from "../../src/toolsets/toolsetTool.ts"
import {
  asks,
  content,
  failing,
  form,
  lacks,
  nothing,
  object,
  png,
  quick,
  sample,
  say,
  text,
  tool,
  wav,
} from "./fixture.ts"

const schema2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
}

const one = { type: "string", title: "One" }
const titled = [
  { const: "value1", title: "First Option" },
  { const: "value2", title: "Second Option" },
  { const: "value3", title: "Third Option" },
]
const options = ["option1", "option2", "option3"]

const pause = Effect.sleep("50 millis")

export const plainTools: ReadonlyArray<CatalogueOffer> = [
  quick("test_simple_text", nothing, () => say("This is a simple text response for testing.")),
  quick("test_image_content", nothing, () => content({ type: "image", data: png, mimeType: "image/png" })),
  quick("test_audio_content", nothing, () => content({ type: "audio", data: wav, mimeType: "audio/wav" })),
  quick("test_embedded_resource", nothing, () =>
    content({
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }),
  ),
  quick("test_multiple_content_types", nothing, () =>
    content(
      text("Multiple content types test:"),
      { type: "image", data: png, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: '{"test":"data","value":123}',
        },
      },
    ),
  ),
  quick("test_error_handling", nothing, () => failing("This tool intentionally returns an error for testing")),
  quick("test_tool_with_progress", nothing, (_, line) =>
    Effect.gen(function* () {
      for (const progress of [0, 50, 100]) {
        yield* line.progress(progress, 100, `Completed step ${progress} of 100`)
        yield* pause
      }
      return say("Progress is done")
    }),
  ),
  quick("test_tool_with_logging", nothing, (_, line) =>
    Effect.gen(function* () {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        line.log(data)
        yield* pause
      }
      return say("Logging is done")
    }),
  ),
  quick("test_logging_tool", nothing, (_, line) => {
    line.log("a line")
    return say("Logged, to whoever wanted it")
  }),
  tool("test_sampling", object({ prompt: { type: "string" } }, "prompt"), (args, { answers }) => {
    const answer = answers["sampled"]
    if (answer === undefined) return asks({ sampled: sample(String(args["prompt"]), 100) })
    return say(`LLM response: ${String((answer["content"] as { readonly text?: unknown }).text)}`)
  }),
  tool("test_elicitation", object({ message: { type: "string" } }, "message"), (args, { answers }) => {
    const answer = answers["person"]
    const fields = {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    }
    if (answer === undefined)
      return asks({ person: form(String(args["message"]), object(fields, "username", "email")) })
    return say(`User response: action=${String(answer["action"])}, content=${JSON.stringify(answer["content"] ?? {})}`)
  }),
  tool("test_elicitation_sep1034_defaults", nothing, (_, { answers }) => {
    const answer = answers["person"]
    const fields = {
      name: { type: "string", description: "User name", default: "John Doe" },
      age: { type: "integer", description: "User age", default: 30 },
      score: { type: "number", description: "User score", default: 95.5 },
      status: {
        type: "string",
        description: "User status",
        enum: ["active", "inactive", "pending"],
        default: "active",
      },
      verified: { type: "boolean", description: "Verification status", default: true },
    }
    if (answer === undefined) return asks({ person: form("Please review and update the form fields", object(fields)) })
    return say(
      `Elicitation completed: action=${String(answer["action"])}, content=${JSON.stringify(answer["content"] ?? {})}`,
    )
  }),
  tool("test_elicitation_sep1330_enums", nothing, (_, { answers }) => {
    const answer = answers["person"]
    const fields = {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    }
    if (answer === undefined) return asks({ person: form("Please choose", object(fields)) })
    return say(
      `Elicitation completed: action=${String(answer["action"])}, content=${JSON.stringify(answer["content"] ?? {})}`,
    )
  }),
  tool("test_reconnection", nothing, (_, line) =>
    Effect.gen(function* () {
      line.letGo(500)
      yield* Effect.sleep("300 millis")
      return say("You came back for this")
    }),
  ),
  quick("json_schema_2020_12_tool", schema2020, (args) => say(`Got ${JSON.stringify(args)}`)),
  quick("test_missing_capability", nothing, (_, { capabilities }) =>
    "sampling" in capabilities ? say("The client can sample") : lacks({ sampling: {} }),
  ),
  quick("test_x_mcp_header", object({ region: { type: "string", "x-mcp-header": "Region" } }, "region"), (args) =>
    say(`Region: ${String(args["region"])}`),
  ),
  quick("greet", object({ name: one }, "name"), (args) => say(`Hello, ${String(args["name"])}!`)),
]
