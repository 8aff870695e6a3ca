/** The pure parts of the bridge: headers out of messages, keys for calls, lines out of streams. */
import { PassThrough, Readable } from "node:stream"
import { describe, expect, it } from "vitest"
import { eventsOf } from "./events.ts"
import { linesOf, longestLine, writerTo } from "./lines.ts"
import { claimOf, keyed, lineOf, newHeaders, headerParametersOf } from "./message.ts"

const claim = "2026-07-28"
const meta = { "io.modelcontextprotocol/protocolVersion": claim }
const call = (name: string, given: object = {}) => ({
  id: 1,
  method: "tools/call",
  params: { name, arguments: given, _meta: meta },
})
const collect = async <A>(items: AsyncIterable<A>): Promise<Array<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

describe("headers of 2026-07-28", () => {
  it("repeat method and name; what a header cannot carry is wrapped", () => {
    const headers = (message: object) => newHeaders(message, claim, () => [])
    expect(headers(call("motto"))).toEqual({
      "mcp-protocol-version": claim,
      "mcp-method": "tools/call",
      "mcp-name": "motto",
    })
    expect(headers({ method: "tools/list", params: {} })["mcp-name"]).toBeUndefined()
    expect(headers({ method: "resources/read", params: { uri: "a://ä" } })["mcp-name"]).toBe("=?base64?YTovL8Ok?=")
    expect(headers(call(" x"))["mcp-name"]).toBe("=?base64?IHg=?=")
    expect(headers(call("a\r\nb: c"))["mcp-name"]).toBe("=?base64?YQ0KYjogYw==?=")
    // A value that looks encoded is encoded too, or it would be decoded into something else.
    expect(headers(call("=?base64?eA==?="))["mcp-name"]).toBe("=?base64?PT9iYXNlNjQ/ZUE9PT89?=")
    expect(headers({ method: "tasks/get", params: { taskId: "t1" } })["mcp-name"]).toBe("t1")
  })

  it("repeat the parameters that a schema wants, at any depth, where they are given", () => {
    const schema = {
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        deep: { properties: { loud: { type: "boolean", "x-mcp-header": "Loud" }, n: { type: "integer" } } },
      },
    }
    const wishes = headerParametersOf(schema)
    expect(wishes.map(({ path }) => path.join("."))).toEqual(["region", "deep.loud"])
    const headers = newHeaders(call("x", { region: "eu", deep: { loud: false, n: 1 } }), claim, () => wishes)
    expect(headers).toMatchObject({ "mcp-param-Region": "eu", "mcp-param-Loud": "false" })
    expect(newHeaders(call("x", { deep: null }), claim, () => wishes)).not.toHaveProperty("mcp-param-Region")
    expect(headerParametersOf(true)).toEqual([])
  })
})

describe("messages", () => {
  it("a call gets a key unless it has one, or goes on with an earlier one", () => {
    const key = () => "k"
    expect(keyed(call("x"), key).params?.["_meta"]).toEqual({ ...meta, "stoa/idempotencyKey": "k" })
    const own = { method: "tools/call", params: { name: "x", _meta: { "stoa/idempotencyKey": "mine" } } }
    expect(keyed(own, key)).toBe(own)
    const later = { method: "tools/call", params: { name: "x", requestState: "s" } }
    expect(keyed(later, key)).toBe(later)
    const list = { method: "tools/list", params: {} }
    expect(keyed(list, key)).toBe(list)
  })

  it("the era is what the message says of itself", () => {
    expect(claimOf(call("x"))).toBe(claim)
    expect(claimOf({ method: "tools/list", params: { _meta: { progressToken: 1 } } })).toBeUndefined()
    expect(claimOf({ method: "ping" })).toBeUndefined()
  })

  it("no line has a line in it", () => {
    expect(lineOf('{\n"a": 1\n}', { a: 1 })).toBe('{"a":1}')
    expect(lineOf('{"a": 1}', { a: 1 })).toBe('{"a": 1}')
  })
})

describe("lines and events", () => {
  it("lines come whole, however they are cut, and one that is too long is left out alone", async () => {
    const bytes = Buffer.from(`{"ä":1}\n\n${"x".repeat(longestLine + 1)}\n${"y".repeat(longestLine)}\nlast`)
    const cuts = [0, 3, 4, 9, 5000, longestLine + 3, longestLine + 20, bytes.length]
    const chunks = cuts.slice(1).map((end, at) => bytes.subarray(cuts[at], end))
    const lines = await collect(linesOf(Readable.from(chunks, { objectMode: true })))
    expect(lines.map((line) => line?.slice(0, 9))).toEqual(['{"ä":1}', "", undefined, "yyyyyyyyy", "last"])
    expect(lines[3]).toHaveLength(longestLine)
  })

  it("an input that is destroyed has ended", async () => {
    const input = new PassThrough()
    input.write("one\ntwo")
    const lines: Array<string | undefined> = []
    for await (const line of linesOf(input)) {
      lines.push(line)
      input.destroy()
    }
    expect(lines[0]).toBe("one")
  })

  it("whoever writes to a slow reader waits, and goes on when it reads", async () => {
    const output = new PassThrough({ highWaterMark: 8 })
    const write = writerTo(output)
    let waited = false
    const written = write("a long line").then(() => (waited = true))
    await Promise.resolve()
    expect(waited).toBe(false)
    output.resume()
    await written
    expect(waited).toBe(true)
    await write("")
  })

  it("events come whole, however they are cut, with their id and when to come back", async () => {
    const text =
      ':\n\nid: 1_0\nretry: 500\ndata: \n\nid: 1_1\r\nevent: message\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: x\n\n'
    const expected = [
      { id: "1_0", retry: 500, data: "" },
      { id: "1_1", retry: undefined, data: '{"a":\n1}' },
      { id: undefined, retry: undefined, data: "x" },
    ]
    for (const size of [1, 2, 7, 1000]) {
      const parts = text.match(new RegExp(`[^]{1,${size}}`, "g"))!.map((part) => new TextEncoder().encode(part))
      const body = new ReadableStream({
        start: (controller) => {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      })
      expect(await collect(eventsOf(new Response(body)))).toEqual(expected)
    }
  })
})
