/** The pet shop's document, broken in up to eight places that a number chooses. */
import { petShop } from "./petShop.ts"

/** Mulberry32: the same seed breaks the same things. */
const random = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

const junk: ReadonlyArray<unknown> = [
  null,
  true,
  -1,
  1e308,
  "",
  "${secret.other}",
  "{{input.x}}",
  "#/components/schemas/Pet",
  "#/paths/~1pets",
  "../../etc/passwd",
  "%zz",
  "\u0000\ud800",
  [],
  [[]],
  {},
  { $ref: "#" },
  { $ref: "#/components/schemas/Nowhere" },
  { $ref: "https://b.example/#/x" },
  { type: "object", properties: [] },
  { __proto__: null, constructor: 3 },
  JSON.parse('{"__proto__":{"$ref":"#"}}'),
]
const keys = [
  "$ref",
  "__proto__",
  "constructor",
  "in",
  "name",
  "schema",
  "content",
  "security",
  "servers",
  "get",
  "/{a}",
  "a b",
]

type Node = Record<string, unknown>

const places = (value: unknown, found: Array<readonly [Node, string]> = []): Array<readonly [Node, string]> => {
  if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      found.push([value as Node, key])
      places(inner, found)
    }
  return found
}

export const broken = (seed: number): unknown => {
  const next = random(seed)
  const pick = <A>(list: ReadonlyArray<A>): A => list[Math.floor(next() * list.length)]!
  const document = structuredClone(petShop) as unknown as Node
  for (let n = 1 + Math.floor(next() * 8); n > 0; n--) {
    const all = places(document)
    if (all.length === 0) break
    const [node, key] = pick(all)
    const roll = next()
    const value = roll < 0.4 ? structuredClone(pick(junk)) : structuredClone(pick(all)[0])
    if (roll < 0.15) delete node[key]
    else if (roll < 0.6)
      Object.defineProperty(node, key, { value, enumerable: true, configurable: true, writable: true })
    else Object.defineProperty(node, pick(keys), { value, enumerable: true, configurable: true, writable: true })
  }
  return document
}
