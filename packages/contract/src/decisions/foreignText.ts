/**
 * Text by others, made safe to read. Invisible characters, which could change how the rest is read, are shown as their
 * code: `<U+202E>`. Every face that shows such text uses this file: CLI, pages, MCP.
 */

/**
 * Control characters, format characters (bidi, zero width, tags), line separators, lone surrogates, and everything that
 * Unicode lets a font leave out. The pattern is inside the function because pages are sent its source.
 */
export const visible = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu,
    (sign) => `<U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`,
  )

/** The same line by line, for faces that mark each line as foreign. No other character breaks a line. */
export const visibleLines = (text: string): ReadonlyArray<string> => text.split(/\r?\n/).map(visible)

/**
 * The same for a text whose every character counts, such as a diff or an input: only a line feed ends a line, and a tab
 * is shown as `⇥` with blanks to the next column of four.
 */
export const exactLines = (text: string): ReadonlyArray<string> =>
  text.split("\n").map((line) =>
    line.includes("\t") || line.includes("⇥")
      ? line
          .split("\t")
          .map((part) => visible(part).replaceAll("⇥", "<U+21E5>"))
          .reduce((before, part) => `${before}⇥${" ".repeat(3 - (before.length % 4))}${part}`)
      : visible(line),
  )

/** A value as JSON: the same value, but with nothing invisible in the text. */
export const visibleJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? "null").replace(
    /[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u007F-\u009F]/gu,
    (sign) => Array.from({ length: sign.length }, (_, at) => escaped(sign.charCodeAt(at))).join(""),
  )
const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`

/** Every text of a value, including field names. For faces that pass the value on, as MCP does to a model. */
export const visibleValue = (value: unknown): unknown => {
  if (typeof value === "string") return visible(value)
  if (Array.isArray(value)) return value.map(visibleValue)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [visible(key), visibleValue(one)]))
}

/** A name in a sentence of the house: quoted, so that it cannot pass for the house's own words. */
export const quoted = (name: string): string => `\`${visible(name).replaceAll("`", "'")}\``
