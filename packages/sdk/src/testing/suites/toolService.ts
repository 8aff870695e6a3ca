/** Seed 004: a tool service in a program's own process. Nothing crosses a wire, so the world is the service itself. */
import { casesOf, expectTrue, expectEqual, type SuiteCase } from "./suite.ts"

interface Parameter {
  readonly name: string
  readonly type: "string" | "number" | "boolean" | "object" | "array"
  readonly description: string
  readonly required: boolean
  readonly default?: unknown
  readonly enum?: ReadonlyArray<string>
}

export interface ServiceTool {
  readonly name: string
  readonly description: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly category?: "search" | "file" | "code" | "http" | "data" | "custom"
  readonly riskLevel: "low" | "medium" | "high" | "critical"
  readonly timeoutMs: number
  readonly requiresApproval: boolean
  readonly source: "function"
}

type Arguments = Readonly<Record<string, unknown>>

/** The result, or the error with its tag and fields. */
export type ServiceOutcome =
  | { readonly toolName: string; readonly success: boolean; readonly result: unknown; readonly executionTimeMs: number }
  | (Readonly<Record<string, unknown>> & { readonly _tag: string })

export interface ServiceWorld {
  readonly register: (tool: ServiceTool, handler: (input: Arguments) => Promise<unknown>) => Promise<void>
  /** Never rejects: its failure is the outcome. `agentId` "refused" may execute nothing. */
  readonly execute: (toolName: string, input: Arguments, agentId?: string) => Promise<ServiceOutcome>
  readonly list: (filter?: {
    readonly category?: string
    readonly riskLevel?: string
  }) => Promise<ReadonlyArray<{ readonly name: string }>>
  readonly formats: () => Promise<
    ReadonlyArray<{ readonly name: string; readonly description: string; readonly input_schema: unknown }>
  >
  /** The audit so far: one entry per call. */
  readonly audited: () => ReadonlyArray<{ readonly resource: string; readonly result: string }>
}

/** The tool that most cases use. */
export const addition = (over: Partial<ServiceTool> = {}): ServiceTool => ({
  name: "add",
  description: "Add two numbers",
  parameters: [
    { name: "a", type: "number", description: "First number", required: true },
    { name: "b", type: "number", description: "Second number", required: true },
  ],
  riskLevel: "low",
  timeoutMs: 5000,
  requiresApproval: false,
  source: "function",
  ...over,
})
const add = (input: Arguments) => Promise.resolve(Number(input["a"]) + Number(input["b"]))

const tagOf = (outcome: ServiceOutcome): string => ("_tag" in outcome ? outcome._tag : "done")
const resultOf = (outcome: ServiceOutcome): unknown => ("_tag" in outcome ? outcome : outcome.result)

