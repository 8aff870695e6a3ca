/** Types, registry, wire names and function calling. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import fc from "fast-check"
import * as Contract from "@stoa/contract"
import {
  defaultToolsConfig,
  FunctionCallingToolSchema,
  fromWireName,
  MCPRequestSchema,
  MCPResponseSchema,
  MCPServerSchema,
  Registry,
  toolFromFunction,
  ToolDefinitionSchema,
  ToolInputSchema,
  ToolOutputSchema,
  ToolParameterSchema,
  toWireName,
} from "../../src/index.ts"
import { definition } from "../kit.ts"

const handler = () => Effect.succeed(null)
const accepts = (schema: Schema.Codec<unknown, unknown>) => (value: unknown) =>
  Schema.decodeUnknownExit(schema)(value)._tag === "Success"

/**
 * The schema has these fields, and keeps each: without an optional one it takes the value, without any other it does not,
 * and each is refused where it is of another kind.
 */
const hasFields = (
  schema: Schema.Codec<unknown, unknown>,
  whole: Readonly<Record<string, unknown>>,
  wrong: Readonly<Record<string, unknown>>,
  optional: ReadonlyArray<string>,
) => {
  const ok = accepts(schema)
  assert.isTrue(ok(whole), JSON.stringify(whole))
  const read = Schema.decodeUnknownSync(schema)(whole) as Readonly<Record<string, unknown>>
  for (const [key, value] of Object.entries(whole)) assert.deepStrictEqual(read[key], value, `${key} is kept`)
  for (const key of Object.keys(whole)) {
    const { [key]: _, ...without } = whole
    assert.strictEqual(ok(without), optional.includes(key), `without ${key}`)
    if (Object.hasOwn(wrong, key)) assert.isFalse(ok({ ...whole, [key]: wrong[key] }), `another kind of ${key}`)
  }
}

