/** Work on foreign schemas, patterns and values is bounded before it is done, and off the event loop where it can be long. */
import { assert, describe, it } from "@effect/vitest"
import { ToolValidationError } from "@stoa/contract"
import { Effect, Fiber } from "effect"
import fc from "fast-check"
import { defaultToolsConfig, Registry } from "../../src/index.ts"
import { guardSchema } from "../../src/schema/schemaGuard.ts"
import { linear, maxSteps, patternCost } from "../../src/schema/pattern.ts"
import { plainlyFits } from "../../src/schema/plain.ts"
import { TimeShares } from "../../src/schema/timeShares.ts"
import { SchemaThread, threadLimits } from "../../src/schema/schemaThread.ts"
import { admitSchema, checkValue } from "../../src/schema/validateSchema.ts"
import { definition } from "../kit.ts"

/** Each level asks the next one twice. */
const doubling = (levels: number) => ({
  type: "object",
  $defs: Object.fromEntries(
    Array.from({ length: levels }, (_, at) => [
      `d${at}`,
      at === levels - 1
        ? { type: "string" }
        : { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  ),
  properties: { a: { $ref: "#/$defs/d0" } },
})
/** Some ten milliseconds of work on a quiet machine; nothing here depends on how many. */
const slow = doubling(14)

/** Patterns of every sort, most of them larger written out than written down. */
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom("a", ".", "\\d", "\\p{L}", "[a-z]", "[^\\w]", "\\.", "[]a]", "[\\]]"),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => one + other),
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{3,}", "{0,7}", "{30}"))
      .map(([one, times]) => `(?:${one})${times}`),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}|${other})`),
  ),
}))

describe("bounds of patterns", () => {
  it("what a pattern costs written out is never less than what RE2 makes of it", () => {
    let expensive = 0
    fc.assert(
      fc.property(pattern, (text) => {
        const cost = patternCost(text, maxSteps)
        if (cost > maxSteps) return void expensive++
        const found = linear(text)
        // Instructions of the compiled program; a repeat that RE2 refuses has none.
        const program = found === undefined ? 0 : found.programSize()
        assert.isAtMost(program, 4 * cost + 20, text)
      }),
      { numRuns: 2000, seed: 6 },
    )
    assert.isAbove(expensive, 5)
  })

  it("repeats of repeats, long texts and huge counts are never compiled, whatever stands around them", () => {
    fc.assert(
      fc.property(pattern, fc.integer({ min: 50, max: 999 }), (text, times) => {
        for (const bomb of [
          `(?:(?:a{${times}}){50})${text}`,
          `${text}(?:b{0,${times}}){50,}`,
          `(?:${"x".repeat(100)}){${times}}`,
          `a{${"9".repeat(8)}}`,
          "y".repeat(3000),
        ]) {
          assert.isAbove(patternCost(bomb, maxSteps), maxSteps, bomb.slice(0, 100))
          assert.isUndefined(linear(bomb))
        }
      }),
      { numRuns: 100, seed: 7 },
    )
  })

  it("what people write is not too much", () => {
    for (const usual of [
      "^[a-zA-Z0-9_-]{1,128}$",
      "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,63}$",
      "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$",
      "^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$",
      "^.{1,1000}$",
      "^\\p{L}[\\p{L}\\p{N} ]{0,62}$",
    ])
      assert.isDefined(linear(usual), usual)
  })

  it("many patterns are refused by their sum, as keys too, before one of them is compiled", () => {
    const texts = Array.from({ length: 500 }, (_, at) => `[^${at}]{90}`)
    const before = performance.now()
    for (const schema of [
      { properties: Object.fromEntries(texts.map((text, at) => [`p${at}`, { pattern: text }])) },
      { patternProperties: Object.fromEntries(texts.map((text) => [text, {}])) },
      { anyOf: texts.map((text) => ({ pattern: text })) },
    ])
      assert.deepInclude(guardSchema(schema), { refused: "patterns of more than 20000 steps together" })
    // Not a figure: only that nothing was compiled, which takes seconds.
    assert.isBelow(performance.now() - before, 5000)
  })
})

describe("bounds of schemas", () => {
  const register = (schema: object, known: boolean) =>
    new Registry(defaultToolsConfig).add(
      {
        definition: definition({ name: "s", inputSchema: schema as never, parameters: [] }),
        handler: () => Effect.void,
      },
      { reviewed: false, known },
    )

  it.live("a foreign schema that cannot be compiled is refused with the reason, when it is taken and not before", () =>
    Effect.gen(function* () {
      const broken = { type: "object", properties: { a: { $ref: "#/$defs/none" } } }
      const error = yield* Effect.flip(register(broken, false))
      assert.instanceOf(error, ToolValidationError)
      assert.match(error.message, /cannot be checked, because the schema is broken: can't resolve reference/)
      // At a start it was taken before: measured, and compiled by whoever calls it, on the thread.
      yield* register(broken, true)
      const big = { type: "object", description: "x".repeat(70_000) }
      assert.match((yield* Effect.flip(register(big, true))).message, /65536 bytes/)
      assert.match((yield* checkValue(broken, { a: 1 }))?.says ?? "", /broken/)
    }),
  )

  it.live("what of a pattern is left to the server is said by its path", () =>
    Effect.gen(function* () {
      const schema = { type: "object", properties: { a: { type: "string", pattern: "^(?=a)b" } } }
      assert.deepStrictEqual(yield* admitSchema("s", "inputSchema", schema, { by: "", reviewed: false }), [
        "/properties/a/pattern",
      ])
    }),
  )

  it("what is found out on the event loop pays for every character, name and branch it looks at, and then gives up", () => {
    const text = "x".repeat(60_000)
    const wide = Object.fromEntries(Array.from({ length: 4000 }, (_, at) => [`k${at}`, 1]))
    const many = (count: number, schema: object) => ({ anyOf: Array.from({ length: count }, () => schema) })
    const words = Array.from({ length: 100 }, (_, at) => at)
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 900 }),
        fc.constantFrom(
          [{ minLength: 100_000 }, text],
          [{ maxLength: 3 }, text],
          [{ maxProperties: 3 }, wide],
          [{ additionalProperties: false }, wide],
          [{ required: words.map((at) => `r${at}`) }, wide],
          [{ properties: Object.fromEntries(words.map((at) => [`k${at}`, { type: "string" }])) }, wide],
          [{ enum: words }, "none of them"],
        ),
        (count, [schema, value]) => {
          const steps = { left: 5000 }
          assert.isFalse(plainlyFits(many(count, schema), value, steps))
          // What one look costs, and a step for each branch that is only passed by: never all looks of all branches.
          assert.isAtLeast(steps.left, -60_000 / 8 - 2 * count)
          if (value !== "none of them") assert.isBelow(steps.left, 5000 - 2 * 60)
        },
      ),
      { seed: 8 },
    )
  })
})

describe("the thread of schemas", () => {
  const thread = (over: Partial<typeof threadLimits>) => new SchemaThread({ ...threadLimits, ...over })

  it.live("those who ask take turns: one with many slow questions keeps another waiting for one of them", () =>
    Effect.gen(function* () {
      const one = thread({ deadlineMillis: 60_000, share: { burstMillis: 1e9, part: 1 } })
      const done: Array<string> = []
      const ask = (by: string, schema: object, value: unknown) =>
        Effect.map(one.check(by, JSON.stringify(schema).slice(0, 90), schema as never, value), (fault) => {
          done.push(by)
          return fault
        })
      const mallory = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 6 }), () => ask("mallory", slow, { a: 1 }), { concurrency: "unbounded" }),
      )
      yield* Effect.yieldNow
      assert.isUndefined(yield* ask("victoria", { type: "object", minProperties: 1 }, { a: 1 }))
      assert.isAtMost(done.indexOf("victoria"), 2)
      const faults = yield* Fiber.join(mallory)
      for (const fault of faults) assert.strictEqual(fault?.path, "a")
    }),
  )

  it.live("more questions than one may have waiting are refused at once, by that number; those of others are not", () =>
    Effect.gen(function* () {
      const one = thread({ deadlineMillis: 60_000, turnMillis: 120_000, queue: 3 })
      const ask = (by: string) => one.check(by, "slow", slow, { a: 1 })
      const many = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 8 }), () => ask("mallory"), { concurrency: "unbounded" }),
      )
      yield* Effect.yieldNow
      assert.isUndefined(yield* one.check("victoria", "quick", { type: "object", minProperties: 0 }, {}))
      const says = (yield* Fiber.join(many)).map((fault) => fault?.says ?? "")
      assert.strictEqual(says.filter((it) => it.startsWith("cannot be checked now: 3 checks of yours wait")).length, 4)
    }),
  )

  it.live("who has used its share gets no turn until it is refilled, and is told so when that takes too long", () =>
    Effect.gen(function* () {
      const one = thread({ deadlineMillis: 60_000, turnMillis: 300, share: { burstMillis: 0.1, part: 0.000_001 } })
      assert.strictEqual((yield* one.check("mallory", "slow", slow, { a: 1 }))?.path, "a")
      assert.match((yield* one.check("mallory", "quick", { type: "object" }, {}))?.says ?? "", /no turn within 0.3 s/)
      assert.isUndefined(yield* one.check("victoria", "quick", { type: "object" }, {}))
    }),
  )

  it("a share is a burst and then a part of each second, whatever is charged", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 200 }), (charges) => {
        const shares = new TimeShares({ burstMillis: 1000, part: 0.1 })
        let now = 5000
        let used = 0
        for (const millis of charges) {
          now += shares.wait("m", now)
          now += millis
          used += millis
          shares.charge("m", millis, now)
          // The last piece may run over; nothing before it does.
          assert.isAtMost(used, 1000 + 400 + 0.1 * (now - 5000) + millis)
          assert.strictEqual(shares.wait("somebody else", now), 0)
        }
      }),
    )
  })
})
