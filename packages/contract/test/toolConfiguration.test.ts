/** Seed 001's form of a tool: what is taken, what is refused and where, and the defaults of what it leaves open. */
import { assert, describe, it } from "@effect/vitest"
import {
  definitionOf,
  type Issue,
  readTool,
  RunMessage,
  type ToolDefinition,
  type ToolKind,
  toolNames,
  Visibility,
} from "../src/index.ts"

const inputSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
const weather = {
  name: "fetchWeather",
  description: "The weather of a city",
  inputSchema,
  executionType: "gateway",
  execution: { url: "https://weather.example/now", method: "GET" },
}

const read = (value: unknown) => {
  const result = readTool(value)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.tool
}
const issuesOf = (value: unknown): ReadonlyArray<Issue> => {
  const result = readTool(value)
  return result.ok ? [] : result.issues
}
const pathsOf = (value: unknown) => issuesOf(value).map(({ path }) => path)
const define = (change: object): ToolDefinition => definitionOf(read({ ...weather, ...change }))

describe("the form of a tool", () => {
  const flavours: ReadonlyArray<readonly [string, object | undefined, ToolKind]> = [
    ["gateway", { url: "https://a.example", method: "POST", body: { q: "{{input.city}}" }, timeout: 30000 }, "http"],
    ["gateway", { agentConfig: { model: "m" }, includeContext: true, timeout: 60000 }, "agent"],
    ["gateway", { provider: "dall-e", model: "dall-e-3", size: "1024x1024", quality: "hd" }, "image"],
    ["gateway", { operation: "evaluate", expression: "{{input.expression}}" }, "compute"],
    ["external", { webhookUrl: "https://a.example/tools", method: "POST", timeout: 30000 }, "webhook"],
    ["space", { display: { customUI: "confirmAction" } }, "ui"],
    ["space", undefined, "ui"],
    ["internal", { output: { status: "ok" } }, "static"],
    ["internal", undefined, "static"],
    ["internal", { url: "https://a.example" }, "http"],
  ]
  for (const [executionType, execution, kind] of flavours)
    it(`S1-05 S1-22 ${executionType} with ${JSON.stringify(execution ?? null)} is a tool of kind ${kind}`, () => {
      const { execution: _old, ...rest } = weather
      const tool = read({ ...rest, executionType, ...(execution === undefined ? {} : { execution }) })
      assert.strictEqual(tool.kind, kind)
      assert.deepStrictEqual(tool.execution, execution ?? {})
    })

  for (const executionType of ["local", "", "Gateway", 3, null, "request", "basic"])
    it(`S1-05 the executionType ${JSON.stringify(executionType)} is refused by name`, () => {
      assert.deepStrictEqual(pathsOf({ ...weather, executionType }), ["executionType"])
    })

  it("S1-09 X-25 an internal tool that asks to be seen is a fault of configuration", () => {
    for (const visibility of ["visible", "result-only"])
      assert.deepStrictEqual(pathsOf({ ...weather, executionType: "internal", visibility }), ["visibility"])
    assert.deepStrictEqual(pathsOf({ ...weather, executionType: "internal", visibility: "hidden" }), [])
    const forSome = { pam: "visible", jim: "result-only", toby: "hidden" }
    assert.deepStrictEqual(pathsOf({ ...weather, executionType: "internal", visibilityFor: forSome }), [
      "visibilityFor.pam",
      "visibilityFor.jim",
    ])
  })

  it("S0-59 the messages of a run are of five kinds and no other", () => {
    const kinds = ["system", "user", "assistant", "tool_call", "tool_return"].map((kind) => `${kind}_message`)
    assert.deepStrictEqual<ReadonlyArray<string>>(RunMessage.fields.kind.literals, kinds)
  })

  it("S1-11 waiting is refused, and what to use instead is said", () => {
    const [issue] = issuesOf({ ...weather, executionType: "waiting" })
    assert.strictEqual(issue?.path, "executionType")
    assert.match(issue?.message ?? "", /send_message.*wait/)
  })

  it("S1-12 S1-22 visibility is one of three", () => {
    assert.deepStrictEqual(Visibility.literals, ["visible", "hidden", "result-only"])
    for (const visibility of ["visible", "hidden", "result-only"])
      assert.deepStrictEqual(pathsOf({ ...weather, visibility }), [])
    for (const visibility of ["shown", "", true])
      assert.deepStrictEqual(pathsOf({ ...weather, visibility }), ["visibility"])
  })

  it("S1-16 what leaves visibility open is hidden when internal and visible otherwise", () => {
    const execution = { url: "https://a.example", webhookUrl: undefined }
    const of = (executionType: string, given: object) => define({ executionType, execution: given }).visibility
    assert.deepStrictEqual(
      [
        of("gateway", { url: execution.url }),
        of("external", { webhookUrl: execution.url }),
        of("space", {}),
        of("internal", {}),
      ],
      ["visible", "visible", "visible", "hidden"],
    )
  })

  const strange: ReadonlyArray<readonly [string, object, ReadonlyArray<string>]> = [
    ["a key of the form", { colour: "red" }, ["colour"]],
    ["a key of execution", { execution: { url: "https://a.example", verb: "GET" } }, ["execution.verb"]],
    ["another kind's key", { execution: { url: "https://a.example", expression: "1" } }, ["execution.expression"]],
    ["a key inside display", { display: { customUI: "card", size: 3 } }, ["display.size"]],
    ["a wrong value", { execution: { url: "https://a.example", timeout: "soon" } }, ["execution.timeout"]],
    ["nothing that tells its kind", { execution: {} }, ["execution"]],
    ["an input that is no object", { inputSchema: { type: "string" } }, ["inputSchema.type"]],
    ["a name that no model takes", { name: "two words" }, ["name"]],
  ]
  for (const [title, change, paths] of strange)
    it(`S1-22 ${title} is named by its path`, () => {
      assert.deepStrictEqual(pathsOf({ ...weather, ...change }), paths)
    })

  it("S1-22 every field is required that has no default, and all that are missing are named", () => {
    assert.deepStrictEqual(pathsOf({}).toSorted(), ["description", "executionType", "inputSchema", "name"])
  })

  it("S1-64 there is no template that turns a result into text", () => {
    assert.deepStrictEqual(pathsOf({ ...weather, display: { format: "It is {{output.degrees}}" } }), ["display.format"])
  })

  it("S1-91 v1's display flag and its target space are refused", () => {
    assert.deepStrictEqual(pathsOf({ ...weather, display: true }), ["display"])
    assert.deepStrictEqual(pathsOf({ ...weather, displayTool: true }), ["displayTool"])
    assert.deepStrictEqual(pathsOf({ ...weather, targetSpaceId: "spc_1" }), ["targetSpaceId"])
  })

  it("S1-89 there is no tool to delegate with", () => {
    const names = Object.values(toolNames).flat()
    assert.isAbove(names.length, 40)
    assert.deepStrictEqual(
      names.filter((name) => /delegate/i.test(name)),
      [],
    )
  })
})

