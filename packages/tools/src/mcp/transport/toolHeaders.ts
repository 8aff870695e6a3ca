/**
 * `x-mcp-header` in an input schema asks us to repeat an argument as an HTTP header (2026-07-28). A tool with an
 * invalid one must not be offered: a client that guessed would send headers the server never asked for.
 */
const key = "x-mcp-header"
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const types: ReadonlyArray<unknown> = ["string", "integer", "boolean"]

type Node = Readonly<Record<string, unknown>>
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

/** What is wrong with the headers a schema asks for; undefined if nothing is. */
export const headerFaultOf = (schema: unknown): string | undefined => {
  const seen = new Set<string>()
  // Depth and size are limited because the schema is foreign; anything deeper counts as unreachable.
  let left = 5000
  const judge = (node: Node, path: ReadonlyArray<string>, reachable: boolean): string | undefined => {
    const name = node[key]
    const at = path.join(".")
    if (!reachable || path.length === 0) return `${at}: a header may be asked for only along "properties"`
    if (typeof name !== "string" || !token.test(name))
      return `${at}: ${JSON.stringify(name)} is not a valid header name`
    if (!types.includes(node["type"])) return `${at}: only a string, an integer or a boolean becomes a header`
    if (seen.has(name.toLowerCase())) return `${at}: the header "${name}" is asked for twice`
    seen.add(name.toLowerCase())
    return undefined
  }
  const visit = (value: unknown, path: ReadonlyArray<string>, reachable: boolean): string | undefined => {
    if (!isNode(value) || path.length > 64 || left-- < 0) return undefined
    // A property may itself be named `x-mcp-header`; only the keyword of a schema counts.
    const own = Object.hasOwn(value, key) ? judge(value, path, reachable) : undefined
    if (own !== undefined) return own
    for (const [keyword, inner] of Object.entries(value)) {
      if (keyword === "properties" && isNode(inner)) {
        for (const [name, child] of Object.entries(inner)) {
          const fault = visit(child, [...path, name], reachable)
          if (fault !== undefined) return fault
        }
      } else if (!["enum", "const", "default", "examples"].includes(keyword)) {
        const maps = ["$defs", "definitions", "patternProperties", "dependentSchemas"].includes(keyword)
        const branches = maps && isNode(inner) ? Object.values(inner) : Array.isArray(inner) ? inner : [inner]
        for (const branch of branches) {
          const fault = visit(branch, [...path, `<${keyword}>`], false)
          if (fault !== undefined) return fault
        }
      }
    }
    return undefined
  }
  return visit(schema, [], true)
}
