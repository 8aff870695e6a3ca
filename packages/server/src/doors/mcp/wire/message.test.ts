import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { deepest } from "../../node/Body.ts"
import { mostInBatch, readBody } from "./message.ts"

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
    assert.strictEqual((read(Array.from({ length: mostInBatch }, () => one)) as Array<unknown>).length, mostInBatch)
    faultOf(Array.from({ length: mostInBatch + 1 }, () => one))
    // Brackets in a string are words.
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
