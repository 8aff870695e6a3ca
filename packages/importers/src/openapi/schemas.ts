/**
 * Schemas of an OpenAPI document as JSON Schema. Referenced schemas go into `$defs`, so that circular ones work and
 * nothing is written twice; keywords of 3.0 (`nullable`, boolean `exclusiveMinimum`) become the present ones.
 */
import { isObject, type JsonObject, own } from "@stoa/contract"
import { at, follow } from "./references.ts"

const inMap = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
const inList = new Set(["allOf", "anyOf", "oneOf", "prefixItems"])
const inOne = new Set([
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
])
/** Not needed by models or checks, or keywords that would change the schema's base. */
const dropped = new Set([
  "$id",
  "$schema",
  "$anchor",
  "$dynamicAnchor",
  "$vocabulary",
  "$comment",
  "discriminator",
  "xml",
  "externalDocs",
  "example",
  "examples",
  "nullable",
  "readOnly",
  "writeOnly",
])

interface Converted {
  readonly schema: unknown
  readonly refs: ReadonlySet<string>
  readonly faults: ReadonlyArray<string>
  readonly size: number
  readonly nodes: number
}

export interface Schemas {
  /** Converts a schema; collects its references in `refs` and its faults in `faults`. */
  readonly convert: (schema: unknown, refs: Set<string>, faults: Array<string>) => unknown
  /** All referenced schemas, by the names `convert` gave them; beyond the limits a schema is left open. */
  readonly definitions: (
    refs: ReadonlySet<string>,
    faults: Array<string>,
    room: { readonly size: number; readonly nodes: number },
  ) => { readonly defs: Readonly<Record<string, unknown>>; readonly open: ReadonlyArray<string> }
}

export const nodesIn = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, inner) => sum + nodesIn(inner), 1)
    : 1

export const schemasOf = (root: JsonObject, is30: boolean): Schemas => {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const made = new Map<string, Converted>()

  const nameOf = (ref: string): string => {
    const known = names.get(ref)
    if (known !== undefined) return known
    const base = (ref.split("/").at(-1) ?? "").replace(/[^A-Za-z0-9_.-]+/g, "_").slice(0, 60) || "schema"
    let name = base
    for (let n = 2; taken.has(name); n++) name = `${base}_${n}`
    taken.add(name)
    names.set(ref, name)
    return name
  }

  const convert: Schemas["convert"] = (schema, refs, faults) => {
    if (typeof schema === "boolean") return schema
    if (!isObject(schema)) return {}
    const ref = own(schema, "$ref")
    const out = new Map<string, unknown>()
    if (typeof ref === "string") {
      const target = at(root, ref)
      if ("fault" in target) faults.push(target.fault)
      refs.add(ref)
      out.set("$ref", `#/$defs/${nameOf(ref)}`)
      // 3.0 ignores everything beside a reference.
      if (is30) return Object.fromEntries(out)
    }
    if (own(schema, "$dynamicRef") !== undefined) faults.push("uses $dynamicRef")
    const unsent = new Set(
      Object.entries(isObject(own(schema, "properties")) ? (own(schema, "properties") as JsonObject) : {})
        .filter(([, inner]) => isObject(inner) && own(inner, "readOnly") === true)
        .map(([key]) => key),
    )
    for (const [key, value] of Object.entries(schema)) {
      if (dropped.has(key) || key.startsWith("x-") || (key === "$ref" && out.has("$ref"))) continue
      if (inMap.has(key) && isObject(value))
        out.set(
          key,
          Object.fromEntries(
            Object.entries(value)
              .filter(([name]) => key !== "properties" || !unsent.has(name))
              .map(([name, inner]) => [name, convert(inner, refs, faults)]),
          ),
        )
      else if (inList.has(key) && Array.isArray(value))
        out.set(
          key,
          value.map((inner) => convert(inner, refs, faults)),
        )
      else if (inOne.has(key)) out.set(key, convert(value, refs, faults))
      // Fields that only answers have are not required.
      else if (key === "required" && Array.isArray(value))
        out.set(
          key,
          value.filter((name) => typeof name === "string" && !unsent.has(name)),
        )
      else out.set(key, value)
    }
    return is30 ? from30(schema, out) : Object.fromEntries(out)
  }

  const definition = (ref: string): Converted => {
    const known = made.get(ref)
    if (known !== undefined) return known
    const refs = new Set<string>()
    const faults: Array<string> = []
    const target = at(root, ref)
    const end = follow(root, { $ref: ref })
    if ("fault" in end) faults.push(end.fault)
    const schema = "fault" in target ? {} : convert(target.value, refs, faults)
    const result = { schema, refs, faults, size: JSON.stringify(schema).length + 80, nodes: nodesIn(schema) + 1 }
    made.set(ref, result)
    return result
  }

  return {
    convert,
    definitions: (refs, faults, room) => {
      const defs = new Map<string, unknown>()
      const open: Array<string> = []
      let { nodes, size } = room
      const queue = [...refs]
      const seen = new Set(queue)
      for (const ref of queue) {
        const one = definition(ref)
        faults.push(...one.faults)
        if (one.faults.length > 0) continue
        if (one.size > size || one.nodes > nodes) {
          defs.set(nameOf(ref), {})
          open.push(nameOf(ref))
          continue
        }
        size -= one.size
        nodes -= one.nodes
        defs.set(nameOf(ref), one.schema)
        for (const next of one.refs)
          if (!seen.has(next)) {
            seen.add(next)
            queue.push(next)
          }
      }
      return { defs: Object.fromEntries(defs), open }
    },
  }
}

/** The first level of a schema, with a reference resolved. */
export const inlined = (root: JsonObject, schema: unknown, faults: Array<string>): unknown => {
  const found = follow(root, schema)
  if ("fault" in found) faults.push(found.fault)
  return "fault" in found ? {} : found.value
}

const from30 = (schema: JsonObject, out: Map<string, unknown>): unknown => {
  for (const side of ["Minimum", "Maximum"]) {
    const [exclusive, plain] = [`exclusive${side}`, side.toLowerCase()]
    if (out.get(exclusive) === true && typeof out.get(plain) === "number") {
      out.set(exclusive, out.get(plain))
      out.delete(plain)
    } else if (typeof out.get(exclusive) === "boolean") out.delete(exclusive)
  }
  if (own(schema, "nullable") !== true) return Object.fromEntries(out)
  const type = out.get("type")
  if (typeof type !== "string") return { anyOf: [Object.fromEntries(out), { type: "null" }] }
  const values = out.get("enum")
  out.set("type", [type, "null"])
  if (Array.isArray(values) && !values.includes(null)) out.set("enum", [...(values as ReadonlyArray<unknown>), null])
  return Object.fromEntries(out)
}
