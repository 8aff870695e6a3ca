import { assert, describe, it } from "@effect/vitest"
import { eraOf, isReserved, metaKeys, type Message, readMessage } from "./message.ts"
import { negotiate, servedRevisions } from "./revision.ts"

const K = "io.modelcontextprotocol/"
const request = (meta?: object, method = "tools/list"): Message =>
  readMessage({ jsonrpc: "2.0", id: 1, method, params: meta === undefined ? {} : { _meta: meta } })
const complete = (version: unknown) => ({ [`${K}protocolVersion`]: version, [`${K}clientCapabilities`]: {} })
const judge = (header: string | undefined, message: Message) => {
  const era = eraOf(header, message)
  return era.era === "refused" ? era.fault.code : era.era
}

describe("era", () => {
  it("X-39 X-40 the whole table: header, claim and method say which era a message is of, or why it is of none", () => {
    const now = "2026-07-28"
    const old = "2025-11-25"
    const rows: ReadonlyArray<readonly [string | undefined, Message, number | string]> = [
      [undefined, request(undefined, "initialize"), "old"],
      [old, request(undefined, "initialize"), "old"],
      [now, request(), -32602],
      [now, request({}), -32602],
      [now, request({ [`${K}protocolVersion`]: now }), -32602],
      [now, request({ [`${K}clientCapabilities`]: {} }), -32602],
      [now, request(complete(7)), -32602],
      [now, request({ ...complete(now), [`${K}logLevel`]: "loud" }), -32602],
      [now, request({ ...complete(now), [`${K}clientInfo`]: "me" }), -32602],
      [undefined, request(complete(now)), -32020],
      [old, request(complete(now)), -32020],
      [now, request(complete("v999.0.0")), -32020],
      ["v999.0.0", request(complete("v999.0.0")), -32022],
      ["2027-01-01", request(complete("2027-01-01")), -32022],
      [old, request(complete(old)), -32022],
      [now, request(complete(now)), "new"],
      [now, request(complete(now), "initialize"), "new"],
      [old, request(), "old"],
      ["2024-11-05", request(), "old"],
      [undefined, request(), "old"],
      ["nonsense", request(), -32022],
      [now, readMessage({ jsonrpc: "2.0", method: "notifications/cancelled" }), "new"],
      [undefined, readMessage({ jsonrpc: "2.0", method: "notifications/initialized" }), "old"],
      [undefined, readMessage({ jsonrpc: "2.0", id: 1, result: {} }), "old"],
    ]
    for (const [header, message, expected] of rows)
      assert.strictEqual(judge(header, message), expected, `${header} ${JSON.stringify(message)}`)
  })

  it("a log level alone makes nothing new", () => {
    assert.strictEqual(judge(undefined, request({ [metaKeys.logLevel]: "info" })), "old")
  })

  it("what is not served is told what is", () => {
    const era = eraOf("v9", request(complete("v9")))
    assert.deepStrictEqual(era.era === "refused" ? era.fault.data : undefined, {
      supported: servedRevisions,
      requested: "v9",
    })
  })

  it("S2-77 X-39 a served revision is echoed; otherwise the newest that has a handshake", () => {
    for (const it of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) assert.strictEqual(negotiate(it), it)
    for (const it of ["2026-07-28", "", "1.0"]) assert.strictEqual(negotiate(it), "2025-11-25")
  })

  it("keys of the protocol are told from a vendor's", () => {
    for (const key of [`${K}x`, "mcp.dev/x", "modelcontextprotocol.io/x", "dev.mcp/x"])
      assert.isTrue(isReserved(key), key)
    for (const key of ["stoa/space", "progressToken", "com.example/mcp", "traceparent", "com.mcpish/x"])
      assert.isFalse(isReserved(key), key)
  })
})
