/** Compute and static tools: what they give, and that an expression can do nothing but compute. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { Kind } from "../../../src/calls/kinds/Kind.ts"
import { computeKind } from "../../../src/calls/kinds/compute/compute.ts"
import { staticKind } from "../../../src/calls/kinds/static.ts"
import { pick, seeded } from "../../hostile.ts"
import { called, configured, context } from "./kinds.ts"

const execution = (expression: string) => ({ operation: "evaluate", expression })
const compute = Effect.fnUntraced(function* (expression: string, input: Record<string, unknown> = {}) {
  const { result } = yield* called(computeKind as unknown as Kind<never>, configured(execution(expression)), input)
  return result
})
/** As a model would give it. */
const given = (expression: unknown, more: Record<string, unknown> = {}) =>
  compute("{{input.expression}}", { expression, ...more })
const value = Effect.fnUntraced(function* (expression: string, input: Record<string, unknown> = {}) {
  return Result.getOrThrow(yield* compute(expression, input))
})
const refusal = (result: Result.Result<unknown, { readonly _tag: string; readonly message: string }>) => {
  if (Result.isSuccess(result)) throw new Error(`it gave ${JSON.stringify(result.success)}`)
  assert.strictEqual(result.failure._tag, "ToolExecutionError")
  return result.failure.message
}

