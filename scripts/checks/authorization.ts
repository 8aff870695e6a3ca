// Who may do what is written down for every route of the contract and every method of MCP: a new one has its row, or fails
// here. What the rows say is tried by packages/server/test/access/authorization.test.ts.
import { type Check, files, read } from "./kit.ts"

const page = "docs/operations/authorization.md"
const write = "STOA_MATRIX=write npx vitest run packages/server/test/access/authorization.test.ts"

const group = /HttpApiGroup\.make\("(\w+)"\)([\s\S]*?)(?=HttpApiGroup\.make\(|$)/g
const endpoint = /HttpApiEndpoint\.\w+\(\s*"(\w+)"/g
const routesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(group)].flatMap(([, name, rest = ""]) =>
    [...rest.matchAll(endpoint)].map(([, one]) => `${name}.${one}`),
  )

const method = /^ {2}\["([a-z]+(?:\/[A-Za-z]+)*)",/gm
const methodsIn = (text: string): ReadonlyArray<string> => [...text.matchAll(method)].flatMap(([, name]) => name ?? [])

export const authorization: Check = async (root) => {
  const all = await files(root)
  const api = all.filter((path) => /^packages\/contract\/src\/api\/(?:[a-z]+\/)?[A-Z]\w*\.ts$/.test(path))
  // A contract without an API has no rows to look for; one whose API is not found has been looked at in vain.
  const has = (folder: string) => all.some((path) => path.startsWith(folder))
  if (has("packages/contract/") && !has("packages/contract/src/api/"))
    return { looked: 0, unit: "routes", faults: [], skipped: "no API here" }
  const methods = all.filter((path) => /^packages\/server\/src\/doors\/mcp\/.*\/methods\.ts$/.test(path))
  const wanted = [
    ...api.flatMap((path) => routesIn(read(root, path))),
    ...methods.flatMap((path) => methodsIn(read(root, path))),
  ]
  const rows = all.includes(page) ? read(root, page) : ""
  const known = new Set([...rows.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name))
  return {
    looked: wanted.length,
    unit: "routes and methods",
    faults: wanted
      .filter((name) => !known.has(name))
      .map((name) => `${page}: no row for ${name}; say who may by trying it: ${write}`),
  }
}
