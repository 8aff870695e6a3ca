import { assert, describe, it } from "@effect/vitest"
import { missingFor, serverCapabilities } from "./capabilities.ts"
import type { EndpointView, ListedTool, Outcome } from "../desk/Desk.ts"
import { placeOf } from "./message.ts"
import { outcomeText, serverInfo, stampOf, projectTool } from "./results.ts"
import { type Revision, servedRevisions } from "./revision.ts"

const stamp = stampOf(serverInfo("1"))
const tool: ListedTool = { name: "t", description: "d", inputSchema: { type: "object" } }
const shown = (outcome: Outcome, revision: Revision, of: ListedTool = tool) =>
  JSON.parse(outcomeText(outcome as never, of, revision, stamp)) as Record<string, unknown>

describe("results", () => {
  it("X-43 S2-75 S3-53 an outcome is text for all, structure for those who take it, an error when it is one", () => {
    const done: Outcome = { _tag: "Done", json: '{"a":1}' }
    for (const revision of servedRevisions) {
      const result = shown(done, revision)
      assert.deepStrictEqual(result["content"], [{ type: "text", text: '{"a":1}' }])
      assert.deepStrictEqual(result["structuredContent"], revision >= "2025-06-18" ? { a: 1 } : undefined)
      assert.isUndefined(result["isError"])
      assert.strictEqual(result["resultType"], revision === "2026-07-28" ? "complete" : undefined)
      const failed = shown({ _tag: "Failed", error: { tag: "ToolValidationError", message: "no" } }, revision)
      assert.strictEqual(failed["isError"], true)
      const [{ text }] = failed["content"] as [{ readonly text: string }]
      assert.deepStrictEqual(JSON.parse(text), { error: { tag: "ToolValidationError", message: "no" } })
    }
  })

  it("a text is itself; a list is structure only where that may be any JSON", () => {
    assert.deepStrictEqual(shown({ _tag: "Done", json: '"hi"' }, "2026-07-28")["content"], [
      { type: "text", text: "hi" },
    ])
    assert.isUndefined(shown({ _tag: "Done", json: '"hi"' }, "2026-07-28")["structuredContent"])
    assert.deepStrictEqual(shown({ _tag: "Done", json: "[1]" }, "2026-07-28")["structuredContent"], [1])
    assert.isUndefined(shown({ _tag: "Done", json: "[1]" }, "2025-11-25")["structuredContent"])
  })

  it("a waiting call says where to look", () => {
    const outcome: Outcome = { _tag: "Waiting", call: "call_1", on: { kind: "decision", id: "dec_1" } }
    const expected = { state: "waiting", call: "call_1", decision: "dec_1" }
    assert.deepStrictEqual(shown(outcome, "2025-11-25")["structuredContent"], expected)
    const [{ text }] = shown(outcome, "2024-11-05")["content"] as [{ readonly text: string }]
    assert.deepStrictEqual(JSON.parse(text), expected)
  })

  it("what a server answered loses only what the client's revision cannot say, and keys of the other hop", () => {
    const outcome: Outcome = {
      _tag: "Content",
      result: {
        content: [
          { type: "audio", data: "", mimeType: "audio/wav" },
          { type: "resource_link", uri: "a://b", name: "b", _meta: {} },
        ],
        structuredContent: [1],
        resultType: "weird",
        ttlMs: 5,
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "other" }, "com.acme/k": 1 },
      },
    }
    const now = shown(outcome, "2026-07-28")
    assert.strictEqual(now["resultType"], "complete")
    assert.notProperty(now, "ttlMs")
    assert.deepStrictEqual(now["_meta"], { "com.acme/k": 1, "io.modelcontextprotocol/serverInfo": stamp.info })
    assert.deepStrictEqual(now["structuredContent"], [1])
    const old = shown(outcome, "2024-11-05")
    assert.deepStrictEqual(old["content"], [
      { type: "text", text: "[audio, audio/wav]" },
      { type: "text", text: "b: a://b" },
    ])
    assert.notProperty(old, "structuredContent")
    assert.notProperty(old, "resultType")
  })

  it("X-39 a tool is listed as its client's revision knows tools", () => {
    const full: ListedTool = {
      ...tool,
      title: "T",
      inputSchema: { properties: { a: true, b: { type: "string", "x-mcp-header": "bad name" } } },
      outputSchema: { type: "array" },
      annotations: { readOnlyHint: true },
      icons: [{ src: "https://example.test/i.png" }],
      meta: { "com.acme/k": 1 },
    }
    assert.deepStrictEqual(Object.keys(projectTool(full, "2024-11-05")), ["name", "description", "inputSchema"])
    assert.notProperty(projectTool(full, "2025-03-26"), "title")
    assert.notProperty(projectTool(full, "2025-06-18"), "icons")
    assert.deepStrictEqual(projectTool(full, "2025-11-25")["inputSchema"], {
      type: "object",
      properties: { a: {}, b: { type: "string", "x-mcp-header": "bad name" } },
    })
    assert.notProperty(projectTool(full, "2025-11-25"), "outputSchema")
    const now = projectTool(full, "2026-07-28")
    assert.deepStrictEqual(now["inputSchema"], { type: "object", properties: { a: true, b: { type: "string" } } })
    assert.deepStrictEqual(now["outputSchema"], { type: "array" })
  })

  it("we promise what we serve, and ask of a client what it has promised", () => {
    const view = { tools: [], logs: false } as unknown as EndpointView
    assert.deepStrictEqual(serverCapabilities(view, "2025-11-25"), { tools: { listChanged: true } })
    const tasks = { ...view, tasks: {} as never, complete: (() => {}) as never }
    assert.deepStrictEqual(serverCapabilities(tasks, "2024-11-05"), { tools: { listChanged: true } })
    assert.deepStrictEqual(serverCapabilities(tasks, "2026-07-28")["extensions"], {
      "io.modelcontextprotocol/tasks": {},
    })
    const ask = (method: string, params = {}) => ({ _tag: "Asks", requests: { k: { method, params } } }) as const
    const url = ask("elicitation/create", { mode: "url" })
    const form = ask("elicitation/create", { requestedSchema: { type: "object", properties: {} } })
    assert.isUndefined(missingFor({ elicitation: {} }, form, "2025-06-18"))
    assert.isDefined(missingFor({ elicitation: {} }, ask("elicitation/create"), "2025-06-18"))
    assert.isUndefined(missingFor({ elicitation: { url: {} } }, url, "2026-07-28"))
    assert.deepStrictEqual(missingFor({ elicitation: {} }, url, "2026-07-28"), { elicitation: { url: {} } })
    assert.isDefined(missingFor({ elicitation: {} }, ask("elicitation/create"), "2025-03-26"))
    assert.isDefined(missingFor({ elicitation: { url: {} } }, ask("elicitation/create"), "2026-07-28"))
    assert.deepStrictEqual(missingFor({}, ask("sampling/createMessage"), "2026-07-28"), { sampling: {} })
    assert.deepStrictEqual(missingFor({ sampling: {} }, ask("sampling/createMessage", { tools: [] }), "2026-07-28"), {
      sampling: { tools: {} },
    })
  })

  it("an address is one endpoint or none", () => {
    assert.deepStrictEqual(placeOf("/mcp")?.endpoint, { kind: "all" })
    assert.deepStrictEqual(placeOf("/mcp/")?.endpoint, { kind: "all" })
    assert.deepStrictEqual(placeOf("/mcp/office")?.endpoint, { kind: "toolset", name: "office" })
    assert.deepStrictEqual(placeOf("/mcp/servers/a%20b")?.endpoint, { kind: "server", name: "a b" })
    assert.strictEqual(placeOf("/mcp/jsonrpc")?.open, true)
    for (const bad of ["/mcpx", "/mcp//", "/mcp/a/b", "/mcp/servers/", "/mcp/servers/a/b", "/mcp/%ff"])
      assert.isUndefined(placeOf(bad), bad)
  })
})
