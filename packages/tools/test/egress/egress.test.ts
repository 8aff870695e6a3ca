/** The way out, against real sockets on loopback and a DNS that lies. */
import { once } from "node:events"
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  checkHost,
  CurrentEgressPolicy,
  Egress,
  type EgressFault,
  type EgressRequest,
} from "../../src/egress/Egress.ts"
import { defaultEgressPolicy, type EgressPolicy } from "../../src/egress/Policy.ts"
import { Resolver } from "../../src/egress/Resolver.ts"
import { http, tcp, text } from "./egressLoopback.ts"

const fetch = Effect.fnUntraced(function* (url: string, more: Partial<EgressRequest> = {}) {
  const egress = yield* Egress
  return yield* egress.fetch({ tool: "http-get", url, ...more })
})
const refusal = Effect.fnUntraced(function* (url: string, more: Partial<EgressRequest> = {}) {
  const error = yield* Effect.flip(fetch(url, more))
  assert.strictEqual(error._tag, "ToolExecutionError")
  assert.strictEqual(error.toolName, "http-get")
  return (error.cause as EgressFault).reason
})
const under = (policy: Partial<EgressPolicy>) =>
  Effect.provideService(CurrentEgressPolicy, { ...defaultEgressPolicy, timeoutMs: 5000, ...policy })

/** Answers each name with the next of its lists, the last one for ever. Counts how often it was asked. */
const dns = (names: Record<string, ReadonlyArray<ReadonlyArray<string>>>) => {
  const asked: Array<string> = []
  const resolve = (host: string) =>
    Effect.sync(() => {
      const lists = names[host] ?? []
      const at = asked.filter((it) => it === host).length
      asked.push(host)
      return lists[Math.min(at, lists.length - 1)] ?? []
    })
  return { asked, provide: Effect.provideService(Resolver, { resolve }) }
}
const body = (it: { readonly body: Uint8Array }) => Buffer.from(it.body).toString()

/** The judgement alone. It opens no connection, so that no test can reach what really stands at such an address. */
const judged = (host: string, allow: ReadonlyArray<string> = []) =>
  checkHost(new URL(`http://${host}/`), allow).pipe(
    Effect.as("allowed" as const),
    Effect.catch(({ reason }) => Effect.succeed(reason)),
  )

