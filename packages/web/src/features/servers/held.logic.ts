/** What has changed in the definition of a tool, as plain facts. Pure. */
import { words } from "./words/en.ts"
export type Fact =
  | { readonly kind: "description" | "destroys" | "writes" | "outside" | "output" }
  | { readonly kind: "new-field" | "gone-field" | "other-field" | "now-required"; readonly field: string }

type Fields = Readonly<Record<string, unknown>>
const fieldsIn = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
const names = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const factsOf = (before: unknown, now: unknown): ReadonlyArray<Fact> => {
  const [old, next] = [fieldsIn(before), fieldsIn(now)]
  const [was, is] = [fieldsIn(old["inputSchema"]), fieldsIn(next["inputSchema"])]
  const [had, has] = [fieldsIn(was["properties"]), fieldsIn(is["properties"])]
  const [said, says] = [fieldsIn(old["annotations"]), fieldsIn(next["annotations"])]
  const facts: Array<Fact> = []
  // The most dangerous change comes first.
  if (says["destructiveHint"] === true && said["destructiveHint"] !== true) facts.push({ kind: "destroys" })
  if (said["readOnlyHint"] === true && says["readOnlyHint"] !== true) facts.push({ kind: "writes" })
  if (says["openWorldHint"] === true && said["openWorldHint"] === false) facts.push({ kind: "outside" })
  if (!same(old["description"], next["description"])) facts.push({ kind: "description" })
  for (const field of Object.keys(has)) {
    if (!(field in had)) facts.push({ kind: "new-field", field })
    else if (!same(had[field], has[field])) facts.push({ kind: "other-field", field })
    if (names(is["required"]).includes(field) && !names(was["required"]).includes(field))
      facts.push({ kind: "now-required", field })
  }
  for (const field of Object.keys(had)) if (!(field in has)) facts.push({ kind: "gone-field", field })
  if (!same(old["outputSchema"], next["outputSchema"])) facts.push({ kind: "output" })
  return facts
}

/** A server's hints about a tool, in words; nothing relies on them. */
export const hintsOf = (definition: unknown): ReadonlyArray<string> => {
  const { annotations } = (definition ?? {}) as { readonly annotations?: Readonly<Record<string, unknown>> }
  const said = [
    annotations?.["readOnlyHint"] === true ? words.said.reads : "",
    annotations?.["destructiveHint"] === true && annotations["readOnlyHint"] !== true ? words.said.destroys : "",
    annotations?.["idempotentHint"] === true ? words.said.again : "",
    annotations?.["openWorldHint"] === true ? words.said.outside : "",
  ].filter((one) => one !== "")
  return said.length === 0 ? [words.said.nothing] : said
}

/** Stored lines and live lines: an overlap is shown once. */
export const linesOf = (kept: ReadonlyArray<string>, live: ReadonlyArray<string>): ReadonlyArray<string> => {
  const most = Math.min(kept.length, live.length)
  for (let shared = most; shared > 0; shared--)
    if (kept.slice(-shared).every((line, at) => line === live[at])) return [...kept, ...live.slice(shared)]
  return [...kept, ...live]
}