describe("a definition from the form", () => {
  const http = (method: string, more: object = {}) => ({ execution: { url: "https://a.example", method }, ...more })
  const risks: ReadonlyArray<readonly [string, object, ToolDefinition["riskLevel"]]> = [
    ["GET", http("GET"), "low"],
    ["HEAD", http("HEAD"), "low"],
    ["no method, which is GET", { execution: { url: "https://a.example" } }, "low"],
    ["POST", http("POST"), "medium"],
    ["PUT", http("PUT"), "medium"],
    ["PATCH", http("PATCH"), "medium"],
    ["DELETE", http("DELETE"), "high"],
    ["a destructive POST", http("POST", { annotations: { destructiveHint: true } }), "high"],
    [
      "a destructive GET that says it only reads",
      http("GET", { annotations: { destructiveHint: true, readOnlyHint: true } }),
      "high",
    ],
    ["a POST that only reads", http("POST", { annotations: { readOnlyHint: true } }), "low"],
    ["hints that are false", http("POST", { annotations: { destructiveHint: false, readOnlyHint: false } }), "medium"],
    ["a DELETE that says it only reads", http("DELETE", { annotations: { readOnlyHint: true } }), "high"],
    ["a computation", { execution: { operation: "evaluate", expression: "1" } }, "medium"],
    ["a stated risk over a hint", http("DELETE", { riskLevel: "low", annotations: { destructiveHint: true } }), "low"],
    ["a stated risk over a method", http("GET", { riskLevel: "critical" }), "critical"],
  ]
  for (const [title, change, risk] of risks)
    it(`X-22 X-54 the risk of ${title} is ${risk}`, () => {
      assert.strictEqual(define(change).riskLevel, risk)
    })

  it("X-22 overriding one leaves the others: risk, hints, visibility and approval do not touch each other", () => {
    const plain = define({})
    const changes = [
      { riskLevel: "critical" },
      { requiresApproval: true },
      { visibility: "hidden" },
      { annotations: { title: "Weather", openWorldHint: true } },
    ]
    for (const change of changes) assert.deepStrictEqual(define(change), { ...plain, ...change } as ToolDefinition)
  })

  it("S1-22 S1-30 S1-33 time limits: what is written, else half a minute, a minute for agents", () => {
    const timeoutOf = (execution: object, executionType = "gateway") => define({ execution, executionType }).timeoutMs
    assert.strictEqual(timeoutOf({ url: "https://a.example" }), 30_000)
    assert.strictEqual(timeoutOf({ url: "https://a.example", timeout: 5 }), 5)
    const webhookUrl = "https://a.example/tools"
    assert.strictEqual(timeoutOf({ webhookUrl }, "external"), 30_000)
    assert.strictEqual(timeoutOf({ webhookUrl, timeout: 5 }, "external"), 5)
    assert.strictEqual(timeoutOf({ agentConfig: {} }), 60_000)
    // How long people may take is not how long asking them may take.
    assert.strictEqual(timeoutOf({ timeout: 86_400_000 }, "space"), 30_000)
  })

  it("S1-22 the schema is the one that was written, its first level summed up for people", () => {
    const schema = {
      required: ["b"],
      type: "object",
      additionalProperties: false,
      properties: {
        b: { type: ["integer", "null"], default: 3 },
        a: { enum: ["x", "y"], type: "string", description: "A" },
      },
    }
    const definition = define({ inputSchema: schema })
    assert.strictEqual(JSON.stringify(definition.inputSchema), JSON.stringify(schema))
    assert.deepStrictEqual(definition.parameters, [
      { name: "b", type: "number", description: "", required: true, default: 3 },
      { name: "a", type: "string", description: "A", required: false, enum: ["x", "y"] },
    ])
  })

  it("S1-22 the component is named beside execution or inside it", () => {
    const { execution: _, ...rest } = weather
    const inside = { ...rest, executionType: "space", execution: { display: { customUI: "confirmAction" } } }
    const beside = { ...rest, executionType: "space", display: { customUI: "confirmAction" } }
    for (const form of [inside, beside]) assert.strictEqual(definitionOf(read(form)).customUI, "confirmAction")
  })
})
