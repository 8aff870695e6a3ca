/** Claude Code, run once from its first word to its last: a sitting, with a model on loopback and our house as its server. */
import { strict as assert } from "node:assert"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Model, type Script, startModel } from "../models/anthropicModel.ts"
import { type CheckContext, stdioOf } from "./checks.ts"
import { clientsFolder } from "./isolation.ts"

export const claudeProgram = join(
  clientsFolder,
  `node_modules/@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
)

/** The JSON in what a tool said, whatever the program put around it. */
export const jsonIn = (text: string): unknown => JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))

/** `folder`: where it keeps what it knows of earlier sittings. */
export const claudeEnvironment = (context: CheckContext, model: Model, folder = ".claude") => ({
  ANTHROPIC_API_KEY: "loopback",
  ANTHROPIC_BASE_URL: model.url,
  CLAUDE_CONFIG_DIR: join(context.isolation.home, folder),
})

let runCount = 0

export interface ClaudeRun {
  readonly who: "Pam" | "Jim"
  readonly transport: "http" | "stdio"
  readonly prompt: string
  readonly script: Script
  readonly folder?: string
}

/** What it printed, a message a line, and what its model was asked. */
export const runClaude = async (context: CheckContext, { folder, prompt, script, transport, who }: ClaudeRun) => {
  const { isolation, house, tokens } = context
  const model = await startModel(script)
  const server =
    transport === "http"
      ? { type: "http", url: `${house.url}/mcp`, headers: { Authorization: `Bearer ${tokens[who]}` } }
      : stdioOf(tokens[who], context)
  const config = join(isolation.home, `claude-${++runCount}.json`)
  writeFileSync(config, JSON.stringify({ mcpServers: { stoa: server } }))
  const flags = ["--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__stoa", "--verbose"]
  const asked = ["-p", prompt, "--output-format", "stream-json", "--model", "claude-loopback"]
  const env = claudeEnvironment(context, model, folder)
  const { code, lines, stderr } = await isolation.run(claudeProgram, [...asked, ...flags], { env })
  await model.close()
  assert.equal(code, 0, stderr + lines.join("\n"))
  const messages = lines.map((line) => JSON.parse(line) as { type: string; subtype?: string; result?: string })
  const init = messages.find(({ subtype }) => subtype === "init") as unknown as { readonly mcp_servers: unknown }
  assert.deepEqual((init.mcp_servers as ReadonlyArray<{ readonly status: string }>)[0]?.status, "connected")
  return { model, messages, result: messages.find(({ type }) => type === "result")?.result }
}
