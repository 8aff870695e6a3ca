/**
 * What a model is told about a tool, and what the house fills in for it: a wallet comes from whoever it acts for, never
 * from a model (S2-79, X-27). In a chat session that is the visitor. Without a wallet, tools that need one are not
 * offered (S2-80). Pure.
 */
import { inputSchemaOf, isObject, type JsonSchema } from "@stoa/contract"
import type { CatalogueTool } from "./Traits.ts"

/** Whether it can be used in a run. */
export const isForModel = (
  { ofWallets, onlyForApps }: Pick<CatalogueTool, "ofWallets" | "onlyForApps">,
  wallet: string | null,
): boolean => onlyForApps !== true && (ofWallets !== true || wallet !== null)

/** Its schema without the fields that the house fills in. */
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

/** The input as it is recorded and run. Values that a model wrote into such a field are ignored. */
export const fillWallets = (
  { wallets = [] }: Pick<CatalogueTool, "wallets">,
  input: Readonly<Record<string, unknown>>,
  wallet: string | null,
): Readonly<Record<string, unknown>> =>
  wallets.length === 0 || wallet === null
    ? input
    : { ...input, ...Object.fromEntries(wallets.map((name) => [name, wallet])) }
