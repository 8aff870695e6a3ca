import { assert, describe, it } from "@effect/vitest"
import { ForeignOrigin } from "@stoa/contract"
import fc from "fast-check"
import { correlationFrom, hostsOf, refusals } from "./Acting.ts"
import { targetOf } from "./node/Target.ts"

describe("refusals", () => {
  it("G-39 any traceparent, hostile ones too, gives an id of 32 hex digits, and a good one its own", () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    assert.strictEqual(correlationFrom(`00-${trace}-00f067aa0ba902b7-01`), trace)
    assert.notStrictEqual(correlationFrom(`00-${"0".repeat(32)}-00f067aa0ba902b7-01`), "0".repeat(32))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f-]{0,60}$/)), (header) => {
        assert.match(correlationFrom(header), /^[0-9a-f]{32}$/)
      }),
      { numRuns: 20_000, seed: 39 },
    )
  })

  it("G-44 the house answers to its own names and its public address, each with its port, and to nothing else", () => {
    const hosts = hostsOf({
      host: "127.0.0.1",
      port: 4040,
      publicUrl: new URL("https://Stoa.example.org"),
      draining: () => false,
    })
    for (const host of ["127.0.0.1:4040", "localhost:4040", "[::1]:4040", "stoa.example.org"])
      assert.isTrue(hosts.has(host), host)
    for (const host of ["", "localhost", "localhost:80", "evil.example", "127.0.0.1:4041"])
      assert.isFalse(hosts.has(host), host)
  })

  it("G-44 a page is ours if it comes from the host of the request or from the public address, and not otherwise", () => {
    const publicUrl = new URL("https://stoa.example.org")
    const refusal = refusals({ host: "127.0.0.1", port: 4040, publicUrl, draining: () => false })
    const refusedBy = (host: string, origin: string | undefined) => {
      const headers = { host, ...(origin === undefined ? {} : { origin }) }
      const error = refusal({ method: "GET", target: targetOf("/api/v1/me"), headers, rawHeaders: ["Host", host] })
      return error === undefined ? undefined : error instanceof ForeignOrigin ? error.header : error._tag
    }
    for (const [host, origin] of [
      ["localhost:4040", undefined],
      ["localhost:4040", "http://localhost:4040"],
      ["LOCALHOST:4040", "http://localhost:4040"],
      ["127.0.0.1:4040", "https://stoa.example.org"],
    ] as const)
      assert.isUndefined(refusedBy(host, origin), `${host} ${origin}`)
    for (const origin of [
      "http://evil.example",
      "http://evil-localhost:4040",
      "http://localhost:4040.evil.example",
      "http://localhost:4041",
      "http://localhost",
      "http://127.0.0.1:4040",
      "https://evil-stoa.example.org",
      "https://stoa.example.org:444",
      "null",
      "",
    ])
      assert.strictEqual(refusedBy("localhost:4040", origin), "Origin", origin)
    assert.strictEqual(refusedBy("evil.example", undefined), "Host")
    assert.strictEqual(refusedBy("evil.example", "http://evil.example"), "Host")
  })
})