describe("a compute tool", () => {
  it.effect("S1-29 computes the expression it is given", () =>
    Effect.gen(function* () {
      const table: ReadonlyArray<readonly [string, unknown]> = [
        ["2 + 2 * 10", 22],
        ["(2 + 2) * 10", 40],
        ["-2 ** 2", -4],
        ["2 ** 3 ** 2", 512],
        ["2 ** -1", 0.5],
        ["7 % 4 - .5e1", -2],
        ["10 / 4", 2.5],
        ["1 < 2 && 'b' > 'a' ? 'yes' : 'no'", "yes"],
        ["!true || null ?? 3", 3],
        ["sqrt(16) + Math.max(1, 5, 3) + Math.PI * 0", 9],
        ["round(2.345, 2) + round(1.5)", 4.35],
        ["sum([1, 2, 3]) / len([1, 2, 3]) == avg(1, 2, 3)", true],
        ["upper('a') + lower(\"B\") + 1 + true", "Ab1true"],
        ["join(split('a-b-c', '-'), '+')", "a+b+c"],
        ["[1, 'x', [null, false]]", [1, "x", [null, false]]],
        ["[1, [2]] === [1, [2]] && [1] != [2]", true],
        ["slice('hello', 1, 3) + 'x'.length", "el1"],
        ["contains([1, 2], 2) && contains('abc', 'bc') && startsWith('ab', 'a')", true],
        ["number(' 12.5 ') + 1", 13.5],
        ["'tab\\t\\u0041\\''", "tab\tA'"],
      ]
      for (const [expression, expected] of table) {
        assert.deepStrictEqual(Result.getOrThrow(yield* given(expression)), expected, expression)
        assert.deepStrictEqual(yield* value(expression), expected, expression)
      }
      assert.strictEqual(Result.getOrThrow(yield* given(42)), 42)
    }),
  )

  it.effect("S1-29 input stands in an expression as a value, never as part of it", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* value("{{input.a}} * 2 + sqrt(input.b)", { a: 3, b: 16 }), 10)
      assert.strictEqual(yield* value("{{input.a}} * 2", { a: 3 }), 6)
      assert.strictEqual(
        yield* value("{{input.list.1}} + input.o['k'].l[0]", { list: [1, 2], o: { k: { l: [5] } } }),
        7,
      )
      assert.deepStrictEqual(yield* value("{{input.o}} == input.o", { o: { a: [1] } }), true)
      const injected = "1) + process.exit() + (1"
      assert.strictEqual(yield* value("'<' + {{input.t}} + '>'", { t: injected }), `<${injected}>`)
      assert.strictEqual(yield* value("'<{{input.t}}>'", { t: "' + 1 + '" }), "<' + 1 + '>")
      assert.include(refusal(yield* compute("({{input.t}}) * 2", { t: injected })), "takes numbers, but got a string")
      assert.include(refusal(yield* compute("{{input.a.b}} + 1", { a: {} })), '"input.a.b" is missing')
      assert.include(refusal(yield* compute("input.gone + 1", {})), 'an object has no "gone"')
      assert.include(refusal(yield* given(undefined)), '"input.expression" is missing')
      assert.include(refusal(yield* given({ a: 1 })), '"input.expression" is not text')
    }),
  )

  it.effect("S1-29 process.exit() and property escapes are refused, from the model and from input", () =>
    Effect.gen(function* () {
      const escapes = [
        "process.exit()",
        "process",
        "globalThis",
        "this",
        "require('fs')",
        "import('fs')",
        "eval('1')",
        "Function('return 1')()",
        "constructor.constructor('return process')()",
        "input.constructor",
        "input['constructor']",
        "input['const' + 'ructor']",
        "input.__proto__",
        "input['__proto__']",
        "[].constructor",
        "[]['map']",
        "''['constructor']",
        "'x'.at(0)",
        "(1).toString()",
        "Math.constructor",
        "Math['max']",
        "Math.random()",
        "sqrt.constructor",
        "max",
        "input.toString()",
        "`${process}`",
        "() => 1",
        "x = 1",
        "input.a = 1",
        "{a: 1}",
        "1; 2",
        "new Array(5)",
        "typeof input",
        "delete input.a",
        "a++",
        "/x/.test('x')",
        "'\\x41'",
        "${env.PATH}",
        "${secret.KEY}",
        "{{input.expression}}",
        "1 /* c */",
        "2 ^ 3",
        "1_000",
        "0x10",
        "1..2",
        "",
        "(",
        "1 +",
        "max(",
        "[1,]",
        "'open",
        "sqrt()",
        "sqrt(1, 2)",
        "1 / 0",
        "sqrt(-1)",
        "10 ** 999",
        "1e999",
        "'a' * 2",
        "'a' < 1",
        "[1] + [2]",
        "min([])",
      ]
      for (const expression of escapes)
        assert.match(refusal(yield* given(expression)), /^The expression could not be computed: ./, expression)
      assert.include(refusal(yield* given("process.exit()")), '"process" is not known here')
      assert.include(refusal(yield* given("2 ^ 3")), "write ** for a power")
      const own = JSON.parse('{"__proto__": {"x": 1}}') as Record<string, unknown>
      assert.include(refusal(yield* compute("input.__proto__", own)), '"__proto__" is not a member of any value here')
    }),
  )

  it.effect("nothing is endless: length, depth and work have a limit", () =>
    Effect.gen(function* () {
      const long = "x".repeat(1_000_000)
      const refused: ReadonlyArray<readonly [unknown, Record<string, unknown>]> = [
        ["(".repeat(300) + "1" + ")".repeat(300), {}],
        ["-".repeat(300) + "1", {}],
        ["[".repeat(300), {}],
        ["2**".repeat(300) + "2", {}],
        ["1?".repeat(300) + "1" + ":1".repeat(300), {}],
        ["1+".repeat(4000) + "1", {}],
        [`${"input.t+".repeat(1000)}''`, { t: long }],
        [`len(upper(input.t))${"+len(upper(input.t))".repeat(400)}`, { t: long }],
        ["split(input.t, '')", { t: long }],
        [`join(split(input.t, ','), input.t)`, { t: ",".repeat(5000) }],
        ["1".repeat(10_001), {}],
      ]
      for (const [expression, input] of refused) {
        const from = performance.now()
        refusal(yield* given(expression, input))
        assert.isBelow(performance.now() - from, 5000)
      }
      assert.strictEqual(Result.getOrThrow(yield* given("1+".repeat(1000) + "1")), 1001)
    }),
  )

  it.effect("S1-22 a configured expression that cannot be read is a fault by path", () =>
    Effect.sync(() => {
      const faults = (expression: string) => computeKind.faults!(configured(execution(expression)) as never)
      for (const expression of ["{{input.a}} +", "{{x}}", "'{{x}}'", "process.exit()", "${secret.KEY}", "'${env.A}'"])
        assert.deepStrictEqual(
          faults(expression).map(({ path }) => path),
          ["execution.expression"],
          expression,
        )
      for (const fine of ["{{input.expression}}", " {{ input.a.0 }} ", "{{input.a}} + 1", "'{{input.a}}'"])
        assert.deepStrictEqual(faults(fine), [], fine)
    }),
  )

  it("S1-29 20,000 mutated expressions: an answer in JSON or a fault, never anything else, and never long", () => {
    const random = seeded(29)
    const seeds = [
      "2 + 2 * (3 - 1) ** 2",
      "input.list[0].k ?? max(1, input.n) > 3 && !input.b",
      "upper(trim(input.s)) + 'x' + join(split(input.s, ' '), '-')",
      "input['o']['constructor'] || [1, 2, [3]][input.n]",
      "sum(input.nums) / len(input.nums) == avg(input.nums) ? 'a' : \"b\"",
      "{{input.n}} % 2 === 0",
    ]
    const splices = [
      "constructor",
      "__proto__",
      "prototype",
      "process",
      "this",
      "input",
      "Math",
      "(",
      ")",
      "[",
      "]",
      ".",
    ]
    splices.push(
      "'",
      '"',
      "`",
      "${",
      "{{",
      "}}",
      "**",
      "?",
      ":",
      ",",
      "!",
      "\\",
      "\0",
      "=>",
      "=",
      "1e308",
      "null",
      "length",
      "😀",
    )
    const input = { list: [{ k: null }], n: 2, b: false, s: " a b ", o: { x: 1 }, nums: [1, 2, 3] }
    const tool = configured(execution("{{input.expression}}")) as never
    const handler = computeKind.handler(tool)
    const isJson = (it: unknown): boolean => {
      if (it === null || typeof it === "string" || typeof it === "boolean") return true
      if (typeof it === "number") return Number.isFinite(it)
      if (Array.isArray(it)) return it.every(isJson)
      return (
        typeof it === "object" &&
        Object.getPrototypeOf(it) === Object.prototype &&
        it !== Object.prototype &&
        Object.values(it).every(isJson)
      )
    }
    const leaves = [
      "1",
      "2.5",
      "0",
      "'a b'",
      "null",
      "true",
      "input.n",
      "input.s",
      "input.nums",
      "input.list[0].k",
      "PI",
    ]
    /** One that can be read; whether it can be computed is another matter. */
    const grown = (deep: number): string => {
      const inner = () => grown(deep - 1)
      if (deep === 0 || random() < 0.2) return pick(random, leaves)
      const forms = [
        () => `${inner()} ${pick(random, ["+", "-", "*", "/", "%", "**", "==", "<", "&&", "||", "??"])} ${inner()}`,
        () =>
          `${pick(random, ["len", "sum", "max", "round", "upper", "text", "sqrt", "slice"])}(${inner()}, ${inner()})`,
        () => `${pick(random, ["len", "sum", "abs", "upper", "text", "number", "join", "Math.floor"])}(${inner()})`,
        () => `(${inner()} ? ${inner()} : ${inner()})`,
        () => `[${inner()}, ${inner()}][${inner()}]`,
        () => `!${inner()}`,
      ]
      return pick(random, forms)()
    }
    let answers = 0
    let slowest = 0
    for (let round = 0; round < 20_000; round++) {
      let expression = round % 2 === 0 ? grown(4) : pick(random, seeds)
      for (let times = Math.floor(random() * 5); times > 0; times--) {
        const at = Math.floor(random() * (expression.length + 1))
        const until = at + Math.floor(random() * 4)
        const other = pick(random, seeds)
        const from = Math.floor(random() * other.length)
        const inserted = random() < 0.5 ? pick(random, splices) : other.slice(from, from + Math.floor(random() * 12))
        expression = expression.slice(0, at) + inserted + expression.slice(random() < 0.5 ? at : until)
      }
      const from = performance.now()
      const result = Effect.runSync(Effect.result(handler({ ...input, expression }, context)))
      slowest = Math.max(slowest, performance.now() - from)
      if (Result.isSuccess(result)) {
        answers++
        assert.isTrue(isJson(result.success), expression)
      } else assert.strictEqual(result.failure._tag, "ToolExecutionError", expression)
    }
    assert.isAbove(answers, 1000)
    assert.isBelow(slowest, 5000)
  })
})

describe("a static tool", () => {
  it.effect("S1-32 gives its output to the letter, or a fixed acknowledgement", () =>
    Effect.gen(function* () {
      const run = Effect.fnUntraced(function* (execution: object) {
        const { result } = yield* called(staticKind as unknown as Kind<never>, configured(execution, "internal"), {
          x: 1,
        })
        return Result.getOrThrow(result)
      })
      const output = { text: "{{input.x}} ${env.PATH} ${secret.KEY}", list: [1, null, { a: true }] }
      assert.deepStrictEqual(yield* run({ output }), output)
      for (const one of [null, 0, "", false, []]) assert.deepStrictEqual(yield* run({ output: one }), one)
      assert.deepStrictEqual(yield* run({}), { ok: true })
      assert.strictEqual(staticKind.effects, "none")
      assert.isNull(staticKind.preview(configured({ output }, "internal") as never, {}))
    }),
  )
})
