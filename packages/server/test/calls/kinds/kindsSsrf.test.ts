/**
 * Where an http tool may connect to, whatever its address, the DNS or an answer says. Sockets are watched below node:http,
 * and one that leaves loopback is stopped there: no test reaches what really stands at such an address.
 */
import { isIP, type LookupFunction, Socket } from "node:net"
import { assert, layer } from "@effect/vitest"
import type { ToolExecutionError } from "@stoa/contract"
import { type EgressFault, Resolver } from "@stoa/tools"
import { Effect, Result } from "effect"
import { http, text } from "../../../../tools/test/egress/egressLoopback.ts"
import type { Kind } from "../../../src/calls/kinds/Kind.ts"
import { httpKind } from "../../../src/calls/kinds/http.ts"
import { called, configured, kindsLayer, rule } from "./kinds.ts"

interface Options {
  readonly host?: string
  readonly port?: number | string
  readonly lookup?: LookupFunction
}

/**
 * Every address dialled while it is in scope. On loopback only the port of the test's own service counts, if it has one:
 * what else lives in this process dials there as well.
 */
const watched = Effect.acquireRelease(
  Effect.sync(() => {
    const dialled: Array<string> & { own?: number } = []
    const original = Reflect.get(Socket.prototype, "connect")
    const connect = function (this: Socket, ...args: ReadonlyArray<unknown>) {
      const [first] = args
      const { host = "localhost", lookup, port } = (Array.isArray(first) ? first[0] : first) as Options
      const addresses: Array<string> = isIP(host) === 0 ? [] : [host]
      if (addresses.length === 0)
        lookup?.(host, { all: true }, (_, found) => {
          for (const one of Array.isArray(found) ? found : []) addresses.push(one.address)
        })
      const isInside = addresses.length > 0 && addresses.every((it) => it === "127.0.0.1" || it === "::1")
      if (!isInside || dialled.own === undefined || Number(port) === dialled.own) dialled.push(...addresses)
      if (isInside) return Reflect.apply(original, this, args) as Socket
      process.nextTick(() => this.destroy(new Error("stopped by the test")))
      return this
    }
    Reflect.set(Socket.prototype, "connect", connect)
    return { dialled, original }
  }),
  ({ original }) => Effect.sync(() => Reflect.set(Socket.prototype, "connect", original)),
).pipe(Effect.map(({ dialled }) => dialled))

const call = Effect.fnUntraced(function* (execution: object, input: Record<string, unknown> = {}) {
  const kind = (yield* httpKind) as unknown as Kind<never>
  return (yield* called(kind, configured(execution), input)).result
})
const reason = Effect.fnUntraced(function* (execution: object) {
  const result = yield* call(execution)
  if (Result.isSuccess(result)) return "answered"
  const error = result.failure as ToolExecutionError
  assert.strictEqual(error._tag, "ToolExecutionError")
  return (error.cause as EgressFault | undefined)?.reason ?? error.message
})
/** Answers each name with the next of its lists, the last one for ever. */
const dns = (names: Record<string, ReadonlyArray<ReadonlyArray<string>>>) => {
  const asked = new Map<string, number>()
  const resolve = (host: string) =>
    Effect.sync(() => {
      const lists = names[host] ?? []
      const at = asked.get(host) ?? 0
      asked.set(host, at + 1)
      return lists[Math.min(at, lists.length - 1)] ?? []
    })
  return { asked, provide: Effect.provideService(Resolver, { resolve }) }
}
const closed = rule("egress", [])

const inside = [
  ["127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"],
  ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "169.254.0.1"],
  ["224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "203.0.113.1", "240.0.0.1"],
  ["::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1"],
  ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1"],
  ["2002:7f00:1::", "2001:0:7f00:1::", "64:ff9b:1::7f00:1", "::127.0.0.1", "2001:470::5efe:7f00:1"],
].flat()
const literal = (address: string) => (address.includes(":") ? `[${address}]` : address)

