/** What the suites about the gateway share: fixtures behind a server of either era, and the official clients in front. */
import { createServer, request as httpRequest } from "node:http"
import type { AddressInfo } from "node:net"
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client"
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Context, Effect, Layer } from "effect"
import { pause } from "../../../../test/pause.ts"
import { withFixtures } from "../conformance/toolset.ts"
import { ask, Guest, house } from "../house.ts"

/** A house that has the suite's fixtures as a toolset: what the house that is tested is a client of. */
export class Fixtures extends Context.Service<Fixtures, { readonly url: string; readonly token: string }>()(
  "test/Fixtures",
) {
  static readonly layer = Layer.effect(
    Fixtures,
    Effect.gen(function* () {
      const built = yield* Layer.build(Layer.fresh(house({ store: "sqlite" }).pipe(Layer.provide(withFixtures))))
      const { adminToken, url } = Context.get(built, Guest)
      return { url: `${url}/mcp/conformance`, token: adminToken }
    }),
  )
}

interface Heard {
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: {
    readonly id?: unknown
    readonly method?: string
    // oxlint-disable-next-line typescript/no-explicit-any
    readonly params?: any
    readonly result?: unknown
    readonly error?: unknown
  }
}

/**
 * The same server, as one of an era would be: a server of the old era has never heard of the new one's requests. What was
 * sent to it is written down, and it can be made to hang.
 */
export const behind = (target: string, era: "old" | "new", token?: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly heard: Array<Heard>; close: () => void; hangs: boolean }>(
      (resume) => {
        const heard: Array<Heard> = []
        const it = { url: "", heard, hangs: false, close: () => {} }
        const server = createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8")
            const body = (text === "" ? {} : JSON.parse(text)) as Heard["body"]
            const isNew = request.headers["mcp-protocol-version"] === "2026-07-28"
            if (era === "old" && isNew) {
              response.writeHead(400, { "content-type": "application/json" })
              const error = { code: -32_000, message: "Bad Request: Unsupported protocol version" }
              return response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }))
            }
            heard.push({ headers: request.headers, body })
            if (it.hangs) return undefined
            const headers = { ...request.headers, host: new URL(target).host }
            const way = httpRequest(
              target,
              {
                method: request.method ?? "POST",
                headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
              },
              (answer) => {
                response.writeHead(answer.statusCode ?? 500, answer.headers)
                answer.on("error", () => response.destroy())
                answer.pipe(response)
              },
            )
            way.on("error", () => response.destroy())
            response.on("close", () => way.destroy())
            return way.end(text)
          })
        }).listen(0, "127.0.0.1", () => {
          it.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
          it.close = () => {
            server.closeAllConnections()
            server.close()
          }
          resume(Effect.succeed(it))
        })
      },
    ),
    (it) => Effect.sync(() => it.close()),
  )

/** A server the house is a client of, until the test is over, and an agent that may use it. */
export const joined = Effect.fnUntraced(function* (server: string) {
  const { admin, url } = yield* Guest
  const name = `it-${Math.random().toString(36).slice(2, 8)}`
  yield* ask(() => admin.mcpServers.add({ name, url: server }))
  yield* Effect.addFinalizer(() => Effect.promise(() => admin.mcpServers.remove(name).catch(() => {})))
  const { token } = yield* ask(() => admin.tokens.add({ principal: "ada" }))
  return { admin, name, token, place: `${url}/mcp/servers/${name}`, url }
})

/** The fixtures behind a server of an era. */
export const scene = Effect.fnUntraced(function* (era: "old" | "new") {
  const { token, url } = yield* Fixtures
  const server = yield* behind(url, era, token)
  return { ...(yield* joined(server.url)), server }
})

/** Waits until something is so. */
export const until = <E = never, R = never>(
  so: () => boolean | Effect.Effect<boolean, E, R>,
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    for (;;) {
      const now = so()
      if (typeof now === "boolean" ? now : yield* now) return
      yield* Effect.promise(pause)
    }
  })

const asBearer = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } })

/** The official client of the last year, which knows `initialize` and no other beginning. */
export const oldClient = (
  url: string,
  token: string,
  capabilities: object = {},
  prepare?: (client: OldClient) => void,
) =>
  Effect.acquireRelease(
    ask(async () => {
      const client = new OldClient({ name: "old", version: "1" }, { capabilities })
      prepare?.(client)
      await client.connect(new OldTransport(new URL(url), asBearer(token)))
      return client
    }),
    (client) => Effect.promise(() => client.close()),
  )

/** The official client of today, held to the new era. It hands back what a server asks, as long as nobody answers for it. */
export const newClient = (
  url: string,
  token: string,
  capabilities: object = {},
  prepare?: (client: NewClient) => void,
) =>
  Effect.acquireRelease(
    ask(async () => {
      const client = new NewClient(
        { name: "new", version: "1" },
        { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } },
      )
      prepare?.(client)
      await client.connect(new NewTransport(new URL(url), asBearer(token)))
      return client
    }),
    (client) => Effect.promise(() => client.close()),
  )