describe("Egress refuses", () => {
  it.live("S4-90 loopback, private and metadata addresses, and nothing reaches them", () =>
    Effect.gen(function* () {
      const inside = yield* http(text("secret"))
      const six = yield* http(text("secret"), "::1")
      const urls = [
        inside.url,
        six.url,
        `http://[::ffff:127.0.0.1]:${inside.port}/`,
        `http://[::ffff:7f00:1]:${inside.port}/`,
        `http://[64:ff9b::7f00:1]:${inside.port}/`,
        `http://0.0.0.0:${inside.port}/`,
        `http://[::]:${inside.port}/`,
      ]
      for (const url of urls) assert.strictEqual(yield* refusal(url), "address", url)
      const elsewhere = [
        "169.254.169.254",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "192.168.1.1",
        "100.100.100.200",
        "168.63.129.16",
      ]
      for (const host of [...elsewhere, "224.0.0.1", "[fe80::1]"])
        assert.strictEqual(yield* judged(host), "address", host)
      assert.strictEqual(yield* refusal(`http://2130706433:${inside.port}/`), "spelling")
      assert.lengthOf([...inside.seen, ...six.seen], 0)
    }),
  )

  it.live("S4-90 names that resolve to them, also among good ones, and names without an address", () =>
    Effect.gen(function* () {
      const inside = yield* http(text("secret"))
      const names = dns({
        "in.test": [["127.0.0.1"]],
        "meta.test": [["169.254.169.254"]],
        "mixed.test": [["93.184.216.34", "10.0.0.1"]],
        "mapped.test": [["::ffff:127.0.0.1"]],
        "zone.test": [["fe80::1%eth0"]],
        "odd.test": [["not an address"]],
      })
      yield* Effect.gen(function* () {
        for (const name of ["in", "meta", "mixed", "mapped", "zone", "odd"])
          assert.strictEqual(yield* judged(`${name}.test`), "address", name)
        assert.strictEqual(yield* judged("none.test"), "unresolved")
        assert.strictEqual(yield* refusal(`http://in.test:${inside.port}/`), "address")
      }).pipe(names.provide)
      assert.strictEqual(yield* refusal(`http://localhost:${inside.port}/`), "address")
      assert.lengthOf(inside.seen, 0)
    }),
  )

  it.live("S4-90 G-16 a redirect to them, however it is written", () =>
    Effect.gen(function* () {
      const inside = yield* http(text("secret"))
      const hop = yield* http((request, response) => {
        response.writeHead(302, { location: decodeURIComponent((request.url ?? "").slice(1)) }).end()
      })
      const to = (location: string) => refusal(`${hop.url}/${encodeURIComponent(location)}`)
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* to(inside.url), "address")
        assert.strictEqual(yield* to(`//127.0.0.1:${inside.port}/`), "address")
        assert.strictEqual(yield* to("http://localhost:1/"), "address")
        assert.strictEqual(yield* to("http://[::1]/"), "address")
        assert.strictEqual(yield* to(`http://2130706433:${inside.port}/`), "spelling")
        assert.strictEqual(yield* to("file:///etc/passwd"), "scheme")
        assert.strictEqual(yield* to("http://user:pass@example.com/"), "credentials-in-url")
        assert.strictEqual(yield* to("http://"), "url")
      }).pipe(under({ allow: [hop.host] }))
      assert.lengthOf(inside.seen, 0)
    }),
  )

  it.live("G-16 a host that is not on the list of the policy or of the tool, also after a redirect", () =>
    Effect.gen(function* () {
      const other = yield* http(text("other"))
      const listed = yield* http((_, response) => response.writeHead(302, { location: other.url }).end())
      const allow = [listed.host, other.host]
      assert.strictEqual(yield* refusal(other.url).pipe(under({ allow, hosts: [listed.host] })), "host-not-listed")
      assert.strictEqual(yield* refusal(listed.url).pipe(under({ allow, hosts: [listed.host] })), "host-not-listed")
      assert.strictEqual(yield* refusal(listed.url, { hosts: [listed.host] }).pipe(under({ allow })), "host-not-listed")
      assert.strictEqual(body(yield* fetch(listed.url).pipe(under({ allow }))), "other")
      assert.lengthOf(other.seen, 1)
    }),
  )

  it.live("G-16 link-local and metadata addresses, which no allow list opens", () =>
    Effect.gen(function* () {
      const names = dns({ "open.test": [["169.254.169.254"]], "lan.test": [["10.1.2.3"]] })
      const never = [
        "open.test",
        "169.254.170.2",
        "169.254.169.254",
        "168.63.129.16",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "0.0.0.0",
      ]
      for (const host of never) assert.strictEqual(yield* judged(host, never).pipe(names.provide), "address", host)
      assert.strictEqual(yield* judged("lan.test", ["lan.test"]).pipe(names.provide), "allowed")
      assert.strictEqual(yield* judged("lan.test", ["lan.test:8080"]).pipe(names.provide), "address")
    }),
  )
})

