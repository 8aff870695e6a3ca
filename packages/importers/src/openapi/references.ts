/** `$ref` inside one OpenAPI document. External references are not fetched: the preview opens no connection. */
import { isObject, type JsonObject, own } from "@stoa/contract"

const maxSteps = 32

const part = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return undefined
  }
}

/** The target of a pointer such as `#/components/schemas/Pet`, or why there is none. */
export const at = (root: JsonObject, ref: string): { readonly value: unknown } | { readonly fault: string } => {
  if (!ref.startsWith("#")) return { fault: `refers to "${ref.slice(0, 100)}", which is outside of the document` }
  if (ref !== "#" && !ref.startsWith("#/")) return { fault: `refers to "${ref.slice(0, 100)}", which is not a path` }
  let value: unknown = root
  for (const step of ref.split("/").slice(1)) {
    const key = part(step)
    value = key !== undefined && typeof value === "object" && value !== null ? own(value as JsonObject, key) : undefined
    if (value === undefined) return { fault: `refers to "${ref.slice(0, 100)}", which is not in the document` }
  }
  return { value }
}

/** Follows any number of references. */
export const follow = (root: JsonObject, value: unknown): { readonly value: unknown } | { readonly fault: string } => {
  let now = value
  for (let steps = 0; steps < maxSteps; steps++) {
    const ref = isObject(now) ? own(now, "$ref") : undefined
    if (typeof ref !== "string") return { value: now }
    const next = at(root, ref)
    if ("fault" in next) return next
    now = next.value
  }
  return { fault: "refers to itself" }
}
