/** Tools of v1 brought into today's form: what each type becomes, and that nothing is guessed without being said. */
import { assert, describe, it } from "@effect/vitest"
import { kindOf, readTool, type ToolForm } from "@stoa/contract"
import { migrateTools } from "../src/index.ts"

const inputSchema = { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
const old = { name: "old", description: "An old tool", inputSchema }

const migrate = (value: unknown) => {
  const result = migrateTools(value)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  for (const tool of result.tools) assert.isTrue(readTool(tool).ok)
  return result
}
const one = (value: unknown): ToolForm => migrate(value).tools[0]!
const refused = (value: unknown) => {
  const result = migrateTools(value)
  assert.isFalse(result.ok)
  return result.ok ? [] : result.issues
}

describe("tools of v1", () => {
  const table: ReadonlyArray<readonly [string, object, string, string | undefined, object | undefined]> = [
    ["basic", { displayTool: true }, "space", "ui", undefined],
    ["basic", { display: { customUI: "card" } }, "space", "ui", undefined],
    ["basic", { customUI: "card" }, "space", "ui", undefined],
    ["basic", {}, "internal", "static", undefined],
    ["basic", { output: { status: "ok" } }, "internal", "static", { output: { status: "ok" } }],
    ["basic", { config: { output: [1] } }, "internal", "static", { output: [1] }],
    [
      "request",
      { url: "https://a.example", method: "post" },
      "gateway",
      "http",
      { url: "https://a.example", method: "POST" },
    ],
    [
      "request",
      { config: { endpoint: "https://a.example", data: { q: "{{q}}" } } },
      "gateway",
      "http",
      { url: "https://a.example", body: { q: "{{input.q}}" } },
    ],
    [
      "request",
      {
        execution: { url: "https://a.example/{{ input.q }}", headers: { key: "${process.env.KEY}" }, timeout: 900_000 },
      },
      "gateway",
      "http",
      { url: "https://a.example/{{input.q}}", headers: { key: "${env.KEY}" }, timeout: 300_000 },
    ],
    [
      "ai-agent",
      { agentConfig: { model: "m", prompt: "say {{q}}" }, includeContext: true },
      "gateway",
      "agent",
      { agentConfig: { model: "m", prompt: "say {{q}}" }, includeContext: true },
    ],
    [
      "ai-agent",
      { config: { model: "m", systemPrompt: "be short", timeout: 9 } },
      "gateway",
      "agent",
      { agentConfig: { model: "m", systemPrompt: "be short" }, timeout: 9 },
    ],
    [
      "image-generator",
      { config: { provider: "dall-e", model: "dall-e-3", size: "1024x1024", quality: "hd" } },
      "gateway",
      "image",
      { provider: "dall-e", model: "dall-e-3", size: "1024x1024", quality: "hd" },
    ],
    ["image-generator", {}, "gateway", "image", { provider: "dall-e" }],
    ["compute", { expression: "{{q}}" }, "gateway", "compute", { operation: "evaluate", expression: "{{input.q}}" }],
    ["compute", { expression: "1", hidden: true }, "internal", "compute", { operation: "evaluate", expression: "1" }],
    [
      "compute",
      { expression: "1", visibility: "hidden" },
      "internal",
      "compute",
      { operation: "evaluate", expression: "1" },
    ],
  ]
  for (const [type, keys, executionType, kind, execution] of table)
    it(`S1-10 ${type} with ${JSON.stringify(keys)} becomes ${executionType}`, () => {
      const tool = one({ ...old, type, ...keys })
      assert.strictEqual(tool.executionType, executionType)
      assert.strictEqual(kindOf(tool.executionType, tool.execution), kind)
      assert.deepStrictEqual(tool.execution, execution)
      assert.deepStrictEqual(tool.inputSchema, inputSchema)
    })

  it("S1-10 prebuilt tools are left out, and that is said", () => {
    const { notes, tools } = migrate([{ ...old, type: "prebuilt", name: "sendMessage" }])
    assert.deepStrictEqual(tools, [])
    assert.match(notes.join(), /sendMessage: left out; prebuilt/)
  })

  it("S1-11 waiting is refused with a pointer to sending a message that waits", () => {
    const issues = refused({
      tools: [
        { ...old, type: "basic" },
        { ...old, name: "w", type: "waiting" },
      ],
    })
    assert.strictEqual(issues[0]?.path, "tools.1.type")
    assert.match(issues[0]?.message ?? "", /send_message \{text, wait: true\}/)
  })

  it("S1-91 a display flag and an injected space go, and both are noted", () => {
    const { notes, tools } = migrate({
      ...old,
      type: "request",
      url: "https://a.example",
      displayTool: true,
      targetSpaceId: "spc_1",
      inputSchema: {
        type: "object",
        properties: { q: { type: "string" }, targetSpaceId: { type: "string" } },
        required: ["q", "targetSpaceId"],
      },
    })
    assert.deepStrictEqual(tools[0]?.inputSchema, inputSchema)
    assert.notMatch(JSON.stringify(tools), /targetSpaceId|displayTool/)
    assert.match(notes.join("\n"), /display flag/)
    assert.match(notes.join("\n"), /left out "targetSpaceId"/)
    assert.match(notes.join("\n"), /left out its input targetSpaceId/)
  })

  it("a note names each placeholder that it changed, before and after", () => {
    const { notes } = migrate({
      ...old,
      type: "request",
      inputSchema: { type: "object", properties: { city: { type: "string" }, day: { type: "string" } } },
      url: "https://a.example/{{args.city}}?day={{ input.day }}&key={{env.KEY}}&other={{other}}&city={{args.city}}",
      headers: { day: "{{input.day}}" },
    })
    assert.include(
      notes.join("\n"),
      "today's spelling: {{env.KEY}} is now ${env.KEY}; {{args.city}} is now {{input.city}}; {{ input.day }} is now {{input.day}}",
    )
    assert.notInclude(notes.join("\n"), "https://a.example")
  })

  it("S1-91 an input that the tool itself sends on stays, whatever it is called", () => {
    const schema = { type: "object", properties: { spaceId: { type: "string" } } }
    const tool = one({
      ...old,
      type: "request",
      inputSchema: schema,
      url: "https://a.example/spaces/{{input.spaceId}}",
    })
    assert.deepStrictEqual(tool.inputSchema, schema)
  })

  it("S1-10 S1-64 a flag that hides becomes visibility, a display format goes", () => {
    const { notes, tools } = migrate({
      ...old,
      type: "request",
      url: "https://a.example",
      display: { format: "It is {{x}}", customUI: "card" },
      hidden: true,
    })
    assert.strictEqual(tools[0]?.visibility, "hidden")
    assert.deepStrictEqual(tools[0]?.display, { customUI: "card" })
    assert.match(notes.join(), /display\.format/)
  })

  it("S1-10 parameters in other shapes become a schema, and what is guessed is noted", () => {
    const { inputSchema: _, ...bare } = { ...old, type: "request", url: "https://a.example" }
    const want = { type: "object", properties: { q: { type: "string", description: "Q" } }, required: ["q"] }
    const list = migrate({ ...bare, parameters: [{ name: "q", type: "string", description: "Q", required: true }] })
    const named = migrate({ ...bare, parameters: { q: { type: "string", description: "Q", required: true } } })
    assert.deepStrictEqual(list.tools[0]?.inputSchema, want)
    assert.deepStrictEqual(named.tools[0]?.inputSchema, want)
    assert.deepStrictEqual(one({ ...bare, parameters: want }).inputSchema, want)
    assert.match(list.notes.join(), /old: made inputSchema/)
    assert.match(named.notes.join(), /old: made inputSchema/)
  })

  it("S1-10 a key that has no place today is named, not swallowed", () => {
    const { notes } = migrate({ ...old, type: "compute", expression: "1", colour: "red", config: { shape: "round" } })
    assert.match(notes.join(), /left out what has no place today: colour, shape/)
  })

  it("S1-10 a whole file comes over together or not at all, its faults named by path", () => {
    const issues = refused([
      { ...old, type: "request" },
      { ...old, type: "magic" },
      3,
      { ...old, type: "basic" },
      { ...old, type: "basic" },
    ])
    assert.deepStrictEqual(
      issues.map(({ path }) => path),
      ["0.url", "1.type", "2", "4.name"],
    )
    const { tools } = migrate({
      tools: [
        { ...old, type: "basic" },
        { ...old, name: "two words", type: "basic" },
      ],
    })
    assert.deepStrictEqual(
      tools.map(({ name }) => name),
      ["old", "two_words"],
    )
  })

  it("S1-10 a tool in today's form stays as it is", () => {
    const now = { ...old, executionType: "gateway", execution: { url: "https://a.example" } }
    assert.deepEqual<unknown>(one(now), now)
  })

  it("S1-10 what is no tool is refused without a crash", () => {
    let deep: unknown = {}
    for (let n = 0; n < 50_000; n++) deep = { deep }
    for (const value of [
      null,
      3,
      "x",
      [null],
      { tools: [[]] },
      { ...old, type: "__proto__" },
      { ...old, type: "basic", output: deep },
    ])
      assert.isAbove(refused(value).length, 0)
  })
})