layer(kindsLayer, { excludeTestServices: true })("an http tool and what lies inside", (it) => {
  it.effect("G-16 addresses inside are refused in every form, and nothing is dialled", () =>
    Effect.gen(function* () {
      yield* closed
      const dialled = yield* watched
      for (const address of inside)
        assert.strictEqual(yield* reason({ url: `http://${literal(address)}/latest/meta-data/` }), "address", address)
      const spelled = [
        ["http://2130706433/", "http://0x7f000001/", "http://017700000001/", "http://0x7f.1/", "http://127.1/"],
        [
          "http://0177.0.0.1/",
          "http://127.0.0.1./",
          "http://2852039166/",
          "http://0xa9fea9fe/",
          "http://0251.0376.0251.0376/",
        ],
        ["http://%31%32%37.0.0.1/", "http://１２７.0.0.1/", "http://①②⑦.0.0.1/", "http://127。0。0。1/", "http://0/"],
      ].flat()
      for (const url of spelled) assert.strictEqual(yield* reason({ url }), "spelling", url)
      assert.deepStrictEqual(dialled, [])
    }),
  )

  it.effect("G-16 names that lead inside are refused, also one bad address among good ones", () =>
    Effect.gen(function* () {
      yield* closed
      const dialled = yield* watched
      for (const address of inside) {
        const alone = dns({ "in.test": [[address]] })
        assert.strictEqual(yield* alone.provide(reason({ url: "https://in.test/" })), "address", address)
        const among = dns({ "mixed.test": [["93.184.216.34", address]] })
        assert.strictEqual(yield* among.provide(reason({ url: "https://mixed.test/" })), "address", address)
      }
      assert.strictEqual(yield* dns({}).provide(reason({ url: "https://none.test/" })), "unresolved")
      assert.deepStrictEqual(dialled, [])
    }),
  )

  it.effect("G-16 a name is looked up once, and what was judged is what is dialled", () =>
    Effect.gen(function* () {
      yield* closed
      const dialled = yield* watched
      const stub = yield* http(text("inside"))
      const changing = dns({ "rebind.test": [["93.184.216.34"], ["127.0.0.1"]] })
      const url = `http://rebind.test:${stub.port}/`
      assert.strictEqual(yield* changing.provide(reason({ url })), "connection")
      assert.deepStrictEqual(
        dialled.filter((address) => address !== "127.0.0.1"),
        ["93.184.216.34"],
      )
      assert.strictEqual(changing.asked.get("rebind.test"), 1)
      // Another call, or another attempt, is judged anew.
      assert.strictEqual(yield* changing.provide(reason({ url })), "address")
      const again = dns({ "rebind.test": [["93.184.216.34"], ["127.0.0.1"]] })
      assert.strictEqual(yield* again.provide(reason({ url, retries: 1 })), "address")
      // What an earlier file left in this process may dial on, and never the stub.
      assert.deepStrictEqual(
        dialled.filter((address) => address !== "127.0.0.1"),
        ["93.184.216.34", "93.184.216.34"],
      )
      assert.lengthOf(stub.seen, 0)
    }),
  )

  it.effect("G-16 a redirect is judged like an address of its own", () =>
    Effect.gen(function* () {
      const dialled = yield* watched
      const hidden = yield* http(text("inside"))
      let location = ""
      const stub = yield* http((_, response) => void response.writeHead(302, { location }).end())
      yield* rule("egress", [{ allow: [stub.host, "in.test"] }])
      const targets: ReadonlyArray<readonly [string, string]> = [
        [hidden.url, "address"],
        ...inside.map((address) => [`http://${literal(address)}/`, "address"] as const),
        ["http://2130706433/", "spelling"],
        ["//0x7f.1/", "address"],
        ["http://private.test/", "address"],
        ["http://user:pass@in.test/", "credentials-in-url"],
        ["file:///etc/passwd", "scheme"],
        ["gopher://in.test:70/_x", "scheme"],
        ["ftp://in.test/", "scheme"],
        ["data:text/plain,x", "scheme"],
        ["javascript:alert(1)", "scheme"],
        ["http://a b/", "url"],
        [stub.url, "redirects"],
      ]
      for (const [target, expected] of targets) {
        location = target
        const names = dns({ "private.test": [["10.0.0.1"]] })
        const before = hidden.seen.length
        assert.strictEqual(yield* names.provide(reason({ url: stub.url })), expected, target)
        assert.strictEqual(hidden.seen.length, before, target)
      }
      assert.deepStrictEqual([...new Set(dialled)], ["127.0.0.1"])
      assert.lengthOf(hidden.seen, 0)
    }),
  )

  it.effect("G-16 G-17 another origin gets neither the body nor what opens doors", () =>
    Effect.gen(function* () {
      const other = yield* http(text("{}"))
      let status = 302
      const stub = yield* http((_, response) => void response.writeHead(status, { location: `${other.url}/x` }).end())
      yield* rule("egress", [{ allow: ["127.0.0.1"] }])
      const headers = { Authorization: "Bearer t", "X-Api-Key": "k", Cookie: "c=1", Accept: "text/plain" }
      yield* call({ url: stub.url, headers })
      const [seen] = other.seen
      assert.deepStrictEqual(
        [seen!.headers.authorization, seen!.headers["x-api-key"], seen!.headers.cookie, seen!.headers.accept],
        [undefined, undefined, undefined, "text/plain"],
      )
      for (status of [307, 308])
        assert.strictEqual(yield* reason({ url: stub.url, method: "POST", body: { a: 1 } }), "redirect-body")
      assert.lengthOf(other.seen, 1)
    }),
  )

  it.effect("G-16 the operator opens hosts by name; link-local and metadata addresses never open", () =>
    Effect.gen(function* () {
      const dialled = yield* watched
      const stub = yield* http(text("fine"))
      dialled.own = stub.port
      const names = dns({ "in.test": [["127.0.0.1"]], "meta.test": [["169.254.169.254"]] })
      const to = (host: string) => names.provide(reason({ url: `http://${host}:${stub.port}/` }))
      yield* closed
      assert.deepStrictEqual([yield* to("127.0.0.1"), yield* to("in.test")], ["address", "address"])
      yield* rule("egress", [{ allow: [`in.test:${stub.port}`, "meta.test", "169.254.169.254", "[fd00:ec2::254]"] }])
      assert.deepStrictEqual([yield* to("127.0.0.1"), yield* to("in.test")], ["address", "answered"])
      for (const host of ["meta.test", "169.254.169.254", "[fd00:ec2::254]"])
        assert.strictEqual(yield* to(host), "address")
      yield* rule("egress", [{ allow: ["127.0.0.1"], hosts: ["api.test"] }])
      assert.strictEqual(yield* to("127.0.0.1"), "host-not-listed")
      assert.deepStrictEqual(dialled, ["127.0.0.1"])
    }),
  )

  it.effect("other schemes are faults of the configuration, and run nothing", () =>
    Effect.gen(function* () {
      const dialled = yield* watched
      const kind = yield* httpKind
      const urls = [
        "file:///etc/passwd",
        "ftp://a.test/",
        "gopher://a.test/",
        "data:,x",
        "javascript:1",
        "//a.test/",
        "unix:/x",
      ]
      for (const url of urls) {
        assert.deepStrictEqual(
          kind.faults!(configured({ url }) as never).map(({ path }) => path),
          ["execution.url"],
          url,
        )
        assert.match(yield* reason({ url }), /is configured wrongly, and nothing was sent/)
      }
      assert.deepStrictEqual(dialled, [])
    }),
  )
})
