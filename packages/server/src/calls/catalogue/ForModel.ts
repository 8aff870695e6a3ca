/**
 * What a model is told of a tool, and what the house fills in for it: a wallet is said by who acts, never by a model (S2-79,
 * Whoever has none is not offered what needs one (S2-80). Pure.
 */
import { inputSchemaOf, isObject, type JsonSchema, type Principal } from "@stoa/contract"
import type { CatalogueTool } from "./Traits.ts"

type Whose = Pick<Principal, "wallet">

/** Whether somebody can use it in a run. */
export const isForModel = ({ wallets }: Pick<CatalogueTool, "wallets">, { wallet }: Whose): boolean =>
  wallets === undefined || wallet !== null

/** Its schema without what the house fills in. */
export const schemaForModel = ({
  tool: { definition },
  wallets = [],
}: Pick<CatalogueTool, "tool" | "wallets">): JsonSchema => {
  const schema = inputSchemaOf(definition)
  if (wallets.length === 0) return schema
  const { properties, required, ...rest } = schema
  const isShown = (name: unknown): boolean => !wallets.includes(name as string)
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(isObject(properties) ? properties : {}).filter(([name]) => isShown(name)),
    ),
    ...(Array.isArray(required) ? { required: required.filter(isShown) } : {}),
  }
}

/** The input as it is recorded and run. What a model wrote in such a place, though it was not shown it, counts for nothing. */
export const filledIn = (
  { wallets = [] }: Pick<CatalogueTool, "wallets">,
  input: Readonly<Record<string, unknown>>,
  { wallet }: Whose,
): Readonly<Record<string, unknown>> =>
  wallets.length === 0 || wallet === null
    ? input
    : { ...input, ...Object.fromEntries(wallets.map((name) => [name, wallet])) }
