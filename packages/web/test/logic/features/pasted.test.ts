/** What somebody pastes is read as a server, whichever client it is from, and its keys become secrets. */
import { describe, expect, it } from "vitest"
import { openApiIn, readPasted } from "../../../src/features/servers/pasted.logic.ts"

describe("a pasted server", () => {
  it("is the JSON of any client, with or without what stands around it", () => {
    const files = { command: "npx", args: ["-y", "server-files", "."] }
    for (const pasted of [{ mcpServers: { files } }, { servers: { files } }, { files }])
      expect(readPasted(JSON.stringify(pasted)).server).toEqual({ name: "files", ...files })
    expect(readPasted(`"files": ${JSON.stringify(files)}`).server.name).toBe("files")
    expect(readPasted(JSON.stringify({ name: "one", ...files })).server.name).toBe("one")
    expect(readPasted(JSON.stringify({ mcpServers: { a: files, b: files } })).count).toBe(2)
  })

  it("is an address, or a command", () => {
    expect(readPasted("https://mcp.example.org/mcp").server).toEqual({
      name: "mcp",
      url: "https://mcp.example.org/mcp",
    })
    expect(readPasted(`npx -y @scope/server-files "my folder"`).server).toMatchObject({
      command: "npx",
      args: ["-y", "@scope/server-files", "my folder"],
    })
  })

  it.each([
    "openapi: 3.1.0\ninfo:\n  title: Pets",
    "---\nopenapi: 3.1.0",
    "# Pets\n\nswagger: '2.0'",
    'info: {title: "x"}\n"openapi": 3.0.0',
    "openapi: 3.1.0",
  ])("%j is an API's description in YAML, and never a command", (text) => {
    expect(openApiIn(text)).toBe("yaml")
    expect(() => readPasted(text)).toThrow(/command/)
  })

  it.each([
    "ftp://files.example/mcp",
    "file:///etc/passwd",
    "https://mcp.example/mcp and more",
    "mcp.example.org/mcp",
    "mcp.example.org:8080",
    "localhost:3000/mcp",
    "name: server",
    "touch a\ntouch b",
    "[1]",
    "<html></html>",
    "# npx",
  ])("%j is neither an address nor a command", (text) => {
    expect(() => readPasted(text)).toThrow(/address|command|https/)
  })

  it("an API's description in JSON is one", () => {
    expect([openApiIn('{"openapi":"3.1.0"}'), openApiIn('{"swagger":"2.0"}')]).toEqual(["json", "json"])
    expect([openApiIn("{"), openApiIn('{"command":"npx"}'), openApiIn("npx openapi")]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it("keeps its keys as secrets, and says where each is filled in", () => {
    const env = { API_KEY: "sk-1234567890", MODE: "fast" }
    expect(readPasted(JSON.stringify({ mcpServers: { shop: { command: "shop", env } } }))).toMatchObject({
      server: { env: { API_KEY: "${secret.SHOP_API_KEY}", MODE: "fast" } },
      secrets: { SHOP_API_KEY: "sk-1234567890" },
    })
    const headers = { Authorization: "Bearer abcdefgh" }
    const { secrets, server } = readPasted(JSON.stringify({ shop: { url: "https://x.test", headers } }))
    expect(server.headers).toEqual({ Authorization: "Bearer ${secret.SHOP_AUTHORIZATION}" })
    expect(secrets).toEqual({ SHOP_AUTHORIZATION: "abcdefgh" })
  })

  it.each(["", "{", "{}", '{"mcpServers":{}}', '{"mcpServers":{"x":{}}}'])("%j is said to be none", (text) => {
    expect(() => readPasted(text)).toThrow(/nothing|JSON|server|command/)
  })
})
