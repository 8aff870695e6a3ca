/**
 * The house's MCP server for a program without network: a Unix socket in the folder of its turn, which is visible in
 * its sandbox. Only requests with the token of this turn pass, so that the socket gives no more access than the turn.
 */
// edge: a socket and the requests that come by it
import { createHash, timingSafeEqual } from "node:crypto"
import { chmodSync, chownSync, closeSync, constants, openSync } from "node:fs"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { join } from "node:path"
import { BadInput, bodyOf, problemType, statusOf, Unauthenticated } from "@stoa/contract"
import { Effect } from "effect"
import type { User } from "./isolation.ts"

export const socketName = "house.sock"
/** More than a program needs at once. */
const maxConnections = 64

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Headers of one hop, which are not forwarded. `expect` has been answered here. */
const ofTheHop = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]

const passed = (headers: NodeJS.Dict<Array<string>>): Record<string, Array<string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, values = []]) => (ofTheHop.includes(name) ? [] : [[name, values]])),
  )

/** Why a request with this body is not forwarded: the house must read it as the one request that was checked here. */
const bodyFault = ({ headers, method }: IncomingMessage): string | undefined => {
  const { "content-length": length, "transfer-encoding": coding } = headers
  if (coding !== undefined && (length !== undefined || coding.toLowerCase() !== "chunked"))
    return "a body is sent with content-length or in chunks, and in no other coding"
  const isEmpty = coding === undefined && Number(length ?? 0) === 0
  return isEmpty || (method !== "GET" && method !== "HEAD") ? undefined : `a ${method} has no body`
}

const forward = (url: URL, asked: IncomingMessage, answer: ServerResponse): void => {
  const onward = request({
    host: url.hostname.replaceAll(/[[\]]/g, ""),
    port: url.port,
    path: asked.url,
    method: asked.method,
    headers: {
      ...passed(asked.headersDistinct),
      host: url.host,
      // Without it Node writes the body of a DELETE bare, and the house would read the body as another request.
      ...(asked.headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" }),
    },
    // A connection of its own, so that nothing left on it reaches another request or another turn.
    agent: false,
  })
  onward.once("response", (heard) => {
    answer.writeHead(heard.statusCode ?? 502, passed(heard.headersDistinct))
    heard.on("error", () => answer.destroy())
    heard.pipe(answer)
  })
  onward.once("error", () => {
    if (answer.headersSent) answer.destroy()
    else answer.writeHead(503).end()
  })
  asked.once("error", () => onward.destroy())
  answer.once("close", () => onward.destroy())
  asked.pipe(onward)
}

const refuse = (
  answer: ServerResponse,
  problem: ReturnType<typeof bodyOf>,
  headers: Readonly<Record<string, string>> = {},
): void => {
  answer
    .writeHead(problem.status, { ...headers, "content-type": problemType, connection: "close" })
    .end(JSON.stringify(problem))
}

const refuseToken = (answer: ServerResponse, reason: Unauthenticated["reason"]): void => {
  const detail = "Only the token of this turn comes in here: send STOA_TOKEN as a bearer token."
  const problem = { reason, ...bodyOf("Unauthenticated", statusOf(Unauthenticated), detail) }
  refuse(answer, problem, { "www-authenticate": "Bearer" })
}

const refuseBody = (answer: ServerResponse, message: string): void => {
  const { issues, message: detail } = new BadInput({ issues: [{ path: "body", message }] })
  const problem = { issues, ...bodyOf("BadInput", statusOf(BadInput), detail) }
  refuse(answer, problem)
}

/**
 * Open until the scope closes, which also closes all its connections. `wrongToken` is called for each request with
 * another token.
 */
export const openSocket = (
  folder: string,
  house: string,
  token: string,
  user: User | undefined,
  wrongToken: () => void,
) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly close: () => void }, string>((resume) => {
      const url = new URL(house)
      const wanted = digest(`Bearer ${token}`)
      // Anybody may ask whether the house is ready, as at its own door.
      const mayCome = ({ headers, method, url: path }: IncomingMessage): boolean =>
        (method === "GET" && path === "/readyz") || timingSafeEqual(digest(headers.authorization ?? ""), wanted)
      const server = createServer((asked, answer) => {
        if (mayCome(asked)) {
          const fault = bodyFault(asked)
          return fault === undefined ? forward(url, asked, answer) : refuseBody(answer, fault)
        }
        if (asked.headers.authorization === undefined) return refuseToken(answer, "missing")
        wrongToken()
        refuseToken(answer, "refused")
      })
      server.maxConnections = maxConnections
      // Paths of sockets must be short: on Linux a deep data folder is named by its descriptor, held as long as the
      // socket.
      const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
      const path = join(process.platform === "linux" ? `/proc/self/fd/${fd}` : folder, socketName)
      const close = () => {
        server.close()
        server.closeAllConnections()
        closeSync(fd)
      }
      server.once("error", (error) => {
        closeSync(fd)
        resume(Effect.fail(error.message))
      })
      server.listen(path, () => {
        try {
          chmodSync(path, 0o600)
          if (user !== undefined) chownSync(path, user.uid, user.gid)
          resume(Effect.succeed({ close }))
        } catch (cause) {
          close()
          resume(Effect.fail(String(cause)))
        }
      })
    }),
    ({ close }) => Effect.sync(close),
  )
