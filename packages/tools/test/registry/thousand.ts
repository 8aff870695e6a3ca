/** A registry as full as it may be, for the figures: a thousand tools, one of them with twenty parameters. */
import { Effect } from "effect"
import { defaultToolsConfig, Registry, type ToolParameter } from "../../src/index.ts"
import { definition } from "../kit.ts"

const types = ["string", "number", "boolean", "object", "array"] as const

const twenty: ReadonlyArray<ToolParameter> = Array.from({ length: 20 }, (_, n) => ({
  name: `p${n}`,
  type: types[n % 5]!,
  description: `Parameter ${n}`,
  required: n % 2 === 0,
}))

export const twentyArguments: Record<string, unknown> = Object.fromEntries(
  twenty.map(({ name, type }) => [
    name,
    { string: "text", number: 1, boolean: true, object: { a: 1 }, array: [1, 2] }[type],
  ]),
)

/** The same twenty as a JSON Schema. */
const twentySchema = {
  type: "object",
  properties: Object.fromEntries(twenty.map(({ description, name, type }) => [name, { type, description }])),
  required: twenty.filter(({ required }) => required).map(({ name }) => name),
}

export const thousand = (): Registry => {
  const registry = new Registry(defaultToolsConfig)
  const add = (over: object) =>
    Effect.runSync(registry.add({ definition: definition(over), handler: () => Effect.succeed(1) }))
  for (let n = 0; n < 998; n++) add({ name: `server-${n % 10}/tool-${n}`, parameters: twenty.slice(0, 5) })
  add({ name: "flat", parameters: twenty })
  add({ name: "schema", parameters: [], inputSchema: twentySchema })
  return registry
}
