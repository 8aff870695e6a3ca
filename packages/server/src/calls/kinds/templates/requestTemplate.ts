/**
 * A whole HTTP request with placeholders: address, query, headers and body, parsed once and filled for each call. Pure.
 */
import { type Executions, type Placeholder, placeholderText } from "@stoa/contract"
import type { Schema } from "effect"
import {
  fill,
  type TemplateValues,
  houseParts,
  housePlaceholders,
  nameOf,
  type Part,
  readTemplate,
  readText,
  type Report,
  type Template,
  textOf,
} from "./template.ts"
import { fillUrl, houseInUrl, pairsOf, readUrlTemplate, sameShape, type UrlTemplate } from "./urlTemplate.ts"

export type HttpExecution = Executions["http"]
export type HeaderTemplates = ReadonlyArray<readonly [name: string, value: ReadonlyArray<Part>]>

export interface RequestTemplate {
  readonly method: NonNullable<HttpExecution["method"]>
  readonly url: UrlTemplate
  readonly query: ReadonlyArray<readonly [key: string, value: Template]>
  readonly headers: HeaderTemplates
  readonly body: Template | undefined
  /** Each `${env.NAME}` or `${secret.NAME}` in it, once. */
  readonly house: ReadonlyArray<Placeholder>
}

export interface FilledRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Schema.Json | undefined
}

/** The whole input: the default body (S1-33). */
const wholeInput: Template = { kind: "whole", place: { from: "input", path: [], optional: false } }
const carriesInput = new Set(["POST", "PUT", "PATCH"])
export const isSafe = (method: string): boolean => method === "GET" || method === "HEAD"

export const readHeaderTemplates = (
  headers: Readonly<Record<string, string>>,
  path: string,
  report: Report,
): HeaderTemplates => {
  const seen = new Set<string>()
  return Object.entries(headers).map(([name, value]) => {
    const at = `${path}.${name}`
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/i.test(name)) report(at, "is not a valid header name")
    if (seen.has(name.toLowerCase())) report(at, "is there twice")
    seen.add(name.toLowerCase())
    return [name.toLowerCase(), readText(value, at, report)] as const
  })
}

/** A header whose only placeholder is optional and absent is left out. */
export const fillHeaders = (headers: HeaderTemplates, filling: TemplateValues): Readonly<Record<string, string>> =>
  Object.fromEntries(
    headers.flatMap(([name, parts]) => {
      const [only] = parts
      const whole: Template =
        parts.length === 1 && typeof only === "object" ? { kind: "whole", place: only } : { kind: "text", parts }
      const value = fill(whole, filling)
      if (value === undefined) return []
      const text = textOf(value)
      // A line break would turn one header into two.
      if (/[\r\n\0]/.test(text)) filling.problems.push(`the header "${name}" would have a line break in it`)
      return [[name, text] as const]
    }),
  )

const bodyOf = (execution: HttpExecution, method: string, report: Report): Template | undefined => {
  const { body } = execution
  if (body === undefined) return carriesInput.has(method) ? wholeInput : undefined
  if (isSafe(method)) report("execution.body", `a ${method} has no body; use query, or another method`)
  const template = readTemplate(body, "execution.body", report)
  const type = Object.entries(execution.headers ?? {}).find(([name]) => name.toLowerCase() === "content-type")?.[1]
  // Input is not encoded inside a text: a quote or an & in it would change the meaning of the body.
  if (template.kind === "text" && type !== undefined && /json|x-www-form-urlencoded/i.test(type))
    report(
      "execution.body",
      `a body of type ${type} with places in it is written as an object, so that input is encoded`,
    )
  return template
}

/** Undefined if it is too faulty to use; the faults are reported. */
export const readRequestTemplate = (execution: HttpExecution, report: Report): RequestTemplate | undefined => {
  const { method = "GET", retries = 0 } = execution
  const url = readUrlTemplate(readText(execution.url, "execution.url", report), "execution.url", report)
  const query = Object.entries(execution.query ?? {}).map(
    ([key, value]) => [key, readTemplate(value, `execution.query.${key}`, report)] as const,
  )
  const headers = readHeaderTemplates(execution.headers ?? {}, "execution.headers", report)
  const body = bodyOf(execution, method, report)
  if (retries > 0 && !isSafe(method))
    report("execution.retries", `only GET and HEAD are tried again; a ${method} might be done twice`)
  if (url === undefined) return undefined
  const house = [
    ...houseInUrl(url),
    ...query.flatMap(([, value]) => housePlaceholders(value)),
    ...headers.flatMap(([, parts]) => houseParts(parts)),
    ...(body === undefined ? [] : housePlaceholders(body)),
  ]
  return { method, url, query, headers, body, house: [...new Map(house.map((it) => [nameOf(it), it])).values()] }
}

/** If `filling` has a problem, the request must not be sent. */
export const fillRequest = (template: RequestTemplate, filling: TemplateValues): FilledRequest => {
  const pairs = template.query.flatMap(([key, value]) => pairsOf(key, fill(value, filling), filling.problems))
  const url = fillUrl(template.url, filling, pairs)
  const headers = fillHeaders(template.headers, filling)
  const body = template.body === undefined ? undefined : fill(template.body, filling)
  if (filling.problems.length === 0 && !sameShape(template.url, url))
    filling.problems.push("the address would lead elsewhere than it was configured to")
  return { url, headers, body }
}

/** The request as it may be shown: placeholders of the house by name, everything else as it would be sent. */
export const showRequest = (template: RequestTemplate, input: TemplateValues["input"]): Schema.Json => {
  const problems: Array<string> = []
  const { body, headers, url } = fillRequest(template, { input, problems, house: placeholderText })
  return {
    method: template.method,
    url: shownUrl(template, url),
    headers,
    ...(body === undefined ? {} : { body }),
    ...(problems.length === 0 ? {} : { problems }),
  }
}

/** Placeholder names are encoded in the address; here they are made readable. */
const shownUrl = ({ house }: Pick<RequestTemplate, "house">, url: string): string =>
  house.reduce((text, place) => {
    const name = placeholderText(place)
    return text.replaceAll(encodeURIComponent(name), name)
  }, url)

/** Where the request went, for an error: with placeholder names, and without the query. */
export const whereOf = (
  template: Pick<RequestTemplate, "url" | "house"> & { readonly method: string },
  input: TemplateValues["input"],
): string => {
  const url = fillUrl(template.url, { input, problems: [], house: placeholderText })
  return `${template.method} ${shownUrl(template, url)
    .replace(/[?#].*$/s, "")
    .slice(0, 500)}`
}
