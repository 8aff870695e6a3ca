/**
 * `${secret.NAME}` and `${env.NAME}`: where a value of the house is filled in. The one grammar for it, for tools and
 * for MCP servers. Something that opens like a placeholder but is none is a fault, never text to be sent.
 */
import { secretName } from "../access/Secret.ts"

export interface Placeholder {
  readonly from: "env" | "secret"
  readonly name: string
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** The text between the braces. */
const read = (inner: string): Placeholder | undefined => {
  const dot = inner.indexOf(".")
  const [from, name] = [inner.slice(0, dot), inner.slice(dot + 1)]
  if (from === "env" && variableName.test(name)) return { from, name }
  if (from === "secret" && secretName.test(name)) return { from, name }
  return undefined
}

/** The placeholder that begins at this `${`, and where it ends. */
export const placeholderAt = (
  text: string,
  at: number,
): { readonly placeholder: Placeholder; readonly end: number } | undefined => {
  const close = text.indexOf("}", at + 2)
  const placeholder = close === -1 ? undefined : read(text.slice(at + 2, close))
  return placeholder === undefined ? undefined : { placeholder, end: close + 1 }
}

/** As it is written. */
export const placeholderText = ({ from, name }: Placeholder): string => `\${${from}.${name}}`

/** The error for a `${` that begins no placeholder. */
export const noPlaceholder = (text: string, at: number): string =>
  `"${text.slice(at, at + 40)}" is not a placeholder; write \${env.NAME} or \${secret.NAME}`

/** Whether a text has a placeholder, or something that opens like one: it is never sent as it is written. */
export const hasPlaceholder = (text: string): boolean => text.includes("${")

/** A text in parts, or what is wrong with it. */
export const placeholdersIn = (
  text: string,
): { readonly parts: ReadonlyArray<string | Placeholder> } | { readonly fault: string } => {
  const parts: Array<string | Placeholder> = []
  let at = 0
  for (let open = text.indexOf("${"); open !== -1; open = text.indexOf("${", at)) {
    const found = placeholderAt(text, open)
    if (found === undefined) return { fault: noPlaceholder(text, open) }
    if (open > at) parts.push(text.slice(at, open))
    parts.push(found.placeholder)
    at = found.end
  }
  if (at < text.length) parts.push(text.slice(at))
  return { parts }
}
