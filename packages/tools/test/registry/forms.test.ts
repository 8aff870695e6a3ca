/** One definition in every form it is given out in, sent as text and read back. */
import { assert, describe, it } from "@effect/vitest"
import { definitionOf, formOf, readTool, type ToolDefinition } from "@stoa/contract"
import { toAnthropic, toMCP, toOpenAI } from "../../src/registry/functionCalling.ts"
import { mcpToolDefinition } from "../../src/mcp/client/tools/MCPToolDefinition.ts"
import { readMCPTools } from "../../src/mcp/client/tools/MCPTool.ts"
import { fromWireName, toWireName } from "../../src/names/WireName.ts"

const execution = { url: "https://a.example/orders/{{input.id}}", method: "DELETE", timeout: 4_000 }

/** Every axis has a value that is not its default. */
const definition: ToolDefinition = {
  name: "orders.cancel",
  description: 'Cancels an order; "why" is kept – for ever',
  parameters: [
    { name: "id", type: "number", description: "", required: true },
    { name: "why", type: "string", description: "Reason", required: false, enum: ["late", "wrong"] },
  ],
  riskLevel: "critical",
  timeoutMs: 4_000,
  requiresApproval: true,
  source: "configured",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    required: ["id"],
    properties: {
      id: { type: "integer", minimum: 1 },
      why: { enum: ["late", "wrong"], type: "string", description: "Reason" },
    },
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { done: { const: true } } },
  annotations: {
    title: "Cancel",
    destructiveHint: true,
    readOnlyHint: false,
    idempotentHint: true,
    openWorldHint: true,
  },
  executionType: "internal",
  visibility: "hidden",
  customUI: "orderCard",
}
const named = { definition, wireName: toWireName(definition.name) }
const sent = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

describe("one definition", () => {
  it("X-21 round-trips through the form of seed 001 with every axis", () => {
    const read = readTool(sent(formOf(definition, execution)))
    assert.isTrue(read.ok)
    if (!read.ok) return
    const back = definitionOf(read.tool)
    assert.deepStrictEqual(back, definition)
    assert.strictEqual(JSON.stringify(back.inputSchema), JSON.stringify(definition.inputSchema))
    assert.deepStrictEqual(formOf(back, execution), formOf(definition, execution))
  })

  it("X-21 round-trips through MCP with its schemas and hints", () => {
    const { dropped, tools } = readMCPTools([sent(toMCP(named))], { allowed: undefined, headers: false, most: 1 })
    assert.deepStrictEqual(dropped, [])
    const back = mcpToolDefinition("house", tools[0]!)
    assert.strictEqual(fromWireName(back.name.replace("house/", "")), definition.name)
    for (const key of ["description", "parameters", "inputSchema", "outputSchema", "annotations"] as const)
      assert.deepStrictEqual(back[key], definition[key], key)
    // What a listing claims gives no rights: risk is judged anew where it arrives.
    assert.strictEqual(back.riskLevel, "high")
    assert.isFalse(back.requiresApproval)
  })

  it("X-21 round-trips through Anthropic's and OpenAI's form with name, description and schema", () => {
    const anthropic = sent(toAnthropic(named))
    const openai = sent(toOpenAI(named)).function
    const forms = [
      [anthropic.name, anthropic.description, anthropic.input_schema],
      [openai.name, openai.description, openai.parameters],
    ] as const
    for (const [name, description, schema] of forms) {
      assert.strictEqual(fromWireName(name), definition.name)
      assert.strictEqual(description, definition.description)
      assert.strictEqual(JSON.stringify(schema), JSON.stringify(definition.inputSchema))
    }
  })

  it("X-21 a flat list of parameters becomes the schema it stands for, and is read back from it", () => {
    const { inputSchema: _, ...flat } = definition
    const read = readTool(formOf(flat, execution))
    assert.isTrue(read.ok)
    if (read.ok) assert.deepStrictEqual(definitionOf(read.tool).parameters, definition.parameters)
  })
})