export const toolServiceSuite = (open: () => Promise<ServiceWorld>): ReadonlyArray<SuiteCase> =>
  casesOf(open, [
    [
      "S4-27",
      "a tool that is registered runs, and says how long it took",
      async ({ execute, register }) => {
        await register(addition(), add)
        const outcome = await execute("add", { a: 2, b: 3 })
        expectTrue("success" in outcome && outcome.success === true, "it succeeds")
        expectEqual([resultOf(outcome), "toolName" in outcome && outcome.toolName], [5, "add"], "the output")
        expectTrue("executionTimeMs" in outcome && Number(outcome.executionTimeMs) >= 0, "the time")
      },
    ],
    [
      "S4-15",
      "an unknown tool is said to be unknown, with those there are",
      async ({ execute, register }) => {
        await register(addition(), add)
        const outcome = (await execute("subtract", {})) as Readonly<Record<string, unknown>>
        expectEqual([outcome["_tag"], outcome["toolName"]], ["ToolNotFoundError", "subtract"], "the error")
        expectTrue((outcome["availableTools"] as ReadonlyArray<string>).includes("add"), "the available ones")
      },
    ],
    [
      "S4-22",
      "who may not is told so before its input is looked at, and after the tool is found",
      async ({ execute, register }) => {
        let ran = false
        await register(addition(), () => {
          ran = true
          return Promise.resolve(0)
        })
        expectEqual(tagOf(await execute("add", { a: "x" }, "refused")), "ToolAuthorizationError", "bad input")
        expectEqual(tagOf(await execute("subtract", {}, "refused")), "ToolNotFoundError", "an unknown tool")
        expectEqual(ran, false, "the handler")
      },
    ],
    [
      "S4-26 S4-46 S4-48",
      "a handler gets what is declared: other keys are dropped, defaults are filled in",
      async ({ execute, register }) => {
        const parameters: ReadonlyArray<Parameter> = [
          { name: "query", type: "string", description: "Words", required: true },
          { name: "most", type: "number", description: "How many", required: false, default: 5 },
          { name: "lang", type: "string", description: "Language", required: false },
        ]
        await register(addition({ name: "find", parameters }), (input) => Promise.resolve({ ...input }))
        expectEqual(resultOf(await execute("find", { query: "x", extra: 1 })), { query: "x", most: 5 }, "the arguments")
      },
    ],
    [
      "S4-47 S4-49 S4-51 S4-52",
      "what is missing, of another type, outside its enum or no number is refused by name",
      async ({ execute, register }) => {
        const parameters: ReadonlyArray<Parameter> = [
          { name: "n", type: "number", description: "A number", required: true },
          { name: "o", type: "object", description: "An object", required: false },
          { name: "l", type: "array", description: "A list", required: false },
          { name: "e", type: "string", description: "One of two", required: false, enum: ["red", "blue"] },
        ]
        await register(addition({ name: "odd", parameters }), () => Promise.resolve(1))
        for (const [input, parameter] of [
          [{}, "n"],
          [{ n: null }, "n"],
          [{ n: Number.NaN }, "n"],
          [{ n: 1, o: [] }, "o"],
          [{ n: 1, l: {} }, "l"],
          [{ n: 1, e: "green" }, "e"],
        ] as const) {
          const outcome = (await execute("odd", input)) as Readonly<Record<string, unknown>>
          expectEqual(
            [outcome["_tag"], outcome["parameter"]],
            ["ToolValidationError", parameter],
            JSON.stringify(input),
          )
        }
        const missing = (await execute("odd", {})) as Readonly<Record<string, unknown>>
        expectEqual([missing["expected"], missing["received"]], ["number", "undefined"], "what was missing")
      },
    ],
    [
      "S4-16 S4-57",
      "a handler that fails or throws is its call's failure",
      async ({ execute, register }) => {
        await register(addition({ name: "fails", parameters: [] }), () => Promise.reject(new Error("no")))
        await register(addition({ name: "throws", parameters: [] }), () => {
          throw new Error("boom")
        })
        for (const name of ["fails", "throws"]) expectEqual(tagOf(await execute(name, {})), "ToolExecutionError", name)
      },
    ],
    [
      "S4-17 S4-56",
      "a handler that takes too long is given up, by its own name and limit",
      async ({ execute, register }) => {
        await register(addition({ name: "slow", parameters: [], timeoutMs: 50 }), () => new Promise(() => {}))
        const outcome = (await execute("slow", {})) as Readonly<Record<string, unknown>>
        expectEqual(
          [outcome["_tag"], outcome["toolName"], outcome["timeoutMs"]],
          ["ToolTimeoutError", "slow", 50],
          "the error",
        )
      },
    ],
    [
      "S4-42",
      "tools are listed by category and risk, both of which must fit",
      async ({ list, register }) => {
        await register(addition({ name: "one", category: "data", riskLevel: "low" }), add)
        await register(addition({ name: "two", category: "data", riskLevel: "high" }), add)
        await register(addition({ name: "three", category: "http", riskLevel: "high" }), add)
        const named = async (filter: object) => (await list(filter)).map(({ name }) => name).toSorted()
        expectEqual(await named({ category: "data" }), ["one", "two"], "by category")
        expectEqual(await named({ category: "data", riskLevel: "high" }), ["two"], "by both")
      },
    ],
    [
      "S4-44",
      "tools are shown to a model by name, description and schema",
      async ({ formats, register }) => {
        const parameters: ReadonlyArray<Parameter> = [
          { name: "colour", type: "string", description: "Which", required: true, enum: ["red", "blue"] },
          { name: "many", type: "number", description: "How many", required: false },
        ]
        await register(addition({ name: "paint", description: "Paints.", parameters }), add)
        const shown = (await formats()).find(({ name }) => name === "paint")
        const schema = shown?.input_schema as Readonly<Record<string, unknown>>
        expectEqual(
          [shown?.description, schema["type"], schema["required"]],
          ["Paints.", "object", ["colour"]],
          "the tool",
        )
        const properties = schema["properties"] as Readonly<Record<string, Readonly<Record<string, unknown>>>>
        expectEqual(properties["colour"]?.["enum"], ["red", "blue"], "the enum")
      },
    ],
    [
      "S4-30",
      "every call is audited once, also one that failed or was refused",
      async ({ audited, execute, register }) => {
        await register(addition(), add)
        await execute("add", { a: 1, b: 1 })
        await execute("add", { a: 1, b: 1 }, "refused")
        await execute("add", {})
        const results = audited().filter(({ resource }) => resource === "tools/add")
        expectEqual(
          results.map(({ result }) => result),
          ["success", "denied", "failure"],
          "the audit",
        )
      },
    ],
  ])
