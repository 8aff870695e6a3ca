/** The lines that connect a program: each has the address and the token, and a shell takes them as they are. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { connectableClients, type ConnectableName } from "@stoa/sdk"
import { describe, expect, it } from "vitest"

const wanted = { url: "http://127.0.0.1:4040/", token: "stoa_t'k$n" }
const names = Object.keys(connectableClients) as ReadonlyArray<ConnectableName>

describe("lines to paste", () => {
  it.each(names)("%s says where and as whom", (name) => {
    const { afterwards, ...line } = connectableClients[name].line(wanted)
    const said = name === "curl" ? "/api/v1/me" : name === "stdio" || name === "agent-sdk" ? wanted.url : ":4040/mcp"
    expect(line.text).toContain(said)
    expect(line.text).not.toContain("//mcp")
    expect(afterwards).toMatch(/\.$/)
    const whole = line.kind === "json" ? JSON.stringify(JSON.parse(line.text)) : line.text
    expect(whole.replaceAll(`'\\''`, "'")).toContain(wanted.token)
  })

  it.each(names.filter((name) => connectableClients[name].line(wanted).kind === "shell"))(
    "a shell reads the words of %s as they were meant",
    (name) => {
      const { text } = connectableClients[name].line({ ...wanted, name: "my house" })
      // The program is one that writes down what it was given.
      const shown = `show() { for it in "$@"; do printf '%s\\n' "$it"; done; }; ${text.replace(/\b(claude|codex|code|curl) /, "show ")}; echo "env $STOA_TOKEN"`
      const words = execFileSync("/bin/sh", ["-c", shown], { encoding: "utf8" })
      expect(words).toContain(wanted.token)
      expect(words).toContain(name === "curl" ? "/api/v1/me" : "my house")
    },
  )

  it("the command that connects runs the installed stoa alone, never a package of the registry, as the guide says", () => {
    const { mcpServers } = JSON.parse(connectableClients.stdio.line(wanted).text) as { mcpServers: { stoa: object } }
    const args = ["--no-install", "stoa", "mcp"]
    expect(mcpServers.stoa).toMatchObject({ command: "npx", args })
    const guide = readFileSync(new URL("../../../docs/user/mcp.md", import.meta.url), "utf8")
    expect(guide).toContain(`"command": "npx", "args": ${JSON.stringify(args).replaceAll(",", ", ")}`)
  })

  it("a link opens what the line says", () => {
    const { link } = connectableClients.cursor.line(wanted)
    const config = new URL(link).searchParams.get("config")!
    expect(JSON.parse(atob(config))).toEqual({
      url: "http://127.0.0.1:4040/mcp",
      headers: { Authorization: `Bearer ${wanted.token}` },
    })
  })
})