describe("types", () => {
  it("S4-06, S4-15, S4-16, S4-17, S4-18, S4-19, S4-20 exactly six tool errors exist, with the seed's fields", () => {
    const tags = Object.keys(Contract).filter((name) => /^(Tool|MCP)\w+Error$/.test(name))
    const errors: ReadonlyArray<readonly [tag: string, fields: Record<string, unknown>, ...Array<string>]> = [
      ["ToolNotFoundError", { toolName: "t", availableTools: ["a"] }, "availableTools"],
      ["ToolExecutionError", { toolName: "t", input: { a: 1 }, cause: "c" }, "input", "cause"],
      ["ToolTimeoutError", { toolName: "t", timeoutMs: 5 }],
      ["ToolValidationError", { toolName: "t", parameter: "p", expected: "e", received: "r" }],
      ["MCPConnectionError", { serverName: "s", transport: "stdio", cause: "c" }, "cause"],
      ["ToolAuthorizationError", { toolName: "t", agentId: "a" }],
    ]
    assert.sameMembers(
      tags,
      errors.map(([tag]) => tag),
    )
    const all = Contract as unknown as Record<string, Schema.Codec<unknown, unknown>>
    const wrong = {
      _tag: "OtherError",
      message: 1,
      toolName: 1,
      availableTools: "a",
      timeoutMs: "5",
      parameter: 1,
      expected: 1,
      received: 1,
      serverName: 1,
      transport: 1,
      agentId: 1,
    }
    for (const [tag, fields, ...optional] of errors)
      hasFields(all[tag]!, { _tag: tag, message: "m", ...fields }, wrong, optional)
  })

  it("S4-07 a parameter has a name, one of five types, a description, whether it is required, a default, an enum", () => {
    const ok = accepts(ToolParameterSchema)
    const whole = { name: "x", type: "string", description: "", required: true, default: "a", enum: ["a"] }
    const wrong = { name: 1, type: "integer", description: 1, required: "yes", enum: [1] }
    hasFields(ToolParameterSchema, whole, wrong, ["default", "enum"])
    assert.deepStrictEqual(ToolParameterSchema.fields.type.literals, ["string", "number", "boolean", "object", "array"])
    for (const type of ToolParameterSchema.fields.type.literals) assert.isTrue(ok({ ...whole, type }), type)
    const back: unknown = Schema.encodeSync(ToolParameterSchema)(Schema.decodeUnknownSync(ToolParameterSchema)(whole))
    assert.deepStrictEqual(back, whole)
  })

  it("S4-08 a definition has the seed's fields, and its literal sets are closed", () => {
    const ok = accepts(ToolDefinitionSchema)
    const whole = { ...definition(), returnType: "number", category: "data" }
    const wrong = {
      name: 1,
      description: 1,
      parameters: [{}],
      returnType: 1,
      category: "other",
      riskLevel: "none",
      timeoutMs: "5000",
      requiresApproval: "no",
      source: "other",
    }
    hasFields(ToolDefinitionSchema, whole, wrong, ["returnType", "category"])
    assert.deepStrictEqual(Contract.ToolCategory.literals, ["search", "file", "code", "http", "data", "custom"])
    assert.deepStrictEqual(Contract.RiskLevel.literals, ["low", "medium", "high", "critical"])
    // The fifth is the house's own: a tool that is written down rather than programmed.
    assert.deepStrictEqual(Contract.ToolSource.literals, ["builtin", "mcp", "function", "plugin", "configured"])
    for (const category of Contract.ToolCategory.literals) assert.isTrue(ok({ ...whole, category }), category)
    for (const riskLevel of Contract.RiskLevel.literals) assert.isTrue(ok({ ...whole, riskLevel }), riskLevel)
    for (const source of Contract.ToolSource.literals) assert.isTrue(ok({ ...whole, source }), source)
  })

  it("S4-09, S4-10 an input names tool, arguments, agent and session, an output its tool, success, result and time", () => {
    const input = { toolName: "x", arguments: {}, agentId: "a", sessionId: "s", correlationId: "c" }
    const ids = { toolName: 1, agentId: 1, sessionId: 1, correlationId: 1 }
    hasFields(ToolInputSchema, input, { ...ids, arguments: "x" }, ["correlationId"])
    const output = { toolName: "x", success: true, result: 1, error: "e", executionTimeMs: 0, metadata: { a: 1 } }
    const wrong = { toolName: 1, success: "yes", error: 1, executionTimeMs: "0", metadata: "m" }
    hasFields(ToolOutputSchema, output, wrong, ["error", "metadata"])
    assert.isFalse(accepts(ToolOutputSchema)({ ...output, executionTimeMs: Number.NaN }))
  })

  it("S4-11, S4-12, S4-13, S4-14, X-55 server, request, response and function forms; transports are four", () => {
    const server = {
      name: "s",
      version: "1",
      transport: "stdio",
      endpoint: "http://x",
      command: "c",
      args: ["a"],
      tools: ["t"],
      status: "connected",
    }
    const wrongServer = {
      name: 1,
      version: 1,
      transport: "carrier-pigeon",
      endpoint: 1,
      command: 1,
      args: [1],
      tools: [{}],
      status: "unsure",
    }
    hasFields(MCPServerSchema, server, wrongServer, ["endpoint", "command", "args"])
    assert.deepStrictEqual(Contract.MCPTransport.literals, ["stdio", "sse", "websocket", "streamable-http"])
    for (const transport of Contract.MCPTransport.literals)
      assert.isTrue(accepts(MCPServerSchema)({ ...server, transport }), transport)
    assert.deepStrictEqual(MCPServerSchema.fields.status.literals, ["connected", "disconnected", "error"])
    for (const status of MCPServerSchema.fields.status.literals)
      assert.isTrue(accepts(MCPServerSchema)({ ...server, status }), status)
    for (const id of ["1", 1]) {
      const request = { jsonrpc: "2.0", id, method: "x", params: {} }
      hasFields(MCPRequestSchema, request, { jsonrpc: "1.0", id: null, method: 1 }, ["params"])
      const response = { jsonrpc: "2.0", id, result: {}, error: { code: -1, message: "m", data: 1 } }
      hasFields(MCPResponseSchema, response, { jsonrpc: "1.0", id: null, error: "e" }, ["result", "error"])
    }
    for (const id of [null, true, {}, ["1"]])
      assert.isFalse(accepts(MCPRequestSchema)({ jsonrpc: "2.0", id, method: "x" }), `the id ${JSON.stringify(id)}`)
    const error = (over: object) => accepts(MCPResponseSchema)({ jsonrpc: "2.0", id: 1, error: over })
    assert.isTrue(error({ code: -1, message: "m" }))
    assert.isFalse(error({ message: "m" }))
    assert.isFalse(error({ code: -1 }))
    assert.isFalse(error({ code: "-1", message: "m" }))
    assert.isFalse(error({ code: -1, message: 1 }))
    // Nothing of a response is lost where it is decoded.
    const decode = Schema.decodeUnknownSync(MCPResponseSchema)
    for (const response of [
      { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "t" }] } },
      { jsonrpc: "2.0", id: "1", result: null },
      { jsonrpc: "2.0", id: 1, error: { code: -32_601, message: "no such method", data: { method: "x" } } },
      { jsonrpc: "2.0", id: 1, error: { code: -32_601, message: "no such method" } },
    ])
      assert.deepStrictEqual<unknown>(decode(response), response)
    const exported = { name: "x", description: "", input_schema: {} }
    hasFields(FunctionCallingToolSchema, exported, { name: 1, description: 1, input_schema: "x" }, [])
  })
})

