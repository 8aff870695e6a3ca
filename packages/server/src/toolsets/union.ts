/**
 * One operation that several seeds gave the same name and different inputs (X-01). A caller that has more than one of
 * those toolsets sees one tool: it accepts the inputs of all, does what the matching one does, and answers with the
 * keys of all.
 */
import { parametersOf, ToolExecutionError } from "@stoa/contract"
import { type HouseHandler, PendingResult } from "../calls/road/Handler.ts"
import { Effect } from "effect"
import type { CatalogueOffer } from "./toolsetTool.ts"

type JsonObject = Readonly<Record<string, unknown>>
interface InputSchema {
  readonly properties: JsonObject
  readonly required?: ReadonlyArray<string>
}

const schemaOf = ({ tool }: CatalogueOffer) => tool.definition.inputSchema as unknown as InputSchema
const requiredOf = (one: CatalogueOffer): ReadonlyArray<string> => schemaOf(one).required ?? []

/** Those with the most required inputs first: a caller that gives all of them means that one. */
const inOrder = (tools: ReadonlyArray<CatalogueOffer>): ReadonlyArray<CatalogueOffer> =>
  tools.toSorted((a, b) => requiredOf(b).length - requiredOf(a).length)

const unionOf = (tools: ReadonlyArray<CatalogueOffer>): CatalogueOffer => {
  const ordered = inOrder(tools)
  const { definition } = ordered[0]!.tool
  const { name } = definition
  const properties = Object.assign({}, ...ordered.toReversed().map((one) => schemaOf(one).properties)) as JsonObject
  const inputSchema = {
    type: "object",
    properties,
    required: requiredOf(ordered[0]!).filter((key) => ordered.every((one) => requiredOf(one).includes(key))),
    additionalProperties: false,
  }
  /** The inputs that determine which of them is meant. */
  const choices = ordered.flatMap((one) => requiredOf(one).filter((key) => !inputSchema.required.includes(key)))
  const adds = Object.assign({}, ...ordered.map(({ mergedDefaults }) => mergedDefaults)) as JsonObject
  const handler: HouseHandler = (args, context) => {
    const given = Object.keys(args).filter((key) => args[key] !== undefined && args[key] !== false)
    const meant = ordered.find((one) => requiredOf(one).every((key) => given.includes(key))) ?? ordered.at(-1)!
    if (!requiredOf(meant).every((key) => given.includes(key))) {
      const message = `Give ${choices.map((key) => `"${key}"`).join(" or ")}: it says where this goes`
      return new ToolExecutionError({ message, toolName: name })
    }
    const own = schemaOf(meant).properties
    const stray = given.find((key) => !(key in own))
    if (stray !== undefined) {
      const asks = requiredOf(meant).find((key) => !inputSchema.required.includes(key))
      const message = `"${stray}" does not go with ${asks === undefined ? "this" : `"${asks}"`}: leave one of the two out`
      return new ToolExecutionError({ message, toolName: name })
    }
    const mine = Object.fromEntries(Object.entries(args).filter(([key]) => key in own))
    return Effect.map(meant.tool.handler(mine, context), (result) =>
      result instanceof PendingResult ? result : { ...adds, ...(result as JsonObject) },
    )
  }
  return {
    tool: {
      definition: {
        ...definition,
        description: ordered.map((one) => one.tool.definition.description).join(" Or: "),
        inputSchema,
        parameters: parametersOf(inputSchema),
      },
      handler,
    },
    traits: ordered[0]!.traits,
  }
}

/** Every combination of two or more. */
const combinations = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all
    .reduce<ReadonlyArray<ReadonlyArray<A>>>((some, one) => [...some, ...some.map((those) => [...those, one])], [[]])
    .filter((those) => those.length > 1)

/** The merged tools, for each combination of these toolsets. */
export const unionsOf = <Set extends string>(
  toolsets: ReadonlyArray<{ readonly name: Set; readonly tools: ReadonlyArray<CatalogueOffer> }>,
): ReadonlyArray<{ readonly sets: ReadonlyArray<Set>; readonly offered: CatalogueOffer }> => {
  const named = toolsets.flatMap(({ name, tools }) =>
    tools.filter(({ mergedDefaults }) => mergedDefaults !== undefined).map((offered) => ({ set: name, offered })),
  )
  return [...Map.groupBy(named, ({ offered }) => offered.tool.definition.name).values()].flatMap((same) =>
    combinations(same).map((those) => ({
      sets: those.map(({ set }) => set),
      offered: unionOf(those.map(({ offered }) => offered)),
    })),
  )
}
