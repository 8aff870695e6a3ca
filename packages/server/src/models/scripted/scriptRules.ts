/** The rules of a scripted model: read from a file; the choice of the rule is pure. */
// edge: reads one file.
import { readFileSync, statSync } from "node:fs"
import { issuesOf } from "@stoa/contract"
import { Result, Schema } from "effect"
import * as jsonc from "jsonc-parser"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const When = Schema.Struct({
  /** The agent's name. */
  agent: Schema.optionalKey(Schema.String),
  /** The step of the run, beginning with 1. */
  step: Schema.optionalKey(Count),
  /** A pattern that the newest text of the run must match. */
  text: Schema.optionalKey(Schema.String),
  /** The tool of the run's last call, and how that ended. */
  tool: Schema.optionalKey(Schema.String),
  outcome: Schema.optionalKey(Schema.Literals(["done", "failed", "refused"])),
  /** A pattern that the result of this call must match, as in `{{result}}`. */
  result: Schema.optionalKey(Schema.String),
})

const Rule = Schema.Struct({
  when: Schema.optionalKey(When),
  say: Schema.optionalKey(Schema.String),
  /** Reasoning before the answer: shown to those who may see the run. */
  reason: Schema.optionalKey(Schema.String),
  call: Schema.optionalKey(
    Schema.Array(Schema.Struct({ tool: Schema.String, input: Schema.optionalKey(Schema.Json) })),
  ),
  /** An HTTP status, a stream that breaks off, or a failure with this text. */
  fail: Schema.optionalKey(Schema.String),
  waitMs: Schema.optionalKey(Count),
  usage: Schema.optionalKey(Schema.Struct({ in: Count, out: Count })),
})
export type Rule = typeof Rule.Type
const Script = Schema.Struct({ $schema: Schema.optionalKey(Schema.String), rules: Schema.Array(Rule) })

const decode = Schema.decodeUnknownResult(Script, { errors: "all", onExcessProperty: "error" })

/** What rules can match in a step. */
export interface Scene {
  readonly agent: string
  readonly step: number
  readonly text: string
  readonly tool?: string | undefined
  readonly outcome?: string | undefined
  readonly result?: string | undefined
}

/** First as a Unicode pattern, then without the flag, for patterns that are not valid with it. */
const patternOf = (text: string): RegExp | undefined => {
  for (const flags of ["u", ""])
    try {
      return new RegExp(text, flags)
    } catch {
      // Tries the other flags.
    }
  return undefined
}

const patterns = new Map<string, RegExp>()
const fits = (pattern: string, text: string): boolean => {
  const known = patterns.get(pattern) ?? patternOf(pattern)
  if (known === undefined) return false
  if (patterns.size < 1000) patterns.set(pattern, known)
  return known.test(text)
}

const applies = (when: NonNullable<Rule["when"]>, scene: Scene): boolean =>
  (when.agent === undefined || when.agent === scene.agent) &&
  (when.step === undefined || when.step === scene.step) &&
  (when.text === undefined || fits(when.text, scene.text)) &&
  (when.tool === undefined || when.tool === scene.tool) &&
  (when.outcome === undefined || when.outcome === scene.outcome) &&
  (when.result === undefined || fits(when.result, scene.result ?? ""))

/** The first rule that matches. */
export const ruleFor = (rules: ReadonlyArray<Rule>, scene: Scene): Rule | undefined =>
  rules.find(({ when }) => when === undefined || applies(when, scene))

/** The rules, or a sentence that says what is wrong with the text. */
const rulesIn = (text: string): Result.Result<ReadonlyArray<Rule>, string> => {
  const errors: Array<jsonc.ParseError> = []
  const value: unknown = jsonc.parse(text, errors, { allowTrailingComma: true })
  if (errors.length > 0) return Result.fail("is not JSON")
  return decode(value).pipe(
    Result.mapError(
      (error) =>
        issuesOf(error).map(({ message, path }) => (path === "" ? message : `${path}: ${message}`))[0] ??
        "has no rules",
    ),
    Result.flatMap(({ rules }) => {
      const bad = rules.flatMap(({ when }, at) =>
        (["text", "result"] as const)
          .filter((field) => when?.[field] !== undefined && !isPattern(when[field]))
          .map((field) => `rules.${at}.when.${field}`),
      )[0]
      return bad === undefined ? Result.succeed(rules) : Result.fail(`${bad}: is not a pattern`)
    }),
  )
}

const isPattern = (text: string): boolean => patternOf(text) !== undefined

const largest = 4 * 1024 * 1024
const read = new Map<string, { readonly stamp: string; readonly rules: ReturnType<typeof rulesIn> }>()

/** The present rules of a file. */
export const rulesOf = (file: string): Result.Result<ReadonlyArray<Rule>, string> => {
  try {
    const { mtimeMs, size } = statSync(file)
    if (size > largest) return Result.fail(`The rules ${file} are larger than 4 MiB.`)
    const stamp = `${mtimeMs}/${size}`
    const known = read.get(file)
    if (known?.stamp === stamp) return known.rules
    const rules = Result.mapError(rulesIn(readFileSync(file, "utf8")), (fault) => `The rules ${file}: ${fault}.`)
    if (read.size > 100) read.clear()
    read.set(file, { stamp, rules })
    return rules
  } catch (cause) {
    return Result.fail(`The rules ${file} cannot be read: ${(cause as Error).message}.`)
  }
}
