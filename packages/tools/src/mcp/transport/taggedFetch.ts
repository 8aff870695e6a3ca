/**
 * A fetch that marks a server's own messages with the request on whose stream they arrive: the SDK passes messages on
 * without saying where they came from.
 */
// edge: fetch and web streams
import type { FetchLike } from "@modelcontextprotocol/client"
import { lineKey } from "./lines.ts"

/** Broken streams that may be resumed, by their last event. */
const maxBroken = 1000

interface Spoken {
  readonly method?: unknown
  readonly params?: { readonly _meta?: object }
}

const tokenIn = (body: unknown): string | undefined => {
  if (typeof body !== "string" || !body.includes(lineKey)) return undefined
  const { params } = JSON.parse(body) as { readonly params?: { readonly _meta?: Readonly<Record<string, unknown>> } }
  const token = params?._meta?.[lineKey]
  return typeof token === "string" ? token : undefined
}

const marked = (event: string, token: string): string => {
  if (!event.includes('"method"')) return event
  const lines = event.split(/\r?\n/)
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5))
  try {
    const spoken = JSON.parse(data.join("\n")) as Spoken
    if (typeof spoken.method !== "string") return event
    const params = { ...spoken.params, _meta: { ...spoken.params?._meta, [lineKey]: token } }
    const others = lines.filter((line) => !line.startsWith("data:"))
    return [...others, `data: ${JSON.stringify({ ...spoken, params })}`].join("\n")
  } catch {
    // The next reader of it reports what is wrong.
    return event
  }
}

const marking = (token: string, broken: Map<string, string>) => {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let text = ""
  let last: string | undefined
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, out) => {
      text += decoder.decode(chunk, { stream: true })
      for (let end = /\r?\n\r?\n/.exec(text); end !== null; end = /\r?\n\r?\n/.exec(text)) {
        const event = text.slice(0, end.index)
        text = text.slice(end.index + end[0].length)
        const id = /^id: ?(.*)$/m.exec(event)?.[1]?.trim()
        if (id !== undefined && id !== "") {
          if (last !== undefined) broken.delete(last)
          broken.set((last = id), token)
          if (broken.size > maxBroken) broken.delete(broken.keys().next().value!)
        }
        out.enqueue(encoder.encode(`${marked(event, token)}\n\n`))
      }
    },
    flush: (out) => {
      if (text !== "") out.enqueue(encoder.encode(text))
    },
  })
}

export const taggedFetch = (base: FetchLike): FetchLike => {
  const broken = new Map<string, string>()
  return async (url, init) => {
    const response = await base(url, init)
    if (response.headers.get("content-type")?.includes("text/event-stream") !== true) return response
    const resumed = new Headers(init?.headers).get("last-event-id")
    const token = resumed === null ? tokenIn(init?.body) : broken.get(resumed)
    if (token === undefined || response.body === null) return response
    const copy = new Response(response.body.pipeThrough(marking(token, broken)), response)
    Object.defineProperty(copy, "url", { value: response.url })
    return copy
  }
}
