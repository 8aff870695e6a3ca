/**
 * Questions to a client in the form of its revision. Forms of 2025-06-18 have no multiple choice, no titles of choices
 * except `enumNames`, and default values only for booleans. What cannot be expressed in it is not asked.
 */
import type { JsonObject } from "../../desk/Desk.ts"
import { declares, isObject } from "../../wire/message.ts"
import { featuresOf, type Revision } from "../../wire/revision.ts"

interface Choice {
  readonly const: string
  readonly title?: unknown
}
const isChoice = (value: unknown): value is Choice => isObject(value) && typeof value["const"] === "string"

const fieldFor = (field: unknown): JsonObject | undefined => {
  if (!isObject(field)) return undefined
  const { default: _begin, oneOf, ...rest } = field
  switch (field["type"]) {
    case "boolean":
      return field
    case "number":
    case "integer":
      return rest
    case "string":
      if (oneOf === undefined) return rest
      if (!Array.isArray(oneOf) || !oneOf.every(isChoice)) return undefined
      return {
        ...rest,
        enum: oneOf.map((it) => it.const),
        enumNames: oneOf.map((it) => (typeof it.title === "string" ? it.title : it.const)),
      }
    default:
      return undefined
  }
}

/** A form in the shape of this revision; undefined if that is impossible. */
export const formFor = (params: JsonObject, revision: Revision): JsonObject | undefined => {
  if (featuresOf(revision).richForms) return params
  const { _meta, message, mode, requestedSchema } = params
  if (mode === "url" || !isObject(requestedSchema)) return undefined
  const { properties, required } = requestedSchema
  const fields: Record<string, JsonObject> = {}
  for (const [name, it] of Object.entries(isObject(properties) ? properties : {})) {
    const field = fieldFor(it)
    if (field === undefined) return undefined
    fields[name] = field
  }
  return {
    message,
    requestedSchema: { type: "object", properties: fields, ...(required === undefined ? {} : { required }) },
    ...(_meta === undefined ? {} : { _meta }),
  }
}

/** What the house uses of a client's capabilities, with the flags of each. The client may declare more, of any size. */
const used = { elicitation: ["form", "url"], roots: [], sampling: ["context", "tools"] }

/** The declared capabilities that exist in the client's revision; it could not use the others. */
export const knownCapabilities = (declared: JsonObject, revision: Revision): JsonObject => {
  const { elicitation: knowsForms, richForms } = featuresOf(revision)
  const known: Record<string, JsonObject> = {}
  for (const [name, flags] of Object.entries(used)) {
    if (!declares(declared, name) || (name === "elicitation" && !knowsForms)) continue
    const set = richForms ? flags.filter((flag) => declares(declared, name, flag)) : []
    known[name] = Object.fromEntries(set.map((flag) => [flag, {}]))
  }
  return known
}