describe("Egress connects", () => {
  it.live("G-16 to the address that was checked, though DNS changes its mind in between", () =>
    Effect.gen(function* () {
      const checked = yield* http(text("checked"))
      const names = dns({ "rebind.test": [["127.0.0.1"], ["240.0.0.1"]] })
      const opened = under({ allow: ["rebind.test"] })
      const answer = yield* fetch(`http://rebind.test:${checked.port}/a?b=c`).pipe(names.provide, opened)
      assert.strictEqual(body(answer), "checked")
      assert.deepStrictEqual(names.asked, ["rebind.test"])
      assert.strictEqual(checked.seen[0]?.headers.host, `rebind.test:${checked.port}`)
      assert.strictEqual(checked.seen[0]?.url, "/a?b=c")
    }),
  )

  it.live("G-16 and looks again, and judges again, at each redirect", () =>
    Effect.gen(function* () {
      const server = yield* http((_, response) => response.writeHead(302, { location: "/again" }).end())
      const names = dns({ "rebind.test": [["127.0.0.1"], ["240.0.0.1"]] })
      const reason = yield* refusal(`http://rebind.test:${server.port}/`).pipe(
        names.provide,
        under({ allow: ["rebind.test"] }),
      )
      assert.strictEqual(reason, "address")
      assert.lengthOf(names.asked, 2)
      assert.lengthOf(server.seen, 1)
    }),
  )

  it.live("G-16 by TLS under the name that was asked for", () =>
    Effect.gen(function* () {
      let hello = ""
      const server = yield* tcp((socket) => {
        socket.once("data", (bytes: Buffer) => {
          hello = bytes.toString("latin1")
          socket.destroy()
        })
      })
      const names = dns({ "pinned.test": [["127.0.0.1"]] })
      const reason = yield* refusal(`https://pinned.test:${server.port}/`).pipe(
        names.provide,
        under({ allow: ["pinned.test"] }),
      )
      assert.strictEqual(reason, "connection")
      assert.include(hello, "pinned.test")
    }),
  )

  it.live("S4-90 five redirects are followed, the sixth is not", () =>
    Effect.gen(function* () {
      const server = yield* http((request, response) => {
        const left = Number((request.url ?? "").slice(1))
        if (left === 0) response.end("there")
        else response.writeHead(301, { location: `/${left - 1}` }).end("x".repeat(1000))
      })
      const policy = under({ allow: [server.host] })
      const answer = yield* fetch(`${server.url}/5`).pipe(policy)
      assert.strictEqual(body(answer), "there")
      assert.strictEqual(answer.url, `${server.url}/0`)
      assert.strictEqual(yield* refusal(`${server.url}/6`).pipe(policy), "redirects")
    }),
  )

  it.live("G-16 credentials stay with their origin", () =>
    Effect.gen(function* () {
      const other = yield* http(text("ok"))
      const server = yield* http((request, response) => {
        const location = request.url === "/same" ? "/end" : `${other.url}/end`
        if (request.url === "/end") response.end("ok")
        else response.writeHead(307, { location }).end()
      })
      const headers = { Authorization: "Bearer s", Cookie: "a=b", "X-Api-Key": "k", Accept: "text/html" }
      const policy = under({ allow: [server.host, other.host] })
      yield* fetch(`${server.url}/same`, { headers }).pipe(policy)
      assert.strictEqual(server.seen[1]?.headers.authorization, "Bearer s")
      yield* fetch(`${server.url}/other`, { headers }).pipe(policy)
      const arrived = other.seen[0]?.headers ?? {}
      assert.deepStrictEqual(
        [arrived.authorization, arrived.cookie, arrived["x-api-key"]],
        [undefined, undefined, undefined],
      )
      assert.strictEqual(arrived.accept, "text/html")
      const post = { method: "POST", body: "{}" } as const
      assert.strictEqual(yield* refusal(`${server.url}/other`, post).pipe(policy), "redirect-body")
    }),
  )

  it.live("a 303 turns a POST into a GET without its body", () =>
    Effect.gen(function* () {
      const server = yield* http((request, response) => {
        if (request.method === "POST") response.writeHead(303, { location: "/end" }).end()
        else response.end("ok")
      })
      yield* fetch(server.url, { method: "POST", body: "a=é" }).pipe(under({ allow: [server.host] }))
      assert.deepStrictEqual(
        server.seen.map((it) => [it.method, it.body]),
        [
          ["POST", "a=é"],
          ["GET", ""],
        ],
      )
    }),
  )
})

