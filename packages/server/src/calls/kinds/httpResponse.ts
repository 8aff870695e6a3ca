/** An HTTP response as JSON: parsed JSON, text, or base64 for anything else. Pure. */
import { isTooDeep } from "@stoa/contract"
import type { EgressResponse, Redactor } from "@stoa/tools"
import type { Schema } from "effect"

/** The headers worth storing. Never a cookie or another credential. */
const kept = [
  "content-type",
  "etag",
  "last-modified",
  "link",
  "location",
  "retry-after",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
]

export const headersOf = ({ headers }: Pick<EgressResponse, "headers">): Readonly<Record<string, string>> =>
  Object.fromEntries(
    kept.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name].slice(0, 1000)] as const])),
  )

const binary = /^(image|audio|video|font)\/(?!svg)|octet-stream|\/(zip|gzip|pdf|wasm)\b/i

const decoderOf = (label: string): TextDecoder | undefined => {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}

/** Decoded with the charset that the answer names. */
const wordsOf = ({ body, headers }: Pick<EgressResponse, "body" | "headers">): string => {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8"
  return (decoderOf(charset) ?? new TextDecoder()).decode(body)
}

const longestExcerpt = 500

/** The beginning of an answer, for an error: on one line, and without the secrets revealed to the service. */
export const excerptOf = (answer: Pick<EgressResponse, "body" | "headers">, redactor: Redactor): string => {
  const words = redactor
    .text(wordsOf(answer))
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim()
  return words === "" ? "" : `: ${words.length > longestExcerpt ? `${words.slice(0, longestExcerpt)}…` : words}`
}

/** Deeper than any real answer, and deep enough to overflow a recursive walk. */
const deepest = 200

const parsed = (text: string): Schema.Json | undefined => {
  try {
    const value = JSON.parse(text) as Schema.Json
    return isTooDeep(value, deepest) ? undefined : value
  } catch {
    return undefined
  }
}

export const dataOf = (answer: Pick<EgressResponse, "body" | "headers">): Schema.Json => {
  const type = answer.headers["content-type"] ?? ""
  if (answer.body.length === 0) return null
  const charset = /charset\s*=\s*"?utf-?16/i.test(type)
  if (binary.test(type) || (answer.body.includes(0) && !charset))
    return { mediaType: type.split(";")[0]!.trim(), base64: Buffer.from(answer.body).toString("base64") }
  const text = wordsOf(answer)
  // Without a content type, it is JSON if it parses as JSON.
  return type === "" || /[/+]json\b/i.test(type) ? (parsed(text) ?? text) : text
}