describe("Registry", () => {
  const filled = Effect.gen(function* () {
    const registry = new Registry(defaultToolsConfig)
    yield* registry.add({
      definition: definition({ name: "one", category: "search", riskLevel: "low", source: "builtin" }),
      handler,
    })
    yield* registry.add({
      definition: definition({ name: "two", category: "file", riskLevel: "high", source: "builtin" }),
      handler,
    })
    yield* registry.add({
      definition: definition({ name: "three", category: "search", riskLevel: "high", source: "mcp" }),
      handler,
    })
    return registry
  })

  it.effect("S4-42, G-31 filters combine with AND, no filter gives all, in the order they came", () =>
    Effect.gen(function* () {
      const registry = yield* filled
      const names = (filter?: object) => registry.list(filter).map((one) => one.name)
      assert.deepStrictEqual(names(), ["one", "two", "three"])
      const table: ReadonlyArray<readonly [category: string, riskLevel: string, source: string, expected: string]> = [
        ["search", "", "", "one three"],
        ["file", "", "", "two"],
        ["", "high", "", "two three"],
        ["", "low", "", "one"],
        ["", "", "builtin", "one two"],
        ["", "", "mcp", "three"],
        ["search", "high", "", "three"],
        ["search", "", "builtin", "one"],
        ["", "high", "builtin", "two"],
        ["file", "high", "builtin", "two"],
        ["search", "high", "builtin", ""],
        ["data", "", "", ""],
      ]
      for (const [category, riskLevel, source, expected] of table) {
        const given = Object.entries({ category, riskLevel, source }).filter(([, value]) => value !== "")
        assert.strictEqual(names(Object.fromEntries(given)).join(" "), expected, JSON.stringify(given))
      }
    }),
  )

  it("S4-34, S4-59, S4-74, S4-83, S4-93, S4-94, S4-96 the defaults are the seed's", () => {
    assert.deepStrictEqual(defaultToolsConfig, {
      execution: { defaultTimeoutMs: 30_000, maxTimeoutMs: 300_000, sandboxEnabled: true },
      mcp: { protocolVersion: undefined, connectionTimeoutMs: 10_000, requestTimeoutMs: 30_000, maxRetries: 3 },
      registry: { maxTools: 1000, allowDuplicateNames: false },
      security: { requireAuthorizationForAll: true, blockHighRiskWithoutApproval: true, allowedFilePathPrefix: "." },
      builtinTools: ["web-search", "file-read", "file-write", "http-get", "code-execute"],
    })
  })

  it.effect("S4-34 a thousand tools have room, and the next is refused", () =>
    Effect.gen(function* () {
      const registry = new Registry(defaultToolsConfig)
      for (let n = 0; n < 1000; n++) yield* registry.add({ definition: definition({ name: `t${n}` }), handler })
      const full = yield* Effect.flip(registry.add({ definition: definition({ name: "more" }), handler }))
      assert.deepInclude(full, { parameter: "name", expected: "at most 1000 tools" })
      const twice = yield* Effect.flip(registry.add({ definition: definition({ name: "t5" }), handler }))
      assert.deepInclude(twice, { parameter: "name", expected: "a name no other tool has" })
      assert.strictEqual(registry.size, 1000)
    }),
  )

  it.effect(
    "S4-53, S4-59 a bad default, a timeout of nothing and a broken definition are refused; 600000 ms becomes 300000",
    () =>
      Effect.gen(function* () {
        const registry = new Registry(defaultToolsConfig)
        const parameter = { name: "n", type: "number" as const, description: "", required: false }
        const bad: ReadonlyArray<readonly [object, string]> = [
          [{ parameters: [{ ...parameter, default: "five" }] }, "n"],
          [{ parameters: [{ ...parameter, default: Number.NaN }] }, "n"],
          [{ parameters: [{ ...parameter, type: "string", enum: ["a"], default: "b" }] }, "n"],
          [{ parameters: [parameter, parameter] }, "n"],
          [{ timeoutMs: 0 }, "timeoutMs"],
          [{ timeoutMs: -1 }, "timeoutMs"],
          [{ riskLevel: "enormous" }, "definition"],
          [{ name: "with space" }, "name"],
          [{ name: "" }, "name"],
        ]
        for (const [over, field] of bad) {
          const error = yield* Effect.flip(registry.add({ definition: definition(over), handler }))
          assert.strictEqual(error.parameter, field, JSON.stringify(over))
        }
        assert.strictEqual(registry.size, 0)
        yield* registry.add({ definition: definition({ timeoutMs: 600_000 }), handler })
        assert.strictEqual((yield* registry.get("add")).definition.timeoutMs, 300_000)
      }),
  )

  it.effect("S4-44, S4-81 both vendors' forms: required exact, enum kept, a whole schema unchanged (S4-38)", () =>
    Effect.gen(function* () {
      const registry = new Registry(defaultToolsConfig)
      const parameters = [
        { name: "q", type: "string" as const, description: "what", required: true },
        {
          name: "lang",
          type: "string" as const,
          description: "which",
          required: false,
          enum: ["en", "de"],
          default: "en",
        },
      ]
      const inputSchema = {
        type: "object",
        properties: { deep: { type: "object", properties: { list: { type: "array", items: { type: "integer" } } } } },
        additionalProperties: false,
      }
      yield* registry.add({ definition: definition({ name: "flat", parameters }), handler })
      yield* registry.add({ definition: definition({ name: "deep", inputSchema }), handler })
      const { anthropic, openai } = registry.formats()
      assert.deepStrictEqual(anthropic[0], {
        name: "flat",
        description: "Add two numbers",
        input_schema: {
          type: "object",
          properties: {
            q: { type: "string", description: "what" },
            lang: { type: "string", description: "which", enum: ["en", "de"], default: "en" },
          },
          required: ["q"],
        },
      })
      assert.deepStrictEqual(openai[0], {
        type: "function",
        function: { name: "flat", description: "Add two numbers", parameters: anthropic[0]!.input_schema },
      })
      assert.strictEqual(anthropic[1]!.input_schema, inputSchema)
      assert.deepStrictEqual(openai[1], {
        type: "function",
        function: { name: "deep", description: "Add two numbers", parameters: inputSchema },
      })
      assert.strictEqual(registry.formats().anthropic, anthropic)
      registry.remove("flat")
      assert.strictEqual(registry.formats().anthropic.length, 1)
    }),
  )

  it.effect("S4-80, X-42 every exported name is legal, reversible, and collisions are refused", () =>
    Effect.gen(function* () {
      const registry = new Registry(defaultToolsConfig)
      const names = [
        "server/tool",
        "a.b:c",
        "日本/検索",
        "x".repeat(128),
        `${"y".repeat(100)}/tool`,
        "a_x2f_b",
        "_",
        "a_/b",
      ]
      for (const name of names) yield* registry.add({ definition: definition({ name }), handler })
      const wire = registry.formats().anthropic.map((tool) => tool.name)
      for (const name of wire) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
      assert.strictEqual(new Set(wire).size, names.length)
      for (const [at, name] of names.entries()) assert.strictEqual(registry.find(wire[at]!)?.definition.name, name)
      assert.strictEqual(toWireName("server/tool"), "server__tool")
      const clash = yield* Effect.flip(registry.add({ definition: definition({ name: "server__tool" }), handler }))
      assert.strictEqual(clash.parameter, "name")
    }),
  )

  it("a wire name that was not cut leads back to its name, and no two names share one", () => {
    const name = fc.stringMatching(/^[a-cx_/.é-]{1,14}$/)
    fc.assert(
      fc.property(name, name, (one, other) => {
        const wire = toWireName(one)
        assert.match(wire, /^[A-Za-z0-9_-]{1,64}$/)
        if (wire.length < 64) assert.strictEqual(fromWireName(wire), one)
        if (one !== other) assert.notStrictEqual(toWireName(other), wire)
      }),
      { numRuns: 20_000, seed: 4080 },
    )
  })

  it.effect("S4-79 a native function is a tool: sync, async, Effect, throwing", () =>
    Effect.gen(function* () {
      const run = (native: (args: Readonly<Record<string, unknown>>) => unknown) => {
        const { source: _, ...rest } = definition()
        const tool = toolFromFunction(rest, native)
        assert.strictEqual(tool.definition.source, "function")
        return tool.handler({ a: 1, b: 2 }, {} as never)
      }
      assert.strictEqual(yield* run((args) => (args["a"] as number) + 1), 2)
      assert.strictEqual(yield* run((args) => Promise.resolve(args["b"])), 2)
      assert.strictEqual(yield* run(() => Effect.succeed(3)), 3)
      for (const bad of [
        () => {
          throw new Error("sync")
        },
        () => Promise.reject(new Error("async")),
        () => Effect.fail("effect"),
      ])
        assert.deepInclude(yield* Effect.flip(run(bad)), {
          _tag: "ToolExecutionError",
          toolName: "add",
          input: { a: 1, b: 2 },
        })
    }),
  )
})
