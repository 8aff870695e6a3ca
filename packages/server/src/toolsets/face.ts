/**
 * One tool of a toolset: a seed's exact schema, mapped onto one operation of a room below. No logic of its own: what it
 * does is said by the room, what it is called and how its answer looks is said here.
 */
import {
  type Caller,
  type ToolAnnotations,
  type ToolDefinition,
  ToolExecutionError,
  type ToolsetName,
  parametersOf,
} from "@stoa/contract"
import type { CallContext, Tool } from "@stoa/tools"
import { Effect } from "effect"
import type { Traits } from "../calls/catalogue/Traits.ts"
import type { Transaction } from "../store/journal/Journal.ts"

type Properties = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface FaceTool<A> {
  readonly name: string
  readonly description: string
  readonly input: { readonly properties: Properties; readonly required?: ReadonlyArray<string> }
  /** What it changes: nothing, the house's own rows, or something that takes its time. */
  readonly effects: Traits["effects"]
  readonly annotations?: ToolAnnotations
  readonly timeoutMs?: number
  readonly run: (
    input: A,
    context: CallContext,
  ) => Effect.Effect<unknown, { readonly message: string }, Caller | Transaction>
}

export interface Offered {
  readonly tool: Tool
  readonly traits: Traits
}

export const text = (description: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: "string",
  description,
  ...more,
})
export const integer = (description: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: "integer",
  description,
  ...more,
})

/** What the house brings itself is hidden and low in risk (S1-20, X-54), and says what it does. */
export const builtIn = (
  tool: Pick<ToolDefinition, "name" | "description" | "annotations" | "outputSchema"> & {
    readonly inputSchema: Readonly<Record<string, unknown>>
    readonly effects: Traits["effects"]
    readonly timeoutMs: number | undefined
  },
): ToolDefinition => {
  const { annotations, description, effects, inputSchema, name, outputSchema, timeoutMs = 30_000 } = tool
  return {
    name,
    description,
    parameters: parametersOf(inputSchema),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    riskLevel: "low",
    timeoutMs,
    requiresApproval: false,
    source: "builtin",
    executionType: "internal",
    visibility: "hidden",
    annotations: {
      readOnlyHint: effects === "none",
      destructiveHint: false,
      idempotentHint: effects === "none",
      openWorldHint: false,
      ...annotations,
    },
  }
}

/** A face's tool as the catalogue takes it. */
export const offered = <A>(_set: ToolsetName, face: FaceTool<A>): Offered => {
  const { annotations, description, effects, input, name, run, timeoutMs } = face
  const inputSchema = {
    type: "object",
    properties: input.properties,
    ...(input.required === undefined ? {} : { required: input.required }),
    additionalProperties: false,
  }
  const definition = builtIn({
    name,
    description,
    inputSchema,
    effects,
    timeoutMs,
    ...(annotations === undefined ? {} : { annotations }),
  })
  const handler: Tool["handler"] = (args, context) =>
    // The road provides who calls, and for what changes our rows the transaction; its type knows of neither.
    Effect.mapError(
      run(args as A, context) as Effect.Effect<unknown, { readonly message: string }>,
      (error) => new ToolExecutionError({ message: error.message, toolName: name }),
    )
  return { tool: { definition, handler }, traits: { effects, reviewed: true } }
}
