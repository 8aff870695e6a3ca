/**
 * Which resources rules and limits can be about. Only the kind is known beforehand, such as `tools/`: the names come and
 * go. Pure.
 */
import { type Issue, resourceKinds } from "@stoa/contract"
import { nearest } from "@stoa/tools"
import { fits } from "./policy.ts"

const known: ReadonlyArray<string> = [...resourceKinds.map((kind) => `${kind}/*`), "audit"]

/** Whether a pattern can match one of these: whole resources, and kinds as `tools/*`. */
export const canMatch = (pattern: string, resources: ReadonlyArray<string>): boolean => {
  const head = pattern.split("*")[0]!
  return resources.some((one) => {
    if (!one.endsWith("*")) return fits(pattern, one)
    const kind = one.slice(0, -1)
    return (head.startsWith(kind) && pattern.length > kind.length) || (head !== pattern && kind.startsWith(head))
  })
}

/** What was probably meant by a pattern that matches none of these. */
export const probablyMeant = (pattern: string, resources: ReadonlyArray<string>): string | undefined => {
  const kinds = resources.filter((one) => one.endsWith("/*")).map((one) => one.slice(0, -2))
  const [first, ...rest] = pattern.split("/")
  const kind = rest.length === 0 ? undefined : nearest(first!, kinds)
  return kind === undefined ? nearest(pattern, resources) : `${kind}/${rest.join("/") || "*"}`
}

/**
 * The fault of a rule's resource that is probably a misspelt one of the house: the rule would be about nothing. A kind
 * that resembles none of ours belongs to some program: whoever may judge can ask about any resource.
 */
export const resourceFaults = (resource: string, path = "resource"): ReadonlyArray<Issue> => {
  if (canMatch(resource, known)) return []
  const meant = probablyMeant(resource, known)
  if (meant === undefined) return []
  const kinds = resourceKinds.map((kind) => `${kind}/`).join(", ")
  const message = `there is no resource "${resource}"; did you mean "${meant}"? A resource of the house is *, audit, or begins with: ${kinds}`
  return [{ path, message }]
}
