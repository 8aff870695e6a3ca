// A stand-in for a command-line agent: a real MCP client that plays rules instead of thinking. Its mail comes on stdin, its
// MCP configuration from STOA_MCP_CONFIG; what it saw and did is appended to a log beside its rules.
import { spawn } from "node:child_process"
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { enableCompileCache } from "node:module"
import { join } from "node:path"

// It is started hundreds of times, and most turns only say something: then it needs no client.
enableCompileCache(join(import.meta.dirname, "../../../../node_modules/.cache/compiled"))

const [rulesFile] = process.argv.slice(2)
const text = readFileSync(0, "utf8")
const me = process.env.STOA_AGENT ?? ""
const log = (entry) => appendFileSync(`${rulesFile}.log`, `${JSON.stringify({ agent: me, ...entry })}\n`)

const { rules } = JSON.parse(readFileSync(rulesFile, "utf8"))
const rule = rules.find(
  ({ when = {} }) =>
    (when.agent === undefined || when.agent === me) && (when.text === undefined || new RegExp(when.text).test(text)),
)
log({ turn: text, env: Object.keys(process.env).toSorted(), cwd: process.cwd(), pid: process.pid })

if (rule?.child) {
  // A grandchild that outlives whoever does not end the whole group.
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" })
  log({ child: child.pid })
}
if (rule?.write !== undefined) writeFileSync(rule.write, "written\n")
if (rule?.print !== undefined) process.stdout.write("x".repeat(rule.print))
if (rule?.say !== undefined && rule.first) process.stdout.write(rule.say)

const fill = (value) =>
  JSON.parse(
    JSON.stringify(value ?? {})
      .replaceAll("{{message}}", /message ([0-9a-f-]{36})/.exec(text)?.[1] ?? "")
      .replaceAll("{{text}}", () => JSON.stringify(text.split("\n").slice(1).join(" ")).slice(1, -1)),
  )

if (rule?.call !== undefined || rule?.list) {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio")
  const { mcpServers } = JSON.parse(readFileSync(process.env.STOA_MCP_CONFIG, "utf8"))
  const { args, command, env, headers, url } = mcpServers.stoa
  const client = new Client({ name: "stand-in", version: "1" }, { versionNegotiation: { mode: "auto" } })
  await client.connect(
    url === undefined
      ? new StdioClientTransport({ command, args, env })
      : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  )
  if (rule.list) log({ tools: (await client.listTools()).tools.map(({ name }) => name) })
  for (const { input, tool } of rule.call ?? []) {
    const began = performance.now()
    try {
      const result = await client.callTool({ name: tool, arguments: fill(input) })
      log({ tool, result, ms: Math.round(performance.now() - began) })
    } catch (error) {
      log({ tool, fault: error.message, code: error.code, ms: Math.round(performance.now() - began) })
    }
  }
  await client.close()
}
if (rule?.hang) {
  log({ hangs: true })
  await new Promise(() => setInterval(() => {}, 1000))
}
if (rule?.leak) process.stdout.write(process.env.STOA_TOKEN)
if (rule?.fail !== undefined) {
  process.stderr.write(rule.fail)
  process.exit(3)
}
if (rule?.say !== undefined && !rule.first) process.stdout.write(rule.say)
