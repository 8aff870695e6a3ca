/**
 * The lines of `stoa connect`, which are those of the page's Connect screen, run as somebody pastes them: in a shell, in a
 * client's file, in a program. Cursor and VS Code are no packages: what they are given is read as they would, and a client
 * of others connects by it.
 */
import { strict as assert } from "node:assert"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ConnectableName } from "@stoa/sdk"
import { startModel } from "./anthropicModel.ts"
import { codexSwitches } from "./codex.ts"
import type { Check, Guests } from "./checks.ts"
import { anthropic, claudeProgram } from "./claude.ts"
import { startResponses } from "./openaiModel.ts"
import { here } from "./surroundings.ts"

const sdk = fileURLToPath(new URL("../packages/sdk", import.meta.url))

/** As `stoa connect` prints it for Pam; the screen has the same, from the same list. */
const connected = async (client: ConnectableName, { home, house }: Guests) => {
  const env = { STOA_URL: house.url, STOA_TOKEN: house.token }
  const { code, stderr, stdout } = await home.spawn(["connect", client, "--agent", "Pam", "--json"], { env }).ended
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as { readonly text: string; readonly link?: string }
}
const lineFor = async (client: ConnectableName, guests: Guests): Promise<string> =>
  (await connected(client, guests)).text

/** `claude`, `codex` and `node` as a person has them on the PATH, and the packages where a program finds them. */
const installed = ({ around }: Guests): string => {
  const folder = join(around.home, "bin")
  const modules = join(around.home, "node_modules")
  if (existsSync(folder)) return folder
  mkdirSync(folder)
  symlinkSync(claudeProgram, join(folder, "claude"))
  symlinkSync(join(here, "node_modules/@openai/codex/bin/codex.js"), join(folder, "codex"))
  symlinkSync(process.execPath, join(folder, "node"))
  // Says what it was started with.
  writeFileSync(join(folder, "code"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 })
  for (const [name, place] of [
    ["@ai-sdk", join(here, "node_modules/@ai-sdk")],
    ["@anthropic-ai", join(here, "node_modules/@anthropic-ai")],
    ["@stoa/sdk", sdk],
    [".bin", fileURLToPath(new URL("../node_modules/.bin", import.meta.url))],
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
  writeFileSync(file, `${await lineFor(client, guests)}\n${more}\n`)
  const done = await guests.around.run(process.execPath, ["--preserve-symlinks-main", file], {
    env: { ...env(guests, `pasted-${client}`), ...over },
  })
  assert.equal(done.code, 0, done.stderr + done.lines.join("\n"))
  return done.lines.join("\n")
}

/** Whom the servers of a client's file take one for. */
const inFile = async (guests: Guests, name: string, text: string): Promise<string> => {
  const file = join(guests.around.home, `pasted-${name}.json`)
  writeFileSync(file, text)
  const done = await guests.around.run(process.execPath, [join(here, "pastedJson.mjs"), file], {
    env: env(guests, `pasted-${name}`),
  })
  assert.equal(done.code, 0, done.stderr)
  return (JSON.parse(done.lines.join("")) as { readonly name: string }).name
}

export const pasted: ReadonlyArray<Check> = [
  [
    "the line for Claude Code, in a shell: it connects by it",
    async (guests) => {
      const shown = await inShell(guests, "pasted-claude", await lineFor("claude-code", guests), "claude mcp list")
      assert.match(shown, /stoa.*Connected/)
    },
  ],
  [
    "the line for Codex, in a shell: started there, it asks with our tools",
    async (guests) => {
      const model = await startResponses({ uses: [{ tool: "mcp__stoa__whoami", input: () => ({}) }], last: "Done." })
      const settings = [...codexSwitches(model.url), "mcp_servers.stoa.required=true", 'approval_policy="never"']
      const begins = `LOOPBACK_KEY=loopback codex exec --json --skip-git-repo-check ${settings.map((one) => `-c '${one}'`).join(" ")} 'Who am I?'`
      await inShell(guests, "pasted-codex", await lineFor("codex", guests), begins)
      await model.close()
      assert.match(JSON.stringify(model.asked.at(-1)), /function_call_output.*Pam/)
    },
  ],
  [
    "the JSON for Cursor, and what its link holds: a client of others connects by both",
    async (guests) => {
      const { link, text } = await connected("cursor", guests)
      assert.equal(await inFile(guests, "cursor", text), "Pam")
      const config = new URL(link!).searchParams.get("config")!
      const server = JSON.parse(Buffer.from(config, "base64").toString()) as object
      assert.equal(await inFile(guests, "cursor-link", JSON.stringify({ mcpServers: { stoa: server } })), "Pam")
    },
  ],
  [
    "the line for VS Code, in a shell, and what its link holds: a client of others connects by both",
    async (guests) => {
      const { link, text } = await connected("vscode", guests)
      const shown = (await inShell(guests, "pasted-vscode", text)).split("\n")
      assert.equal(shown[0], "--add-mcp")
      const linked = decodeURIComponent(link!.slice(link!.indexOf("?") + 1))
      for (const given of [shown[1]!, linked]) {
        const { name, ...server } = JSON.parse(given) as { readonly name: string }
        assert.equal(await inFile(guests, "vscode", JSON.stringify({ mcpServers: { [name]: server } })), "Pam")
      }
    },
  ],
  [
    "the JSON for programs that only start commands: npx finds stoa, and a client of others connects by it",
    async (guests) => assert.equal(await inFile(guests, "stdio", await lineFor("stdio", guests)), "Pam"),
  ],
  [
    "the JSON, in a client's file: Claude Code takes it as it is",
    async (guests) => {
      const model = await startModel({ uses: [{ tool: "mcp__stoa__whoami", input: () => ({}) }], last: "Done." })
      const file = join(guests.around.home, "pasted.json")
      writeFileSync(file, await lineFor("json", guests))
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
      const shown = await inShell(guests, "pasted-curl", await lineFor("curl", guests))
      assert.equal((JSON.parse(shown) as { readonly name: string }).name, "Pam")
    },
  ],
]
