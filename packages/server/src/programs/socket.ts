/**
 * The house's MCP server for a program without network: a Unix socket in the folder of its turn, which is visible in
 * its sandbox. Only requests with the token of this turn pass, so that the socket gives no more access than the turn.
 */
// edge: a socket and the requests that come by it
import { createHash, timingSafeEqual } from "node:crypto"
import { chmodSync, chownSync, closeSync, constants, openSync } from "node:fs"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { join } from "node:path"
import { bodyOf, problemType, statusOf, Unauthenticated } from "@stoa/contract"
import { Effect } from "effect"
import type { User } from "./isolation.ts"

export const socketName = "house.sock"
/** More than a program needs at once. */
const mostConnections = 64

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Hop-by-hop headers, which are not forwarded. */
const ofTheHop = ["connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "proxy-authorization"]

const passed = (headers: NodeJS.Dict<Array<string>>): Record<string, Array<string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, values = []]) => (ofTheHop.includes(name) ? [] : [[name, values]])),
  )

const forward = (url: URL, asked: IncomingMessage, answer: ServerResponse): void => {
  const onward = request({
    host: url.hostname.replaceAll(/[[\]]/g, ""),
    port: url.port,
    path: asked.url,
    method: asked.method,
    headers: { ...passed(asked.headersDistinct), host: url.host },
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

const refuse = (answer: ServerResponse, reason: Unauthenticated["reason"]): void => {
  const detail = "Only the token of this turn comes in here: send STOA_TOKEN as a bearer token."
  const problem = { reason, ...bodyOf("Unauthenticated", statusOf(Unauthenticated), detail) }
  answer
    .writeHead(problem.status, { "content-type": problemType, "www-authenticate": "Bearer", connection: "close" })
    .end(JSON.stringify(problem))
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
        if (mayCome(asked)) return forward(url, asked, answer)
        if (asked.headers.authorization === undefined) return refuse(answer, "missing")
        wrongToken()
        refuse(answer, "refused")
      })
      server.maxConnections = mostConnections
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
