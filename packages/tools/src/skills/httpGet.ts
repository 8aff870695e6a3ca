/** http-get: one public page or API answer, whatever its status. */
import type { ToolDefinition } from "@stoa/contract"
import { Effect } from "effect"
import { Egress } from "../egress/Egress.ts"
import type { Tool } from "../Handler.ts"
import { type Arguments, argument, refuse, text } from "./argument.ts"

const name = "http-get"

const definition: ToolDefinition = {
  name,
  description:
    "Fetch a public http or https URL with GET. Gives status, statusText, headers and body; a body over 1 MiB is cut, a binary one is base64. Private and local addresses are refused.",
  parameters: [
    { name: "url", type: "string", description: "The URL to fetch", required: true },
    { name: "headers", type: "object", description: "Request headers, names to strings", required: false },
  ],
  category: "http",
  riskLevel: "medium",
  timeoutMs: 15_000,
  requiresApproval: false,
  source: "builtin",
}

const headersIn = Effect.fnUntraced(function* (args: Arguments) {
  const given = argument(args, "headers") ?? {}
  const entries = typeof given === "object" && !Array.isArray(given) ? Object.entries(given) : undefined
  if (entries === undefined || entries.length > 64 || entries.some(([, value]) => typeof value !== "string"))
    return yield* refuse(name, `"headers" must be an object of at most 64 names with strings.`)
  return Object.fromEntries<string>(entries)
})

/** Text in the charset the answer names. Anything with a NUL, or whose type is not text, is base64. */
const read = (body: Uint8Array, type: string): { readonly body: string; readonly encoding?: "base64" } => {
  const binary =
    /^(image|audio|video|font)\/(?!svg)|octet-stream|\/(zip|gzip|pdf|wasm)\b/i.test(type) || body.includes(0)
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(type)?.[1] ?? "utf-8"
  if (binary && !/utf-?16/i.test(charset)) return { body: Buffer.from(body).toString("base64"), encoding: "base64" }
  const decoder = [charset, "utf-8"].map(decoderOf).find((it) => it !== undefined)
  return { body: decoder?.decode(body) ?? "" }
}
const decoderOf = (label: string): TextDecoder | undefined => {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}

export const httpGet: Tool = {
  definition,
  handler: Effect.fn("http-get")(function* (args) {
    const url = yield* text(name, args, "url")
    const headers = yield* headersIn(args)
    const answer = yield* (yield* Egress).fetch({ tool: name, url, headers, cut: true })
    const { status, statusText, truncated } = answer
    const { body, encoding } = read(answer.body, answer.headers["content-type"] ?? "")
    return {
      status,
      statusText,
      headers: answer.headers,
      body: truncated && encoding === undefined ? `${body}… [cut: the answer is longer]` : body,
      ...(encoding === undefined ? {} : { encoding }),
      ...(truncated ? { truncated } : {}),
      ...(answer.url === url ? {} : { url: answer.url }),
    }
  }),
}
