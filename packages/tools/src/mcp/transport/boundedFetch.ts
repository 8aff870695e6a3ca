/** A fetch with a size limit for answers. An event stream may be endless; its limit applies to each event. */
// edge: fetch and web streams
import type { FetchLike } from "@modelcontextprotocol/client"
import { WholeResponse } from "./WholeResponse.ts"

/** A larger message or answer ends the connection: nothing a model could read is that large. */
export const maxMessageBytes = 10 * 1024 * 1024

const lineFeed = 10
const carriageReturn = 13

/** Bytes after the last empty line of a chunk, or -1 when it has none. */
const afterLastEvent = (chunk: Uint8Array): number => {
  for (let at = chunk.length - 1; at > 0; at--) {
    const before = chunk[at - 1]
    if (chunk[at] === lineFeed && (before === lineFeed || (before === carriageReturn && chunk[at - 2] === lineFeed)))
      return chunk.length - 1 - at
  }
  return -1
}

const bounded = (most: number, perEvent: boolean) => {
  let size = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, out) => {
      const rest = perEvent ? afterLastEvent(chunk) : -1
      size = rest === -1 ? size + chunk.length : rest
      if (size > most) out.error(new Error(`The answer is larger than ${most} bytes`))
      else out.enqueue(chunk)
    },
  })
}

export const boundedFetch =
  (base: FetchLike, most: number): FetchLike =>
  async (url, init) => {
    const response = await base(url, init)
    if (response instanceof WholeResponse) return response
    // Redirects and errors of the platform cannot be rebuilt, and 204 and 205 may have no body.
    if (response.body === null || response.status < 200 || response.type === "opaqueredirect") return response
    const perEvent = response.headers.get("content-type")?.includes("text/event-stream") ?? false
    const copy = new Response(response.body.pipeThrough(bounded(most, perEvent)), response)
    // A rebuilt response loses its URL, which the SDK needs to judge redirects.
    Object.defineProperty(copy, "url", { value: response.url })
    return copy
  }
