/**
 * One tool of a toolset: an exact schema, mapped onto one operation of a lower room. It has no logic of its own: the
 * room does the work, this defines the name and the form of the answer.
 */
import {
  Caller,
  Forbidden,
  type ToolAnnotations,
  ToolAuthorizationError,
  type ToolDefinition,
  ToolExecutionError,
  type ToolsetName,
  parametersOf,
} from "@stoa/contract"
import { Effect } from "effect"
import type { Traits } from "../calls/catalogue/Traits.ts"
import type { HandlerCall, HouseHandler, HouseTool } from "../calls/road/Handler.ts"
import { Transaction } from "../store/journal/Journal.ts"

type Properties = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface ToolForm {
  readonly name: string
  readonly description: string
  readonly input: { readonly properties: Properties; readonly required?: ReadonlyArray<string> }
  readonly annotations?: ToolAnnotations
  readonly timeoutMs?: number
  readonly atEveryEndpoint?: true
  readonly onlyInTurn?: true
  /** Its answer contains nothing that others wrote: a model may treat it as the house's own words. */
  readonly houseText?: true
  /** A person is asked before it runs, whoever calls it. */
  readonly requiresApproval?: true
  /** Its input is what a person approves: a text that is sent, a merge, a permission. One approval covers one call. */
  readonly approvedOnce?: true
  readonly countedAs?: Traits["countedAs"]
  readonly tags?: ReadonlyArray<string>
  readonly wallets?: ReadonlyArray<string>
  /**
   * It is merged with tools of the same name in other toolsets; these are defaults for keys that their answers may lack
   * (X-01).
   */
  readonly mergedDefaults?: Readonly<Record<string, unknown>>
}
export type Run<A, R> = (input: A, call: HandlerCall) => Effect.Effect<unknown, { readonly message: string }, R>

/**
 * Its effects: none, or something that takes time; or the house's own rows, in the transaction that records the call.
 */
export type ToolsetTool<A> = ToolForm &
  (
    | { readonly effects: Exclude<Traits["effects"], "store">; readonly run: Run<A, Caller> }
    | { readonly effects: "store"; readonly run: Run<A, Caller | Transaction> }
  )

export interface CatalogueOffer {
  readonly tool: HouseTool
  readonly traits: Traits
  readonly mergedDefaults?: Readonly<Record<string, unknown>>
}

export const text = (description: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: "string",
  description,
  ...more,
})
/** A text of one line: a key, a label, a tag. */
export const lineOfText = (description: string, maxLength: number) =>
  text(description, { minLength: 1, maxLength, pattern: "^[^\\p{Cc}]+$" })
export const tagList = (description: string) => ({
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 128, pattern: "^[^\\p{Cc}]+$" },
  maxItems: 64,
  description,
})
export const integer = (description: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: "integer",
  description,
  ...more,
})

/** Built-in tools are hidden and low in risk (S1-20, X-54), and their annotations are stated. */
export const builtIn = (
  tool: Pick<ToolDefinition, "name" | "description" | "annotations" | "outputSchema"> & {
    readonly inputSchema: Readonly<Record<string, unknown>>
    readonly effects: Traits["effects"]
    readonly timeoutMs: number | undefined
    readonly requiresApproval?: boolean
  },
): ToolDefinition => {
  const { annotations, description, effects, inputSchema, name, outputSchema, requiresApproval = false } = tool
  const { timeoutMs = 30_000 } = tool
  return {
    name,
    description,
    parameters: parametersOf(inputSchema),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    riskLevel: "low",
    timeoutMs,
    requiresApproval,
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

/** A refusal by a room is a refusal of the call, and recorded as one; any other error is a failure. */
const failureOf = (error: { readonly message: string }, tool: string, { principal }: Caller["Service"]) =>
  error instanceof Forbidden
    ? new ToolAuthorizationError({ message: error.message, toolName: tool, agentId: principal.id, rule: error.rule })
    : new ToolExecutionError({ message: error.message, toolName: tool })

/** They work on their caller's memory, and their calls are erased with it. */
export const withMemory = (tools: ReadonlyArray<CatalogueOffer>): ReadonlyArray<CatalogueOffer> =>
  tools.map((one) => ({ ...one, traits: { ...one.traits, usesMemory: true } }))

/** A toolset's tool as the catalogue takes it. */
export const catalogueOffer = <A>(_set: ToolsetName, form: ToolsetTool<A>): CatalogueOffer => {
  const {
    annotations,
    countedAs,
    description,
    effects,
    atEveryEndpoint,
    input,
    name,
    tags,
    timeoutMs,
    mergedDefaults,
    wallets,
  } = form
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
    requiresApproval: form.requiresApproval === true,
    ...(annotations === undefined ? {} : { annotations }),
  })
  const handler: HouseHandler = (args, call) => {
    // Without it, some of its writes could be lost, and others stay.
    if (form.effects === "store" && call.transaction === undefined)
      return Effect.die(new Error(`${name} was run outside the transaction that records it`))
    const work =
      form.effects === "store"
        ? Effect.provideService(form.run(args as A, call), Transaction, call.transaction!)
        : form.run(args as A, call)
    return Effect.mapError(
      Effect.provideService(work, Caller, call.caller),
      (error) => failureOf(error, name, call.caller) as ToolExecutionError,
    )
  }
  return {
    tool: { definition, handler },
    traits: {
      effects,
      reviewed: true,
      ...(atEveryEndpoint && { atEveryEndpoint }),
      ...(form.onlyInTurn && { onlyInTurn: form.onlyInTurn }),
      ...(form.approvedOnce && { approval: { reach: "once" as const } }),
      ...(form.houseText && { resultSource: "the house" as const }),
      ...(countedAs && { countedAs }),
      ...(tags && { tags }),
      ...(wallets && { wallets }),
    },
    ...(mergedDefaults && { mergedDefaults }),
  }
}
