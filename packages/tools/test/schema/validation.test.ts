/** Arguments: the flat list of seed 004, and JSON Schema from strangers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { times } from "../../../../test/long.ts"
import {
  defaultToolsConfig,
  Registry,
  Road,
  type ToolDefinition,
  validateToolInput,
  validateWithSchema,
} from "../../src/index.ts"
import { definition } from "../kit.ts"

const runs = times(5000, 1_000_000)

const flat = definition({
  name: "t",
  parameters: [
    { name: "text", type: "string", description: "", required: true },
    { name: "count", type: "number", description: "", required: false, default: 5 },
    { name: "flag", type: "boolean", description: "", required: false },
    { name: "object", type: "object", description: "", required: false },
    { name: "list", type: "array", description: "", required: false },
    { name: "kind", type: "string", description: "", required: false, enum: ["a", "b"] },
  ],
})
const refused = (args: Record<string, unknown>) => Effect.flip(validateToolInput(flat, args))
const passed = (args: Record<string, unknown>) => validateToolInput(flat, args)

describe("flat parameters", () => {
  it.effect("S4-18, S4-47 what is missing or null: expected is the type, received is undefined", () =>
    Effect.gen(function* () {
      for (const args of [{}, { text: null }, { text: undefined }] as ReadonlyArray<Record<string, unknown>>)
        assert.deepInclude(yield* refused(args), {
          _tag: "ToolValidationError",
          toolName: "t",
          parameter: "text",
          expected: "string",
          received: "undefined",
        })
      assert.match((yield* refused({})).message, /^Missing required parameter "text"\. /)
      assert.match((yield* refused({ text: 1 })).message, /^Parameter "text" expected string, got number\. /)
      // A default is for what may be left out.
      const usual = { name: "text", type: "string" as const, description: "", required: true, default: "x" }
      assert.deepInclude(yield* Effect.flip(validateToolInput(definition({ parameters: [usual] }), {})), {
        parameter: "text",
        expected: "string",
        received: "undefined",
      })
      // What is there is not missing, however little it is.
      const all = [
        { name: "text", type: "string" as const, description: "", required: true },
        { name: "count", type: "number" as const, description: "", required: true },
        { name: "flag", type: "boolean" as const, description: "", required: true },
      ]
      const little = { text: "", count: 0, flag: false }
      assert.deepStrictEqual(yield* validateToolInput(definition({ parameters: all }), little), little)
    }),
  )

  it.effect("S4-46 unknown ones are dropped without a word; beside a missing one, the message says what it takes", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* passed({ text: "x", txt: "y", 1: 1 }), { text: "x", count: 5 })
      assert.match(
        (yield* refused({ txt: "y" })).message,
        /^Missing required parameter "text" \(did you mean it with "txt"\?\)\. Call it as t\(text: /,
      )
    }),
  )

  it.effect("S4-48, S4-50 an absent or null optional takes its default, or stays away", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* passed({ text: "x" }), { text: "x", count: 5 })
      assert.deepStrictEqual(yield* passed({ text: "x", count: null, flag: null }), { text: "x", count: 5 })
    }),
  )

  it.effect("S4-18 S4-49 arrays and objects are told apart; every other type too", () =>
    Effect.gen(function* () {
      const table: ReadonlyArray<readonly [string, unknown, string, string]> = [
        ["object", [], "object", "array"],
        ["list", {}, "array", "object"],
        ["text", 1, "string", "number"],
        ["count", "5", "number", "string"],
        ["flag", "true", "boolean", "string"],
        ["object", "x", "object", "string"],
      ]
      for (const [parameter, value, expected, received] of table)
        assert.deepInclude(yield* refused({ text: "x", [parameter]: value }), { parameter, expected, received })
      assert.deepInclude(yield* passed({ text: "x", object: {}, list: [] }), { object: {}, list: [] })
    }),
  )

  it.effect("S4-18 S4-51 outside an enum: refused with the allowed values", () =>
    Effect.gen(function* () {
      const error = yield* refused({ text: "x", kind: "c" })
      assert.deepInclude(error, { parameter: "kind", expected: "a | b", received: "c" })
      assert.match(error.message, /^Parameter "kind" must be one of: a, b\. /)
      // It binds strings: of another type it says nothing.
      const level = { name: "level", type: "number" as const, description: "", required: true, enum: ["1", "2"] }
      assert.deepStrictEqual(yield* validateToolInput(definition({ parameters: [level] }), { level: 5 }), { level: 5 })
    }),
  )

  it.effect("S4-52 NaN and Infinity are no numbers", () =>
    Effect.gen(function* () {
      for (const value of [Number.NaN, Infinity, -Infinity])
        assert.deepInclude(yield* refused({ text: "x", count: value }), { parameter: "count", expected: "number" })
    }),
  )

  it.effect("S4-54 prototype keys are names like any other, and pollute nothing", () =>
    Effect.gen(function* () {
      const hostile = JSON.parse(
        '{"text":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
      ) as Record<string, unknown>
      assert.deepStrictEqual(Object.keys(yield* passed(hostile)), ["text", "count"])
      assert.isUndefined(({} as Record<string, unknown>)["polluted"])
      const named = definition({
        parameters: [
          { name: "__proto__", type: "object", description: "", required: false, default: { a: 1 } },
          { name: "toString", type: "string", description: "", required: true },
        ],
      })
      assert.deepInclude(yield* Effect.flip(validateToolInput(named, {})), {
        parameter: "toString",
        received: "undefined",
      })
      const got = yield* validateToolInput(named, { toString: "x" })
      assert.strictEqual(Object.getPrototypeOf(got), Object.prototype)
      assert.deepStrictEqual(Object.keys(got), ["__proto__", "toString"])
    }),
  )

  it.effect("S4-55 nothing is coerced: what looks like a number is a string", () =>
    Effect.gen(function* () {
      for (const [name, value] of [
        ["count", "5"],
        ["flag", "true"],
        ["list", "a,b"],
      ] as const)
        assert.strictEqual((yield* refused({ text: "x", [name]: value })).parameter, name)
    }),
  )

  it.effect("G-32 the message has the signature a model can imitate", () =>
    Effect.gen(function* () {
      const { message } = yield* refused({})
      assert.include(
        message,
        'Call it as t(text: string, count?: number = 5, flag?: boolean, object?: object, list?: array, kind?: "a" | "b")',
      )
    }),
  )

  it("any JSON value as arguments ends in a value or a ToolValidationError, and pollutes nothing", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("text", "count", "flag", "object", "list", "kind", "__proto__", "x"),
          fc.jsonValue(),
        ),
        (args) => {
          const exit = Effect.runSyncExit(validateToolInput(flat, args))
          if (exit._tag === "Failure")
            assert.strictEqual((exit.cause.reasons[0] as { error: { _tag: string } }).error._tag, "ToolValidationError")
          assert.isUndefined(({} as Record<string, unknown>)["polluted"])
        },
      ),
      { numRuns: runs, seed: 1 },
    )
  }, 600_000)
})

const withSchema = (inputSchema: Record<string, unknown>): ToolDefinition =>
  definition({ name: "s", inputSchema, parameters: [] })
const check = (inputSchema: Record<string, unknown>, args: Record<string, unknown>, reviewed = true) =>
  Effect.match(validateWithSchema(withSchema(inputSchema), args, reviewed), {
    onSuccess: () => "ok",
    onFailure: (error) => `${error.parameter}: ${error.expected} / ${error.received}`,
  })
const register = (over: Partial<ToolDefinition>) =>
  new Registry(defaultToolsConfig).add({
    definition: { ...withSchema({}), ...over },
    handler: () => Effect.succeed(null),
  })

describe("JSON Schema", () => {
  it.effect("S4-55 a whole schema coerces nothing either, whether it is our own or not", () =>
    Effect.gen(function* () {
      const properties = { count: { type: "number" }, flag: { type: "boolean" }, list: { type: "array" } }
      // The second is not plain: it is compiled, and checked by the compiler alone.
      for (const schema of [
        { type: "object", properties },
        { type: "object", properties: { ...properties, other: { pattern: "^x$" } } },
      ])
        for (const reviewed of [true, false]) {
          assert.strictEqual(yield* check(schema, { count: 5, flag: true, list: ["a", "b"] }, reviewed), "ok")
          assert.strictEqual(yield* check(schema, { count: "5" }, reviewed), 'count: number / "5"')
          assert.strictEqual(yield* check(schema, { flag: "true" }, reviewed), 'flag: boolean / "true"')
          assert.strictEqual(yield* check(schema, { list: "a,b" }, reviewed), 'list: array / "a,b"')
        }
    }),
  )

  it.effect("X-57 a tool with a schema follows it: nested paths, types, enums, extras by its own rule", () =>
    Effect.gen(function* () {
      const schema = {
        type: "object",
        properties: {
          items: {
            type: "array",
            items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          },
          mode: { enum: ["fast", "slow"] },
        },
        required: ["items"],
        additionalProperties: false,
      }
      for (const reviewed of [true, false]) {
        assert.strictEqual(yield* check(schema, { items: [{ name: "x" }], mode: "fast" }, reviewed), "ok")
        assert.strictEqual(yield* check(schema, {}, reviewed), "items: array / undefined")
        assert.strictEqual(
          yield* check(schema, { items: [{ name: "x" }, { name: 1 }] }, reviewed),
          "items.1.name: string / 1",
        )
        assert.strictEqual(yield* check(schema, { items: [{}] }, reviewed), "items.0.name: string / undefined")
        assert.strictEqual(
          yield* check(schema, { items: [], mode: "medium" }, reviewed),
          'mode: "fast" | "slow" / "medium"',
        )
        assert.strictEqual(yield* check(schema, { items: [], extra: 1 }, reviewed), "extra: no such property / a value")
      }
      assert.strictEqual(yield* check({ type: "object" }, { anything: 1 }), "ok")
    }),
  )

  it.effect(
    "X-57 extras are dropped from a flat list, and kept by a schema that allows them; nothing is filled in",
    () =>
      Effect.gen(function* () {
        const args = { text: "x", extra: { deep: 1 } }
        assert.deepStrictEqual(yield* passed(args), { text: "x", count: 5 })
        const properties = { text: { type: "string" }, count: { type: "number", default: 5 } }
        // A list of parameters beside the schema, as an MCP tool has it, changes nothing.
        for (const parameters of [[], flat.parameters])
          for (const reviewed of [true, false]) {
            const both = { ...withSchema({ type: "object", properties }), parameters }
            assert.deepStrictEqual(yield* validateWithSchema(both, args, reviewed), args)
            const call = { input: args, principal: "agent-1" }
            assert.deepStrictEqual(yield* Road.validate({ definition: both, reviewed }, call), args)
          }
      }),
  )

  it.effect("S4-52 NaN and Infinity are no numbers and no integers of a schema, wherever they stand", () =>
    Effect.gen(function* () {
      for (const reviewed of [true, false])
        for (const type of ["number", "integer"]) {
          const of = { type }
          const schema = { type: "object", properties: { n: of, list: { type: "array", items: of } } }
          assert.strictEqual(yield* check(schema, { n: 1, list: [-2] }, reviewed), "ok")
          for (const value of [Number.NaN, Infinity, -Infinity, JSON.parse("1e999") as number]) {
            assert.strictEqual(yield* check(schema, { n: value }, reviewed), `n: ${type} / ${String(value)}`)
            assert.strictEqual(
              yield* check(schema, { list: [1, value] }, reviewed),
              `list.1: ${type} / ${String(value)}`,
            )
          }
        }
    }),
  )

  it.effect("G-32 what does not fit is said in a sentence, with what the tool takes and without a name of it", () =>
    Effect.gen(function* () {
      const message = (inputSchema: Record<string, unknown>, args: Record<string, unknown>, reviewed = true) =>
        Effect.map(Effect.flip(validateWithSchema(withSchema(inputSchema), args, reviewed)), (error) => error.message)
      const object = (properties: Record<string, unknown>, more = {}) => ({ type: "object", properties, ...more })
      for (const reviewed of [true, false])
        for (const [schema, args, said] of [
          [
            object({ n: { type: "string", minLength: 2 } }),
            { n: "x" },
            '"n" must be at least 2 characters long, but is "x"',
          ],
          [
            object({ n: { type: "string", maxLength: 1 } }),
            { n: "xy" },
            '"n" must be at most 1 character long, but is "xy"',
          ],
          [
            object({ n: { type: "array", minItems: 1 } }),
            { n: [] },
            '"n" must be a list of at least 1 item, but is an array',
          ],
          [object({ n: { minimum: 1 } }), { n: 0 }, '"n" must be >= 1, but is 0'],
          [object({ n: { pattern: "^a$" } }), { n: "b" }, '"n" must be a text that matches ^a$, but is "b"'],
          [object({ n: { format: "email" } }), { n: "b" }, '"n" must be a text of the format "email", but is "b"'],
          [object({ n: { not: { const: 1 } } }), { n: 1 }, '"n" must be something else, but is 1'],
          [object({}, { additionalProperties: false }), { x: 1 }, '"x" is not allowed: there is no such property'],
          [object({ n: { type: "number" } }, { required: ["n"] }), {}, '"n" is missing; it must be a number'],
        ] as const) {
          const words = yield* message(schema, args, reviewed)
          assert.strictEqual(words.slice(0, words.indexOf(". Call it as ")), said)
        }
      const broken = object({ n: { $ref: "#/$defs/none" } })
      for (const reviewed of [true, false])
        assert.match(
          yield* message(broken, { n: 1 }, reviewed),
          /^The input cannot be checked, because the schema is broken: can't resolve reference #\/\$defs\/none/,
        )
    }),
  )

  it.effect("2020-12 in full: prefixItems, if/then, dependentRequired, $defs, unevaluatedProperties, formats", () =>
    Effect.gen(function* () {
      const schema = {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $id: "https://example.org/tool",
        type: "object",
        $defs: { point: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }], items: false } },
        properties: {
          at: { $ref: "#/$defs/point" },
          mail: { type: "string", format: "email" },
          card: { type: "string" },
          pin: { type: "string" },
        },
        dependentRequired: { card: ["pin"] },
        unevaluatedProperties: false,
      }
      assert.strictEqual(yield* check(schema, { at: [1, 2], mail: "a@b.org", card: "x", pin: "y" }), "ok")
      assert.notStrictEqual(yield* check(schema, { at: [1, 2, 3] }), "ok")
      assert.notStrictEqual(yield* check(schema, { mail: "no" }), "ok")
      assert.notStrictEqual(yield* check(schema, { card: "x" }), "ok")
      assert.notStrictEqual(yield* check(schema, { other: 1 }), "ok")
      // Compiled twice, the $id must not be in the way.
      assert.strictEqual(yield* check({ ...schema, title: "again" }, { at: [1, 2] }), "ok")
    }),
  )

  it.effect("schemas too large, too deep or too many are refused before they are compiled", () =>
    Effect.gen(function* () {
      let deep: Record<string, unknown> = { type: "string" }
      for (let level = 0; level < 40; level++) deep = { type: "object", properties: { x: deep } }
      const wide = {
        type: "object",
        properties: Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`p${n}`, { type: "string" }])),
      }
      const big = { type: "object", description: "x".repeat(70_000) }
      for (const [schema, words] of [
        [deep, "32 deep"],
        [wide, "2000 nodes"],
        [big, "65536 bytes"],
        [{ type: "array" }, "type object"],
      ] as const) {
        const error = yield* Effect.flip(register({ inputSchema: schema }))
        assert.strictEqual(error.parameter, "inputSchema")
        assert.include(error.expected, words)
        // Arguments have names; a result may be anything, and may have been so before it was asked of arguments.
        if (words === "type object") yield* register({ outputSchema: schema })
        else assert.strictEqual((yield* Effect.flip(register({ outputSchema: schema }))).parameter, "outputSchema")
      }
      assert.strictEqual((yield* Effect.flip(register({ inputSchema: { type: "array" } }))).parameter, "inputSchema")
    }),
  )

  it.effect(
    "a pattern that would run for years takes no time; one RE2 refuses is left to the server and never run here",
    () =>
      Effect.gen(function* () {
        const bomb = `${"a".repeat(40)}!`
        const evil = {
          type: "object",
          properties: {
            x: { type: "string", pattern: "^(a+)+$" },
            y: { type: "string", pattern: "^(?=(a+)+$)(b|a)*\\1$" },
          },
        }
        yield* register({ inputSchema: evil })
        assert.strictEqual(yield* check(evil, { x: "aaa" }), "ok")
        assert.include(yield* check(evil, { x: bomb }), "x:")
        assert.strictEqual(yield* check(evil, { y: bomb }), "ok")
        const keyed = {
          type: "object",
          patternProperties: { "^(x+)+$": { type: "number" }, "(?<=a)b": { type: "number" } },
        }
        assert.include(yield* check(keyed, { xxx: "no" }), "xxx:")
        assert.strictEqual(yield* check(keyed, { ab: "unchecked" }), "ok")
        // Two patterns are two patterns.
        const two = {
          type: "object",
          properties: { a: { type: "string", pattern: "^1$" }, b: { type: "string", pattern: "^2$" } },
        }
        assert.strictEqual(yield* check(two, { a: "1", b: "2" }), "ok")
        assert.include(yield* check(two, { a: "1", b: "1" }), "b:")
      }),
  )

  it.effect("uniqueItems is linear: twenty thousand different objects are checked in time", () =>
    Effect.gen(function* () {
      const schema = { type: "object", properties: { list: { type: "array", uniqueItems: true } } }
      const list = Array.from({ length: 20_000 }, (_, n) => ({ n }))
      assert.strictEqual(yield* check(schema, { list }), "ok")
      assert.include(
        yield* check(schema, {
          list: [
            { a: 1, b: 2 },
            { b: 2, a: 1 },
          ],
        }),
        "list:",
      )
    }),
  )

  it.effect("data nested beyond reason is a validation error before anything recurses into it", () =>
    Effect.gen(function* () {
      const inputSchema = {
        type: "object",
        $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
        $ref: "#/$defs/node",
      }
      const nest = (levels: number) => {
        let nested: Record<string, unknown> = {}
        for (let level = 0; level < levels; level++) nested = { next: nested }
        return nested
      }
      const registry = new Registry(defaultToolsConfig)
      yield* registry.add({ definition: withSchema(inputSchema), handler: () => Effect.succeed(null) })
      yield* registry.add({ definition: flat, handler: () => Effect.succeed(null) })
      const validate = (name: string, args: Record<string, unknown>) =>
        Effect.gen(function* () {
          const call = yield* Road.begin({ tool: name, input: args, principal: "a", space: "s" })
          return yield* Road.validate(yield* registry.get(name), call)
        })
      yield* validate("s", nest(150))
      for (const [name, args] of [
        ["s", nest(100_000)],
        ["t", { text: "x", object: nest(100_000) }],
      ] as const)
        assert.deepInclude(yield* Effect.flip(validate(name, args)), {
          _tag: "ToolValidationError",
          toolName: name,
          received: "more than that",
        })
    }),
  )

  it.effect("a schema that needs exponential time is stopped at its deadline; others are answered meanwhile", () =>
    Effect.gen(function* () {
      // Each level tries both branches of the level below.
      const schema = {
        type: "object",
        $defs: {
          node: {
            anyOf: [
              { properties: { n: { allOf: [{ $ref: "#/$defs/node" }, { $ref: "#/$defs/node" }] } }, required: ["n"] },
              { properties: { n: { allOf: [{ $ref: "#/$defs/node" }, { $ref: "#/$defs/node" }] } }, required: ["z"] },
              { type: "null" },
            ],
          },
        },
        properties: { root: { $ref: "#/$defs/node" } },
      }
      let data: unknown = 1
      for (let level = 0; level < 40; level++) data = { n: data }
      const [slow, quick] = yield* Effect.all(
        [check(schema, { root: data }, false), check({ type: "object", required: ["x"] }, {}, false)],
        { concurrency: "unbounded" },
      )
      assert.include(slow, "within 1000 ms")
      assert.include(quick, "x:")
      assert.strictEqual(yield* check({ type: "object" }, {}, false), "ok")
    }),
  )

  it("any schema from anywhere is compiled, refused or answered: nothing throws, hangs or pollutes", () => {
    const leaf = fc.oneof(
      fc.constantFrom(
        { type: "string" },
        { type: "integer" },
        { enum: [1, "a", null] },
        { const: {} },
        {},
        { pattern: "(" },
        { pattern: "^(a|a)*$" },
        { $ref: "#/nope" },
        { $ref: "https://elsewhere.example/x" },
        { multipleOf: 0 },
        { format: "made-up" },
        { minLength: -1 },
        { type: "nonsense" },
        { type: ["string", 5] },
        { $dynamicRef: "#x" },
        JSON.parse('{"if":true,"then":false}') as object,
      ),
    )
    const schema = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({
          type: fc.constant("object"),
          properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__", "constructor"), tie("any")),
        }),
        fc.record({ anyOf: fc.array(tie("any"), { minLength: 1, maxLength: 3 }) }),
        fc.record({ type: fc.constant("array"), items: tie("any"), uniqueItems: fc.boolean() }),
      ),
    })).any
    return fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom("properties", "anyOf", "items", "required", "x"), schema),
        fc.array(fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.jsonValue()), {
          minLength: 40,
          maxLength: 40,
        }),
        async (inputSchema, inputs) => {
          const tool = withSchema(inputSchema)
          for (const args of inputs) {
            const exit = await Effect.runPromiseExit(validateWithSchema(tool, args, true))
            if (exit._tag === "Failure")
              assert.strictEqual(
                (exit.cause.reasons[0] as { error?: { _tag: string } }).error?._tag,
                "ToolValidationError",
              )
          }
          assert.isUndefined(({} as Record<string, unknown>)["polluted"])
        },
      ),
      { numRuns: runs / 40, seed: 2 },
    )
  }, 600_000)
})
