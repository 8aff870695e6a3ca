/** `fetch` over a Unix socket, for programs that have no network: the address only says which house is meant. */
// edge: requests.
import { request } from "node:http"
import { Readable } from "node:stream"

export type Fetch = (url: URL | string, init?: RequestInit) => Promise<Response>

const bodiless = [204, 205, 304]

export const fetchOver =
  (socketPath: string): Fetch =>
  (url, { body, headers, method = "GET", signal } = {}) =>
    new Promise((resolve, reject) => {
      const { host, pathname, search } = new URL(url)
      const asked = request({
        socketPath,
        path: pathname + search,
        method,
        headers: { host, ...(headers as Record<string, string> | undefined) },
        ...(signal == null ? {} : { signal }),
      })
      asked.once("error", reject)
      asked.once("response", (answer) => {
        const status = answer.statusCode ?? 502
        const given = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        )
        const stream = bodiless.includes(status) ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>)
        if (stream === null) answer.resume()
        resolve(new Response(stream, { status, headers: given }))
      })
      asked.end(typeof body === "string" ? body : undefined)
    })
