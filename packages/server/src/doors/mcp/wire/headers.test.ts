import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { decodeHeader, paramHeaderFault, paramHeaders, standardHeaderFault } from "./headers.ts"
import { readMessage, type Request } from "./message.ts"

const request = (method: string, params: object = {}) =>
  readMessage({ jsonrpc: "2.0", id: 1, method, params }) as Request
const wrap = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`

describe("headers", () => {
  it("a header stands for itself, or for what is wrapped in it; half a wrapping is words", () => {
    assert.strictEqual(decodeHeader("  plain value\t"), "plain value")
    assert.strictEqual(decodeHeader(wrap("Hällo\n")), "Hällo\n")
    assert.strictEqual(decodeHeader("=?base64?SGVsbG8="), "=?base64?SGVsbG8=")
    assert.strictEqual(decodeHeader("SGVsbG8=?="), "SGVsbG8=?=")
    assert.strictEqual(decodeHeader("=?BASE64?SGVsbG8=?="), "=?BASE64?SGVsbG8=?=")
    for (const bad of ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?=", "=?base64?SGVsbG9=?="])
      assert.isUndefined(decodeHeader(bad), bad)
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        if (text.isWellFormed()) assert.strictEqual(decodeHeader(wrap(text)), text)
      }),
      { numRuns: 2000, seed: 2 },
    )
  })

  it("method and name are repeated, exactly", () => {
    const call = request("tools/call", { name: "sum" })
    const fault = (headers: Record<string, string>, it = call) => standardHeaderFault(headers, it)?.code
    assert.isUndefined(fault({ "mcp-method": "tools/call", "mcp-name": "sum" }))
    assert.isUndefined(fault({ "mcp-method": "tools/call", "mcp-name": ` ${wrap("sum")} ` }))
    assert.isUndefined(fault({ "mcp-method": "tools/list" }, request("tools/list")))
    for (const bad of [
      {},
      { "mcp-method": "tools/call" },
      { "mcp-name": "sum" },
      { "mcp-method": "TOOLS/CALL", "mcp-name": "sum" },
      { "mcp-method": "tools/call", "mcp-name": "Sum" },
    ])
      assert.strictEqual(fault(bad as Record<string, string>), -32020)
    assert.strictEqual(fault({ "mcp-method": "tasks/get" }, request("tasks/get", { taskId: "t" })), -32020)
    assert.isUndefined(fault({ "mcp-method": "constructor" }, request("constructor")))
  })

  it("a parameter is repeated where its schema asks for it, at any depth of properties and nowhere else", () => {
    const asks = (type: string, name: unknown = "R") => ({ type, "x-mcp-header": name })
    const within = (properties: object) => ({ type: "object", properties })
    assert.deepStrictEqual(paramHeaders(within({ a: within({ b: asks("string") }) })), [
      { header: "mcp-param-r", path: ["a", "b"] },
    ])
    assert.deepStrictEqual(paramHeaders(within({ "x-mcp-header": { type: "string" } })), [])
    for (const bad of [
      within({ a: asks("number") }),
      within({ a: asks("object") }),
      within({ a: asks("string", "") }),
      within({ a: asks("string", "a b") }),
      within({ a: asks("string", "R"), b: asks("string", "r") }),
      { type: "object", "x-mcp-header": "R" },
      within({ a: { type: "array", items: asks("string") } }),
      { type: "object", $defs: { a: asks("string") } },
      { type: "object", oneOf: [within({ a: asks("string") })] },
    ])
      assert.isUndefined(paramHeaders(bad), JSON.stringify(bad))
  })

  it("what the header says must be what the body says", () => {
    const tool = {
      name: "t",
      description: "",
      inputSchema: {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          count: { type: "integer", "x-mcp-header": "Count" },
          fast: { type: "boolean", "x-mcp-header": "Fast" },
        },
      },
    }
    const fault = (headers: Record<string, string>, given: Record<string, unknown>) =>
      paramHeaderFault(headers, tool, given)?.code
    assert.isUndefined(fault({}, {}))
    assert.isUndefined(fault({}, { region: null }))
    assert.isUndefined(fault({ "mcp-param-region": "" }, { region: "" }))
    assert.isUndefined(
      fault(
        { "mcp-param-region": wrap("é"), "mcp-param-count": "42.0", "mcp-param-fast": "true" },
        { region: "é", count: 42, fast: true },
      ),
    )
    for (const [headers, given] of [
      [{}, { region: "eu" }],
      [{ "mcp-param-region": "us" }, { region: "eu" }],
      [{ "mcp-param-region": "eu" }, {}],
      [{ "mcp-param-count": "42x" }, { count: 42 }],
      [{ "mcp-param-fast": "True" }, { fast: true }],
      [{ "mcp-param-region": "=?base64?!!?=" }, { region: "eu" }],
    ] as ReadonlyArray<readonly [Record<string, string>, Record<string, unknown>]>)
      assert.strictEqual(fault(headers, given), -32020, JSON.stringify([headers, given]))
  })
})