describe("Egress bounds", () => {
  it.live("bodies: cut with a mark, or refused", () =>
    Effect.gen(function* () {
      const server = yield* http(text("x".repeat(5000)))
      const policy = under({ allow: [server.host], maxBytes: 1000 })
      const cut = yield* fetch(server.url, { cut: true }).pipe(policy)
      assert.isTrue(cut.truncated)
      assert.strictEqual(cut.body.length, 1000)
      assert.strictEqual(yield* refusal(server.url).pipe(policy), "too-large")
      const whole = yield* fetch(server.url).pipe(under({ allow: [server.host], maxBytes: 5000 }))
      assert.isFalse(whole.truncated)
      assert.strictEqual(yield* refusal(server.url, { maxBytes: 9000 }).pipe(policy), "too-large")
    }),
  )

  it.live("G-16 a stream that never ends, and a decompression bomb", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(50 << 20))
      const server = yield* http((request, response) => {
        if (request.url === "/bomb") return void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb)
        if (request.url === "/twice")
          return void response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(gzipSync(bomb))
        if (request.url === "/zip")
          return void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("plain"))
        if (request.url === "/broken")
          return void response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip")
        const more = () => {
          while (response.write("y".repeat(65_536)));
        }
        response.on("drain", more)
        more()
      })
      const policy = under({ allow: [server.host] })
      assert.strictEqual(yield* refusal(`${server.url}/bomb`).pipe(policy), "too-large")
      assert.strictEqual((yield* fetch(`${server.url}/bomb`, { cut: true }).pipe(policy)).body.length, 1 << 20)
      assert.strictEqual(yield* refusal(`${server.url}/twice`).pipe(policy), "encoding")
      assert.strictEqual(yield* refusal(`${server.url}/endless`).pipe(policy), "too-large")
      assert.strictEqual(yield* refusal(`${server.url}/broken`).pipe(policy), "connection")
      assert.strictEqual(body(yield* fetch(`${server.url}/zip`).pipe(policy)), "plain")
    }),
  )

  it.live("servers that are slow, silent, broken or loud", () =>
    Effect.gen(function* () {
      const speak = (words: string) => tcp((socket) => void socket.once("data", () => socket.write(words)))
      const drip = yield* tcp(
        (socket) => void socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")),
      )
      const silent = yield* tcp(() => {})
      const garbage = yield* speak("SSH-2.0-OpenSSH_9.9\r\n")
      const loud = yield* speak(`HTTP/1.1 200 OK\r\n${"X-Pad: yyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(2000)}\r\n`)
      const short = yield* tcp(
        (socket) => void socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")),
      )
      const changes = yield* speak("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
      const smuggle = yield* speak("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc")
      const at = (server: { readonly host: string; readonly url: string }) =>
        refusal(server.url).pipe(under({ allow: [server.host], timeoutMs: 250 }))
      assert.strictEqual(yield* at(drip), "timeout")
      assert.strictEqual(yield* at(silent), "timeout")
      assert.strictEqual(yield* at(garbage), "connection")
      assert.strictEqual(yield* at(loud), "too-large")
      assert.strictEqual(yield* at(short), "connection")
      assert.strictEqual(yield* at(changes), "connection")
      assert.strictEqual(yield* at(smuggle), "connection")
    }),
  )

  it.live("an interrupted request closes its connection", () =>
    Effect.gen(function* () {
      let arrived: (socket: Socket) => void
      const connected = new Promise<Socket>((found) => (arrived = found))
      const server = yield* tcp((socket) => void socket.once("data", () => arrived(socket)))
      const call = yield* Effect.forkChild(fetch(server.url).pipe(under({ allow: [server.host] })))
      const socket = yield* Effect.promise(() => connected)
      const closed = once(socket, "close")
      socket.resume()
      yield* Fiber.interrupt(call)
      yield* Effect.promise(() => closed)
    }),
  )

  it.live("a refusal shows neither the query nor what a header held", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(fetch("http://127.0.0.1/search?api_key=hush", { headers: { "x-key": "hush" } }))
      assert.notInclude(JSON.stringify(error), "hush")
      assert.include(error.message, "127.0.0.1 is a loopback address")
    }),
  )
})
