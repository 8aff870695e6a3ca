/** All that is wrong with the arguments is told at once, with what was probably meant. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { validateToolInput, validateWithSchema } from "../../src/index.ts"
import { definition } from "../kit.ts"

const inputSchema = {
  type: "object",
  properties: {
    folder: { type: "string" },
    mode: { enum: ["fast", "slow"] },
    depth: { type: "integer" },
  },
  required: ["folder", "depth"],
  additionalProperties: false,
}
const saidOf = (schema: Record<string, unknown>, args: Record<string, unknown>, reviewed: boolean) =>
  Effect.flip(validateWithSchema(definition({ name: "wipe", parameters: [], inputSchema: schema }), args, reviewed))

describe("faults", () => {
  for (const reviewed of [true, false])
    it.live(`${reviewed ? "in place" : "on the thread"}: each place once, the first one in the fields`, () =>
      Effect.gen(function* () {
        const error = yield* saidOf(inputSchema, { foldr: "logs", mode: "fasst", depth: "x" }, reviewed)
        assert.deepInclude(error, { parameter: "folder", expected: "string", received: "undefined" })
        assert.strictEqual(
          error.message,
          '"folder" is missing; it must be a string. "foldr" is not allowed: there is no such property (did you mean "folder"?). "mode" must be "fast" | "slow", but is "fasst" (did you mean "fast"?). "depth" must be an integer, but is "x". Call it as wipe(folder: string, mode?: "fast" | "slow", depth: integer)',
        )
      }),
    )

  it.live("a name that is let through is named with the one that is missing", () =>
    Effect.gen(function* () {
      const { additionalProperties: _, ...open } = inputSchema
      const error = yield* saidOf(open, { foldr: "logs", depth: 1 }, true)
      assert.match(error.message, /^"folder" is missing; it must be a string \(did you mean it with "foldr"\?\)\. Call/)
      const far = yield* saidOf(open, { elsewhere: "logs", depth: 1, mode: "never" }, true)
      assert.notMatch(far.message, /did you mean/)
    }),
  )

  it.live("of alternatives only the first error is told, and many faults are ten", () =>
    Effect.gen(function* () {
      const one = { anyOf: [{ type: "string" }, { type: "number" }] }
      const error = yield* saidOf({ type: "object", properties: { one } }, { one: null }, true)
      assert.strictEqual(error.message.match(/"one" must/g)?.length, 1)
      const names = Array.from({ length: 30 }, (_, at) => `f${at}`)
      const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]))
      const many = yield* saidOf({ type: "object", properties, required: names }, {}, true)
      assert.strictEqual(many.message.match(/is missing/g)?.length, 10)
    }),
  )

  it.live("where a schema could make millions of errors, the first is enough", () =>
    Effect.gen(function* () {
      const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] })
      const $defs = Object.fromEntries(
        Array.from({ length: 25 }, (_, at) => [`d${at}`, at === 24 ? { type: "string" } : twice(`d${at + 1}`)]),
      )
      const schema = { type: "object", properties: { a: { $ref: "#/$defs/d0" }, b: { type: "string" } }, $defs }
      assert.match((yield* saidOf(schema, { a: 1, b: 1 }, false)).message, /^"a" must be a string, but is 1\. Call/)
      const items = { allOf: Array.from({ length: 200 }, () => ({ type: "string" })) }
      const long = { list: Array.from({ length: 50_000 }, () => 1) }
      const big = yield* saidOf({ type: "object", properties: { list: { type: "array", items } } }, long, false)
      assert.match(big.message, /^"list\.0" must be a string, but is 1\. Call/)
    }),
  )

  it.effect("a flat list: all at once too", () =>
    Effect.gen(function* () {
      const flat = definition({
        name: "search",
        parameters: [
          { name: "query", type: "string", description: "", required: true },
          { name: "kind", type: "string", description: "", required: false, enum: ["news", "images"] },
        ],
      })
      const error = yield* Effect.flip(validateToolInput(flat, { qery: "x", kind: "newz" }))
      assert.deepInclude(error, { parameter: "query", received: "undefined" })
      assert.match(
        error.message,
        /^Missing required parameter "query" \(did you mean it with "qery"\?\)\. Parameter "kind" must be one of: news, images \(did you mean "news"\?\)\. Call it as /,
      )
    }),
  )
})
