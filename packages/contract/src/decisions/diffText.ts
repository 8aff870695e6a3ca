/**
 * A unified diff, as git writes it, line by line. What a line is follows from the counts of its hunk, never from how it
 * looks: a removed line `-- a/file` is no header.
 */
import { exactLines } from "./foreignText.ts"

export interface DiffTextLine {
  readonly kind: "head" | "same" | "del" | "ins"
  /** With its sign, and with nothing invisible. */
  readonly text: string
}

/** The property of a schema that makes its text a diff, in JSON Schema's own word. */
const mediaTypes = new Set(["text/x-diff", "text/x-patch"])

/** Whether a schema says that this field of an input is a diff. */
export const isDiff = (schema: unknown, field: string): boolean => {
  const properties = (schema as { readonly properties?: Readonly<Record<string, unknown>> } | undefined)?.properties
  if (typeof properties !== "object" || properties === null || !Object.hasOwn(properties, field)) return false
  const type = (properties[field] as { readonly contentMediaType?: unknown } | null)?.contentMediaType
  return typeof type === "string" && mediaTypes.has(type)
}

const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

export const diffTextLines = (text: string): ReadonlyArray<DiffTextLine> => {
  let [old, young] = [0, 0]
  return exactLines(text.replace(/\n$/, "")).map((line) => {
    const sign = line[0]
    if (old > 0 || young > 0) {
      if (sign === "-" && old > 0) return (old--, { kind: "del", text: line })
      if (sign === "+" && young > 0) return (young--, { kind: "ins", text: line })
      if (sign === " ") return (old--, young--, { kind: "same", text: line })
    }
    const [, before = "1", after = "1"] = hunk.exec(line) ?? []
    if (hunk.test(line)) [old, young] = [Number(before), Number(after)]
    return { kind: "head", text: line }
  })
}
