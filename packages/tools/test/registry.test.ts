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
} from "../src/index.ts"
import { definition } from "./kit.ts"

const handler = () => Effect.succeed(null)
const accepts = (schema: Schema.Codec<unknown, unknown>) => (value: unknown) =>
  Schema.decodeUnknownExit(schema)(value)._tag === "Success"

describe("types", () => {
  it("S4-06, S4-15, S4-16, S4-17, S4-18 exactly six tool errors exist, with the seed's fields", () => {
    const tags = Object.keys(Contract).filter((name) => /^(Tool|MCP)\w+Error$/.test(name))
    assert.sameMembers(tags, [
      "ToolNotFoundError",
      "ToolExecutionError",
      "ToolTimeoutError",
      "ToolValidationError",
      "MCPConnectionError",
      "ToolAuthorizationError",
    ])
    const all = Contract as unknown as Record<string, { readonly fields: object }>
    const fields = (tag: string) => Object.keys(all[tag]!.fields)
    assert.includeMembers(fields("ToolNotFoundError"), ["message", "toolName", "availableTools"])
    assert.includeMembers(fields("ToolExecutionError"), ["message", "toolName", "input", "cause"])
    assert.includeMembers(fields("ToolTimeoutError"), ["message", "toolName", "timeoutMs"])
    assert.includeMembers(fields("ToolValidationError"), ["message", "toolName", "parameter", "expected", "received"])
    assert.includeMembers(fields("MCPConnectionError"), ["message", "serverName", "transport", "cause"])
    assert.includeMembers(fields("ToolAuthorizationError"), ["message", "toolName", "agentId"])
  })

  it("S4-07 a parameter has one of five types", () => {
    const ok = accepts(ToolParameterSchema)
    const base = { name: "x", description: "", required: true }
    for (const type of ["string", "number", "boolean", "object", "array"]) assert.isTrue(ok({ ...base, type }))
    assert.isFalse(ok({ ...base, type: "integer" }))
    assert.isFalse(ok({ ...base, type: "string", enum: [1] }))
    assert.isTrue(ok({ ...base, type: "string", enum: ["a"], default: "a" }))
  })

  it("S4-08 the literal sets of a definition are closed", () => {
    const ok = accepts(ToolDefinitionSchema)
    const sets = {
      category: ["search", "file", "code", "http", "data", "custom"],
      riskLevel: ["low", "medium", "high", "critical"],
      source: ["builtin", "mcp", "function", "plugin"],
    }
    for (const [field, values] of Object.entries(sets)) {
      for (const value of values) assert.isTrue(ok(definition({ [field]: value })), `${field} ${value}`)
      assert.isFalse(ok(definition({ [field]: "other" })), field)
    }
    assert.isTrue(ok(definition({ returnType: "number" })))
  })

  it("S4-09, S4-10 an input names its agent, an output its time", () => {
    const good = { toolName: "x", arguments: {}, agentId: "a", sessionId: "s" }
    assert.isTrue(accepts(ToolInputSchema)(good))
    const { agentId: _, ...bad } = good
    assert.isFalse(accepts(ToolInputSchema)(bad))
    assert.isTrue(accepts(ToolOutputSchema)({ toolName: "x", success: true, result: 1, executionTimeMs: 0 }))
    assert.isFalse(accepts(ToolOutputSchema)({ toolName: "x", success: true, result: 1 }))
  })

  it("S4-11, S4-12, S4-13, S4-14, X-55 server, request, response and function forms; transports are four", () => {
    const server = { name: "s", version: "1", tools: [], status: "connected" }
    for (const transport of ["stdio", "sse", "websocket", "streamable-http"])
      assert.isTrue(accepts(MCPServerSchema)({ ...server, transport }))
    assert.isFalse(accepts(MCPServerSchema)({ ...server, transport: "carrier-pigeon" }))
    assert.isFalse(accepts(MCPServerSchema)({ ...server, transport: "stdio", status: "unsure" }))
    assert.isTrue(accepts(MCPRequestSchema)({ jsonrpc: "2.0", id: "1", method: "x" }))
    assert.isFalse(accepts(MCPRequestSchema)({ jsonrpc: "1.0", id: 1, method: "x" }))
    assert.isTrue(accepts(MCPResponseSchema)({ jsonrpc: "2.0", id: 1, result: {} }))
    assert.isTrue(accepts(MCPResponseSchema)({ jsonrpc: "2.0", id: 1, error: { code: -1, message: "m", data: 1 } }))
    assert.isTrue(accepts(FunctionCallingToolSchema)({ name: "x", description: "", input_schema: {} }))
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
      assert.deepStrictEqual(names({ category: "search" }), ["one", "three"])
      assert.deepStrictEqual(names({ category: "search", riskLevel: "high" }), ["three"])
      assert.deepStrictEqual(names({ category: "search", riskLevel: "high", source: "builtin" }), [])
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
        assert.deepInclude(yield* Effect.flip(run(bad)), { _tag: "ToolExecutionError", toolName: "add" })
    }),
  )
})
