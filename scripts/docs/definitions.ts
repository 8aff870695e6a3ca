// docs/reference/definitions.md: what the contract defines, listed and counted, so that no page has to count it by hand.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

export interface Definitions {
  /** The names of each toolset's tools. */
  readonly tools: Readonly<Record<string, ReadonlyArray<string>>>
  /** The operations of each part of the HTTP API. */
  readonly operations: Readonly<Record<string, ReadonlyArray<string>>>
  readonly events: ReadonlyArray<string>
}

export const definitionsPage = "docs/reference/definitions.md"
const from = "packages/contract/src/index.ts"

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`
const all = (lists: Readonly<Record<string, ReadonlyArray<string>>>) =>
  Object.values(lists).reduce((sum, list) => sum + list.length, 0)
const named = (names: ReadonlyArray<string>) => names.map((name) => `\`${name}\``).join(", ")
const rows = (lists: Readonly<Record<string, ReadonlyArray<string>>>) =>
  Object.entries(lists)
    .map(([name, list]) => `- **${name}**, ${list.length}: ${named(list)}`)
    .join("\n")

export const definitionsText = ({ events, operations, tools }: Definitions): string => `# Definitions, counted

Written by \`npm run docs\` from the contract; \`npm run check docs\` fails where it differs. Other pages link here instead of counting.

## Toolsets

${counted(Object.keys(tools).length, "toolset", "toolsets")} with ${all(tools)} tools. A test compares each with what a house serves.

${rows(tools)}

## HTTP API

${counted(all(operations), "operation", "operations")} in ${counted(Object.keys(operations).length, "part", "parts")}; what each does is in \`/docs\` and \`/openapi.json\` of a house.

${rows(operations)}

## Events

${counted(events.length, "kind", "kinds")}: ${named(events)}
`

/** As the contract has them now. */
export const definitionsOf = async (root: string): Promise<Definitions> => {
  const load = (file: string) => import(pathToFileURL(join(root, "packages/contract/src", file)).href)
  const { toolNames } = (await load("tools/Toolset.ts")) as { readonly toolNames: Definitions["tools"] }
  const { Api } = (await load("Api.ts")) as {
    readonly Api: { readonly groups: Readonly<Record<string, { readonly endpoints: object }>> }
  }
  const { kinds } = (await load("Event.ts")) as { readonly kinds: object }
  return {
    tools: toolNames,
    operations: Object.fromEntries(
      Object.entries(Api.groups).map(([group, { endpoints }]) => [group, Object.keys(endpoints)]),
    ),
    events: Object.keys(kinds),
  }
}

export const definitions = async (root: string) =>
  existsSync(join(root, "packages/contract/src/tools/Toolset.ts"))
    ? [{ path: definitionsPage, from, text: definitionsText(await definitionsOf(root)) }]
    : []
