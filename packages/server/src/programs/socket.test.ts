/** The socket of a turn before a real server on the loopback that writes down every request it reads. */
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openSocket, socketName } from "./socket.ts"

interface Heard {
  /** The method and the path. */
  readonly line: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
  /** The port of its connection. */
  readonly from: number
}

/** A house: it answers with the line of the request, or as told. */
const houseOf = (answers: (line: string, answer: ServerResponse) => void = (line, answer) => answer.end(line)) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const heard: Array<Heard> = []
      const server = createServer((asked, answer) => {
        const line = `${asked.method} ${asked.url}`
        const one = { line, headers: asked.headers, from: asked.socket.remotePort! }
        const told = async () => {
          heard.push({ ...one, body: await text(asked) })
          answers(line, answer)
        }
        told().catch(() => answer.destroy())
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      const { port } = server.address() as { readonly port: number }
      return { heard, server, url: `http://127.0.0.1:${port}` }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      }),
  )

/** The socket of a turn with this token, as its path. */
const turnOf = Effect.fnUntraced(function* (url: string, token: string) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-socket-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true })),
  )
  yield* openSocket(folder, url, token, undefined, () => {})
  return join(folder, socketName)
})

/** Sends bytes as they are; all that comes back until the other side closes. */
const say = (path: string, bytes: string): Effect.Effect<string> =>
  Effect.promise(() => {
    const line = connect(path)
    line.write(bytes)
    return text(line)
  })
const bearer = (token: string) => `Authorization: Bearer ${token}\r\n`
const closing = "Host: x\r\nConnection: close\r\n"
const inChunks = (body: string) => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`
const statusOf = (said: string) => Number(said.split(" ")[1])

const inner = `POST /inner HTTP/1.1\r\nHost: x\r\n${bearer("another")}Content-Length: 2\r\n\r\n{}`
const length = `Content-Length: ${inner.length}\r\n`
const chunked = "Transfer-Encoding: chunked\r\n"

describe("one message by a turn's socket is one request to the house", () => {
  it.effect("a GET or a HEAD with a body is refused, with and without a token, and its body asks for nothing", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* houseOf()
      const path = yield* turnOf(url, "mine")
      for (const start of [
        `GET /readyz HTTP/1.1\r\n${closing}`,
        `GET /me HTTP/1.1\r\n${closing}${bearer("mine")}`,
        `HEAD /me HTTP/1.1\r\n${closing}${bearer("mine")}`,
      ])
        for (const rest of [`${chunked}\r\n${inChunks(inner)}`, `${length}\r\n${inner}`])
          assert.strictEqual(statusOf(yield* say(path, start + rest)), 400, start + rest)
      const told = yield* say(path, `GET /readyz HTTP/1.1\r\n${closing}${length}\r\n${inner}`)
      assert.include(told, `"tag":"BadInput"`)
      assert.include(told, "a GET has no body")
      assert.strictEqual(statusOf(yield* say(path, `GET /readyz HTTP/1.1\r\n${closing}\r\n`)), 200)
      assert.deepStrictEqual(
        heard.map(({ line }) => line),
        ["GET /readyz"],
      )
    }),
  )

  it.effect("the body of every other method arrives as a body, and each request has a connection of its own", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* houseOf()
      const paths = [yield* turnOf(url, "mine"), yield* turnOf(url, "mine")]
      const methods = ["DELETE", "OPTIONS", "PATCH", "POST", "PUT"]
      for (const method of methods)
        for (const [path, rest] of [
          [paths[0]!, `${chunked}\r\n${inChunks(inner)}`],
          [paths[1]!, `${length}\r\n${inner}`],
        ] as const) {
          const said = yield* say(path, `${method} /me HTTP/1.1\r\n${closing}${bearer("mine")}${rest}`)
          assert.strictEqual(statusOf(said), 200)
          assert.include(said, `${method} /me`)
        }
      assert.deepStrictEqual(
        heard.map(({ body, line }) => [line, body]),
        methods.flatMap((method) => [0, 1].map(() => [`${method} /me`, inner])),
      )
      assert.strictEqual(new Set(heard.map(({ from }) => from)).size, heard.length)
    }),
  )

  it.effect("what could be read in two ways is refused, or forwarded without what makes it so", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* houseOf()
      const path = yield* turnOf(url, "mine")
      const start = `POST /me HTTP/1.1\r\n${closing}${bearer("mine")}`
      for (const framing of [
        `${length}${chunked}`,
        `${chunked}${length}`,
        `${length}Content-Length: 0\r\n`,
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: \vchunked\r\n",
      ])
        assert.strictEqual(statusOf(yield* say(path, `${start}${framing}\r\n${inChunks(inner)}`)), 400, framing)
      // A tunnel is not opened; what follows it is not read.
      assert.strictEqual(yield* say(path, `CONNECT /me HTTP/1.1\r\n${closing}${bearer("mine")}\r\n${inner}`), "")
      assert.deepStrictEqual(heard, [])
      const trailers = `Trailer: x-more\r\n${chunked}\r\n2\r\nhi\r\n0\r\nX-More: more\r\n\r\n`
      const upgrade = `Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nContent-Length: 2\r\n\r\nhi`
      const expect = "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi"
      const host = `Host: x\r\nConnection: close, Content-Length, Upgrade\r\n`
      for (const rest of [trailers, upgrade, expect])
        assert.include(yield* say(path, `POST /me HTTP/1.1\r\n${host}${bearer("mine")}${rest}`), "POST /me")
      assert.deepStrictEqual(
        heard.map(({ body, line }) => [line, body]),
        [0, 1, 2].map(() => ["POST /me", "hi"]),
      )
      for (const { headers } of heard)
        for (const name of ["expect", "trailer", "upgrade", "x-more"]) assert.notProperty(headers, name)
      // Each message after the first is judged by its own token.
      const second = `POST /me HTTP/1.1\r\n${host}${bearer("another")}Content-Length: 0\r\n\r\n`
      const said = yield* say(path, `GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n${second}`)
      assert.include(said, "401 Unauthorized")
      assert.strictEqual(heard.length, 4)
    }),
  )

  it.effect("the answers of two turns never mix", () =>
    Effect.gen(function* () {
      // What was left behind is answered only when the other turn has asked.
      let late: ServerResponse | undefined
      const { heard, url } = yield* houseOf((line, answer) => {
        if (line === "GET /left") late = answer
        else {
          answer.end(line)
          late?.end("GET /left")
        }
      })
      const mole = yield* turnOf(url, "mole")
      const other = yield* turnOf(url, "other")
      const left = `GET /left HTTP/1.1\r\nHost: x\r\n${bearer("mole")}\r\n`
      for (const method of ["GET", "DELETE", "OPTIONS"]) {
        yield* say(mole, `${method} /mole HTTP/1.1\r\n${closing}${bearer("mole")}${chunked}\r\n${inChunks(left)}`)
        const said = yield* say(other, `GET /other HTTP/1.1\r\n${closing}${bearer("other")}\r\n`)
        assert.include(said, "GET /other")
        assert.notInclude(said, "GET /left")
      }
      assert.notInclude(
        heard.map(({ line }) => line),
        "GET /left",
      )
    }),
  )
})
