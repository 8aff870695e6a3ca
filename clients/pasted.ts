/** The lines of Connect, run as somebody pastes them: in a shell, in a client's file, in a program. */
import { strict as assert } from "node:assert"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { connectableClients, type ConnectableName } from "@stoa/sdk"
import { startModel } from "./anthropicModel.ts"
import type { Check, Guests } from "./checks.ts"
import { anthropic, claudeProgram } from "./claude.ts"
import { here } from "./surroundings.ts"

const sdk = fileURLToPath(new URL("../packages/sdk", import.meta.url))

const lineFor = (client: ConnectableName, { house, tokens }: Guests): string =>
  connectableClients[client].line({ url: house.url, token: tokens.Pam }).text

/** `claude`, `codex` and `node` as a person has them on the PATH, and the packages where a program finds them. */
const installed = ({ around }: Guests): string => {
  const folder = join(around.home, "bin")
  const modules = join(around.home, "node_modules")
  if (existsSync(folder)) return folder
  mkdirSync(folder)
  symlinkSync(claudeProgram, join(folder, "claude"))
  symlinkSync(join(here, "node_modules/@openai/codex/bin/codex.js"), join(folder, "codex"))
  symlinkSync(process.execPath, join(folder, "node"))
  for (const [name, place] of [
    ["@ai-sdk", join(here, "node_modules/@ai-sdk")],
    ["@anthropic-ai", join(here, "node_modules/@anthropic-ai")],
    ["@stoa/sdk", sdk],
  ] as const) {
    mkdirSync(join(modules, name, ".."), { recursive: true })
    symlinkSync(place, join(modules, name))
  }
  return folder
}

const env = (guests: Guests, folder: string): Record<string, string> => ({
  PATH: `${installed(guests)}:${process.env["PATH"] ?? ""}`,
  CLAUDE_CONFIG_DIR: join(guests.around.home, folder),
  CODEX_HOME: join(guests.around.home, folder),
})

const inShell = async (guests: Guests, folder: string, ...lines: ReadonlyArray<string>) => {
  mkdirSync(join(guests.around.home, folder), { recursive: true })
  const done = await guests.around.run("sh", ["-ec", lines.join("\n")], { env: env(guests, folder) })
  assert.equal(done.code, 0, done.stderr + done.lines.join("\n"))
  return done.lines.join("\n")
}

const program = async (guests: Guests, client: ConnectableName, more: string, over: Record<string, string> = {}) => {
  installed(guests)
  const file = join(guests.around.home, `${client}.mjs`)
  writeFileSync(file, `${lineFor(client, guests)}\n${more}\n`)
  const done = await guests.around.run(process.execPath, ["--preserve-symlinks-main", file], {
    env: { ...env(guests, `pasted-${client}`), ...over },
  })
  assert.equal(done.code, 0, done.stderr + done.lines.join("\n"))
  return done.lines.join("\n")
}

export const pasted: ReadonlyArray<Check> = [
  [
    "the line for Claude Code, in a shell: it connects by it",
    async (guests) => {
      const shown = await inShell(guests, "pasted-claude", lineFor("claude-code", guests), "claude mcp list")
      assert.match(shown, /stoa.*Connected/)
    },
  ],
  [
    "the line for Codex, in a shell: it keeps the address and where its token is read from",
    async (guests) => {
      const shown = await inShell(guests, "pasted-codex", lineFor("codex", guests), "codex mcp get stoa --json")
      assert.match(shown, /\/mcp"/)
      assert.match(shown, /STOA_TOKEN/)
    },
  ],
  [
    "the JSON, in a client's file: Claude Code takes it as it is",
    async (guests) => {
      const model = await startModel({ uses: [{ tool: "mcp__stoa__whoami", input: () => ({}) }], last: "Done." })
      const file = join(guests.around.home, "pasted.json")
      writeFileSync(file, lineFor("json", guests))
      const flags = ["--mcp-config", file, "--strict-mcp-config", "--allowedTools", "mcp__stoa"]
      const done = await guests.around.run(claudeProgram, ["-p", "Who am I?", "--model", "claude-loopback", ...flags], {
        env: anthropic(guests, model, "pasted-json"),
      })
      await model.close()
      assert.equal(done.code, 0, done.stderr + done.lines.join("\n"))
      assert.ok(JSON.stringify(model.asked.at(-1)).includes("Pam"))
    },
  ],
  [
    "the lines for the AI SDK, in a program: it has our tools",
    async (guests) => {
      const shown = await program(guests, "ai-sdk", "console.log(Object.keys(tools).join())\nawait house.close()")
      assert.match(shown, /motto/)
    },
  ],
  [
    "the lines for the Claude Agent SDK, in a program: it asks with our tools",
    async (guests) => {
      const model = await startModel({ uses: [{ tool: "mcp__stoa__whoami", input: () => ({}) }], last: "Done." })
      const shown = await program(guests, "agent-sdk", "", anthropic(guests, model, "pasted-agent-sdk"))
      await model.close()
      assert.match(shown, /connected/)
    },
  ],
  [
    "the line for curl, in a shell: it answers who one is",
    async (guests) => {
      const shown = await inShell(guests, "pasted-curl", lineFor("curl", guests))
      assert.equal((JSON.parse(shown) as { readonly name: string }).name, "Pam")
    },
  ],
]
