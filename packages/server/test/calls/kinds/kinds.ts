/** What the suites of the kinds stand on: real secrets, variables and rules on a real database, and a call's context. */
import { readTool, type ToolConfiguration } from "@stoa/contract"
import { Redactor, runInTime } from "@stoa/tools"
import { Effect, Layer, Redacted, type Schema } from "effect"
import { EgressRules } from "../../../src/access/secrets/EgressRules.ts"
import { Environment } from "../../../src/access/secrets/Environment.ts"
import { Rules } from "../../../src/access/rights/Rules.ts"
import { Secrets } from "../../../src/access/secrets/Secrets.ts"
import type { Kind } from "../../../src/calls/kinds/Kind.ts"
import type { HandlerCall } from "../../../src/calls/road/Handler.ts"
import { Settings } from "../../../src/Settings.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { ground, stores } from "../../stores.ts"

/** Changed by a test while the house runs. */
export const variables: Record<string, string | undefined> = {}

export const kindsLayer = Layer.mergeAll(Environment.layer, EgressRules.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Rules.layer, Secrets.layer(Redacted.make("a key of the tests, long enough")))),
  Layer.provideMerge(ground(stores[0]![1])),
  Layer.provideMerge(Settings.layer(variables)),
)

/** As the configuration file would say it. */
export const rule = Effect.fnUntraced(function* (kind: "env" | "egress", rules: ReadonlyArray<unknown>) {
  yield* (yield* Journal).transact((yield* Rules).replace(kind, rules))
})
export const secret = Effect.fnUntraced(function* (name: string, value: string) {
  yield* (yield* Journal).transact((yield* Secrets).set(name as never, Redacted.make(value)))
})

export const context: HandlerCall = {
  id: "call_0f9d2c5e-0000-4000-8000-000000000001" as never,
  caller: {} as never,
  principal: "prn_test" as never,
  space: null,
  run: null,
  transaction: undefined,
  client: undefined,
  answered: undefined,
  keep: () => Effect.void,
  redactor: new Redactor(),
  meta: new Map(),
  correlationId: "0123456789abcdef0123456789abcdef",
  idempotencyKey: "key-1",
  progress: () => Effect.void,
}

/** A configured tool, read as the house reads it. */
export const configured = (execution: object, executionType = "gateway"): ToolConfiguration => {
  const read = readTool({ name: "it", description: "d", inputSchema: { type: "object" }, executionType, execution })
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return read.tool
}

/** One call as the road makes it: within the tool's time, with what it reveals and what came beside the output. */
export const called = Effect.fnUntraced(function* (
  kind: Kind<never>,
  tool: ToolConfiguration,
  input: Readonly<Record<string, unknown>>,
  over: Partial<HandlerCall> = {},
) {
  const redactor = new Redactor()
  const meta = new Map<string, Schema.Json>()
  const timeoutMs = (tool.execution as { readonly timeout?: number }).timeout ?? 30_000
  const result = yield* Effect.result(
    runInTime({ name: tool.form.name, timeoutMs }, () =>
      kind.handler(tool as never)(input, { ...context, ...over, redactor, meta }),
    ),
  )
  return { result, redactor, meta: Object.fromEntries(meta) }
})
