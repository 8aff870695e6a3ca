/**
 * What an operator wrote with placeholders: `{{input.x}}` for the call's input, `${env.NAME}` and `${secret.NAME}` for
 * values of the house. Parsed once into a template, then filled for each call in one pass: filled-in values are never
 * parsed again, so input that looks like a placeholder stays text. Pure.
 */
import { noPlaceholder, type Placeholder, placeholderAt } from "@stoa/contract"
import type { Schema } from "effect"

/**
 * A placeholder for input. Absent input is an error that names it. A `?` at the end (`{{input.x?}}`) makes it optional:
 * if it is absent, its key, item, header or query pair is left out, and inside a longer text it is empty.
 */
export interface FromInput {
  readonly from: "input"
  readonly path: ReadonlyArray<string>
  readonly optional: boolean
}
export type AnyPlaceholder = FromInput | Placeholder
/** A part of a text: literal text or a placeholder. */
export type Part = string | AnyPlaceholder

export type Template =
  | { readonly kind: "constant"; readonly value: Schema.Json }
  /** The placeholder is the whole value, so it keeps its JSON type. */
  | { readonly kind: "whole"; readonly place: AnyPlaceholder }
  | { readonly kind: "text"; readonly parts: ReadonlyArray<Part> }
  | { readonly kind: "array"; readonly items: ReadonlyArray<Template> }
  | { readonly kind: "object"; readonly entries: ReadonlyArray<readonly [key: string, value: Template]> }

/** Reports what is wrong at a path. */
export type Report = (path: string, message: string) => void

const step = /\.([^.{}\s"?[\]]+)|\["([^"]+)"\]/y

/** Parses `input.a.0["odd name"]?`. */
const readInput = (inner: string): FromInput | undefined => {
  const text = inner.trim()
  if (!text.startsWith("input")) return undefined
  const optional = text.endsWith("?")
  const end = optional ? text.length - 1 : text.length
  const path: Array<string> = []
  for (step.lastIndex = "input".length; step.lastIndex < end;) {
    const found = step.exec(text)
    if (found === null) return undefined
    path.push(found[1] ?? found[2]!)
  }
  return { from: "input", path, optional }
}

const inputAt = (text: string, at: number): { readonly place: FromInput; readonly end: number } | undefined => {
  const close = text.indexOf("}}", at + 2)
  const place = close === -1 ? undefined : readInput(text.slice(at + 2, close))
  return place === undefined ? undefined : { place, end: close + 2 }
}
const houseAt = (text: string, at: number): { readonly place: Placeholder; readonly end: number } | undefined => {
  const found = placeholderAt(text, at)
  return found && { place: found.placeholder, end: found.end }
}

/** Parses a text into parts. Something that opens like a placeholder but is none is reported, never sent as it is. */
export const readText = (text: string, path: string, report: Report): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let at = 0
  for (const { index } of text.matchAll(/\{\{|\$\{/g)) {
    if (index < at) continue
    const ofInput = text[index] === "{"
    const found = ofInput ? inputAt(text, index) : houseAt(text, index)
    if (found === undefined) {
      const right = '{{input.name}} or {{input["odd name"]}}'
      report(
        path,
        ofInput
          ? `"${text.slice(index, index + 40)}" is not a placeholder; write ${right}`
          : noPlaceholder(text, index),
      )
      return parts
    }
    if (index > at) parts.push(text.slice(at, index))
    parts.push(found.place)
    at = found.end
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}

/** Parses a JSON value into a template. Placeholders are allowed in values, not in keys. */
export const readTemplate = (value: Schema.Json, path: string, report: Report): Template => {
  if (typeof value === "string") {
    const parts = readText(value, path, report)
    const [first] = parts
    if (parts.length === 1 && typeof first === "object") return { kind: "whole", place: first }
    return parts.some((part) => typeof part === "object") ? { kind: "text", parts } : { kind: "constant", value }
  }
  if (typeof value !== "object" || value === null) return { kind: "constant", value }
  if (Array.isArray(value))
    return { kind: "array", items: value.map((item, at) => readTemplate(item, `${path}.${at}`, report)) }
  return {
    kind: "object",
    entries: Object.entries(value).map(([key, inner]) => {
      if (/\{\{|\$\{/.test(key)) report(`${path}.${key}`, "placeholders are allowed in values, not in keys")
      return [key, readTemplate(inner, `${path}.${key}`, report)] as const
    }),
  }
}

/** Every placeholder of the house in it: a call must resolve them before filling. */
export const housePlaceholders = (template: Template): ReadonlyArray<Placeholder> => {
  switch (template.kind) {
    case "constant":
      return []
    case "whole":
      return template.place.from === "input" ? [] : [template.place]
    case "text":
      return houseParts(template.parts)
    case "array":
      return template.items.flatMap(housePlaceholders)
    case "object":
      return template.entries.flatMap(([, value]) => housePlaceholders(value))
  }
}
export const houseParts = (parts: ReadonlyArray<Part>): ReadonlyArray<Placeholder> =>
  parts.filter((part): part is Placeholder => typeof part === "object" && part.from !== "input")

/** One call's values, and the problems found with them. */
export interface TemplateValues {
  readonly input: Readonly<Record<string, unknown>>
  readonly house: (place: Placeholder) => string
  /** Collected while filling; if there is one, the result must not be used. */
  readonly problems: Array<string>
}

/** As an operator writes it: `input.a.0`. */
export const nameOf = (place: AnyPlaceholder): string =>
  place.from === "input"
    ? ["input", ...place.path.map((it) => (/^[^.{}\s"?[\]]+$/.test(it) ? `.${it}` : `["${it}"]`))].join("")
    : `${place.from}.${place.name}`

/** Only own properties and items, nothing inherited. */
export const valueAt = (input: unknown, path: ReadonlyArray<string>): unknown => {
  let value = input
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined
    if (Array.isArray(value) ? !/^(0|[1-9]\d*)$/.test(key) : !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

/** The value of a placeholder; undefined if it is optional and absent, or if there is a problem. */
export const valueOf = (place: AnyPlaceholder, { house, input, problems }: TemplateValues): Schema.Json | undefined => {
  if (place.from !== "input") return house(place)
  const value = valueAt(input, place.path)
  if (value === undefined && !place.optional) problems.push(`"${nameOf(place)}" is missing`)
  return value as Schema.Json | undefined
}

/** Inside a text: strings as they are, everything else as JSON. */
export const textOf = (value: Schema.Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value)

export const fillText = (parts: ReadonlyArray<Part>, filling: TemplateValues): string =>
  parts.map((part) => (typeof part === "string" ? part : textOf(valueOf(part, filling)))).join("")

/** Undefined: leave it out. */
export const fill = (template: Template, filling: TemplateValues): Schema.Json | undefined => {
  switch (template.kind) {
    case "constant":
      return template.value
    case "whole":
      return valueOf(template.place, filling)
    case "text":
      return fillText(template.parts, filling)
    case "array":
      return template.items.map((item) => fill(item, filling)).filter((item) => item !== undefined)
    case "object":
      return Object.fromEntries(
        template.entries.flatMap(([key, inner]) => {
          const value = fill(inner, filling)
          return value === undefined ? [] : [[key, value] as const]
        }),
      )
  }
}
