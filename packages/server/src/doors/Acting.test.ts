import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { correlationFrom, hostsOf } from "./Acting.ts"

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
})
