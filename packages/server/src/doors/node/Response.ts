/**
 * Writes an effect/http response to node:http. A raw body that is a function writes the response itself, as the feed
 * does.
 */
// edge: writes a node stream.
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Stream } from "effect"
import { Cookies, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { NodeRequest } from "./NodeRequest.ts"

/** A body that takes over the response after its head has been written. */
export type Takeover = (response: ServerResponse) => void

export const sendResponse = (
  request: HttpServerRequest.HttpServerRequest,
  answer: HttpServerResponse.HttpServerResponse,
): Effect.Effect<void> => {
  const { response, source } = request as NodeRequest
  if (response.writableEnded || response.destroyed) return Effect.void
  const headers: Record<string, string | ReadonlyArray<string>> = { ...answer.headers }
  const cookies = Cookies.toSetCookieHeaders(answer.cookies)
  if (cookies.length > 0) headers["set-cookie"] = cookies
  const { body } = answer
  // The unread rest of a refused body would be parsed as the next request.
  if (!source.complete && announcesBody(source)) headers["connection"] = "close"
  const bare = source.method === "HEAD" || HttpServerResponse.omitsBody(answer)
  const end = (bytes?: Uint8Array) => {
    response.writeHead(answer.status, headers as never)
    // A string is sent in one write with the head; latin1 keeps the bytes unchanged.
    if (bytes === undefined || bytes.length > 16_384) response.end(bytes)
    else response.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"), "latin1")
    return Effect.void
  }
  if (bare) return end()
  switch (body._tag) {
    case "Empty":
      return end()
    case "Uint8Array":
      return end(body.body)
    case "Raw":
      if (typeof body.body !== "function") return end(Buffer.from(String(body.body)))
      response.writeHead(answer.status, headers as never)
      ;(body.body as Takeover)(response)
      return Effect.void
    case "Stream":
      response.writeHead(answer.status, headers as never)
      return Stream.runForEach(body.stream, (chunk) => writeAll(response, chunk)).pipe(
        Effect.matchCause({ onSuccess: () => void response.end(), onFailure: () => void response.destroy() }),
      )
    case "FormData":
      return Effect.die(new Error("form data is never sent"))
  }
}

const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** Waits until the chunk is sent: a slow client must not fill our memory. */
const writeAll = (response: ServerResponse, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.callback((resume) => {
    response.write(chunk, () => resume(Effect.void))
  })
