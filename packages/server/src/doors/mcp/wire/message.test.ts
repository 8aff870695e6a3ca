import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { deepest } from "../../node/Body.ts"
import { isReservedMeta } from "../../../servers/ReservedMeta.ts"
import { maxInBatch, readBody, eraOf, metaKeys, type Message, readMessage } from "./message.ts"
import { negotiate, servedRevisions } from "./revision.ts"

const read = (value: unknown) => readBody(typeof value === "string" ? value : JSON.stringify(value))
const faultOf = (value: unknown) => {
  const message = read(value)
  assert.isTrue("kind" in message && message.kind === "faulty", JSON.stringify(message))
  return message as Extract<typeof message, { kind: "faulty" }>
}

describe("message", () => {
  it("S2-73 S3-77 what is not a message is the fault that answers it", () => {
    assert.strictEqual(faultOf("{").fault.code, -32700)
    assert.strictEqual(faultOf("").fault.code, -32700)
    for (const bad of [
      1,
      null,
      "1",
      {},
      { jsonrpc: "1.0", id: 1, method: "ping" },
      { id: 1, method: "ping" },
      { jsonrpc: "2.0", id: 1 },
      { jsonrpc: "2.0", id: null, method: "ping" },
      { jsonrpc: "2.0", id: 1.5, method: "ping" },
      { jsonrpc: "2.0", id: 1, result: {}, error: {} },
      [],
    ])
      assert.strictEqual(faultOf(bad).fault.code, -32600, JSON.stringify(bad))
    for (const params of [[], 1, "x", null])
      assert.strictEqual(faultOf({ jsonrpc: "2.0", id: 1, method: "ping", params }).fault.code, -32602)
    assert.strictEqual(faultOf({ jsonrpc: "2.0", id: 7, method: "x", params: { _meta: 1 } }).id, 7)
  })

  it("zero and the empty string are ids, and absent params are empty ones", () => {
    for (const id of [0, "", "a", -1])
      assert.deepStrictEqual(read({ jsonrpc: "2.0", id, method: "ping" }), {
        kind: "request",
        id,
        method: "ping",
        params: {},
      })
    assert.deepStrictEqual(read({ jsonrpc: "2.0", method: "x" }), { kind: "notification", method: "x", params: {} })
  })

  it("nothing nested deeper than anybody needs, no NUL, no endless batch", () => {
    const nested = (depth: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`
    assert.notProperty(read(nested(deepest - 2)), "fault")
    assert.strictEqual(faultOf(nested(deepest)).fault.code, -32600)
    assert.strictEqual(faultOf("[".repeat(3_000_000)).fault.code, -32600)
    assert.strictEqual(faultOf('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\u0000"}}').fault.code, -32600)
    const one = { jsonrpc: "2.0", id: 1, method: "ping" }
    assert.strictEqual((read(Array.from({ length: maxInBatch }, () => one)) as Array<unknown>).length, maxInBatch)
    faultOf(Array.from({ length: maxInBatch + 1 }, () => one))
    // Brackets inside a string do not count.
    const words = { ...one, params: { text: `"${"[".repeat(1000)}\\` } }
    assert.notProperty(read(words), "fault")
  })

  it("any JSON and any text is read without a throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => assert.isOk(readBody(text))),
      { numRuns: 5000, seed: 6 },
    )
  })
})

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
      assert.isTrue(isReservedMeta(key), key)
    for (const key of ["stoa/space", "progressToken", "com.example/mcp", "traceparent", "com.mcpish/x"])
      assert.isFalse(isReservedMeta(key), key)
  })
})
