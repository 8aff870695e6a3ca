// packages/sdk/src/endpoints.ts: what the client needs of the contract at run time, so that a browser does not load
// the contract and Effect for it.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly payload: ReadonlyMap<string, unknown>
  readonly query: unknown
  readonly success: ReadonlySet<{ readonly _tag?: string }>
}
type Groups = Readonly<Record<string, { readonly endpoints: Readonly<Record<string, Endpoint>> }>>

const from = "packages/contract/src/Api.ts"

const answers = (endpoint: Endpoint, tag: string) => [...endpoint.success].some((schema) => schema._tag === tag)

const lineOf = (name: string, endpoint: Endpoint): string => {
  const takes = [endpoint.payload.size > 0 && "body", endpoint.query !== undefined && "query"]
  const words = [endpoint.method, endpoint.path, ...takes, answers(endpoint, "StreamUint8Array") && "stream"]
  return `    ${name}: "${words.filter((word) => word !== false).join(" ")}",\n`
}

const tableOf = (groups: Groups): string =>
  Object.entries(groups)
    .map(([group, { endpoints }]) => {
      // An endless answer is no promise: that endpoint is the feed.
      const finite = Object.entries(endpoints).filter(([, endpoint]) => !answers(endpoint, "StreamSse"))
      return finite.length === 0 ? "" : `  ${group}: {\n${finite.map(([name, it]) => lineOf(name, it)).join("")}  },\n`
    })
    .join("")

export const endpointsFile = async (root: string) => {
  if (!existsSync(join(root, from)) || !existsSync(join(root, "packages/sdk/src"))) return []
  const { Api } = (await import(pathToFileURL(join(root, from)).href)) as { readonly Api: { readonly groups: Groups } }
  const text = `// Written by \`npm run docs\` from the contract; a test compares them. Do not edit.
import type { Endpoints } from "./types.ts"

/** Method and path of every endpoint, and whether it takes a body or a query, or answers with a stream. */
export const endpoints: Endpoints = {
${tableOf(Api.groups)}}
`
  return [{ path: "packages/sdk/src/endpoints.ts", from, text }]
}
