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
import { startModel } from "../models/anthropicModel.ts"
import { codexSwitches } from "../kit/codex.ts"
import type { Check, CheckContext } from "../kit/checks.ts"
import { claudeEnvironment, claudeProgram } from "../kit/claude.ts"
import { startResponses } from "../models/openaiModel.ts"
import { clientsFolder, scriptsFolder } from "../kit/isolation.ts"

const sdk = fileURLToPath(new URL("../../packages/sdk", import.meta.url))

/** As `stoa connect` prints it for Pam; the screen has the same, from the same list. */
const connected = async (client: ConnectableName, { home, house }: CheckContext) => {
  const env = { STOA_URL: house.url, STOA_TOKEN: house.token }
  const { code, stderr, stdout } = await home.spawn(["connect", client, "--agent", "Pam", "--json"], { env }).ended
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as { readonly text: string; readonly link?: string }
}
const lineFor = async (client: ConnectableName, context: CheckContext): Promise<string> =>
  (await connected(client, context)).text

/** `claude`, `codex` and `node` as a person has them on the PATH, and the packages where a program finds them. */
const installed = ({ isolation }: CheckContext): string => {
  const folder = join(isolation.home, "bin")
  const modules = join(isolation.home, "node_modules")
  if (existsSync(folder)) return folder
  mkdirSync(folder)
  symlinkSync(claudeProgram, join(folder, "claude"))
  symlinkSync(join(clientsFolder, "node_modules/@openai/codex/bin/codex.js"), join(folder, "codex"))
  symlinkSync(process.execPath, join(folder, "node"))
  // Says what it was started with.
  writeFileSync(join(folder, "code"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 })
  for (const [name, place] of [
    ["@ai-sdk", join(clientsFolder, "node_modules/@ai-sdk")],
    ["@anthropic-ai", join(clientsFolder, "node_modules/@anthropic-ai")],
    ["@stoa/sdk", sdk],
    [".bin", fileURLToPath(new URL("../../node_modules/.bin", import.meta.url))],
  ] as const) {
    mkdirSync(join(modules, name, ".."), { recursive: true })
    symlinkSync(place, join(modules, name))
  }
  return folder
}

const env = (context: CheckContext, folder: string): Record<string, string> => ({
  PATH: `${installed(context)}:${process.env["PATH"] ?? ""}`,
  CLAUDE_CONFIG_DIR: join(context.isolation.home, folder),
  CODEX_HOME: join(context.isolation.home, folder),
})

const inShell = async (context: CheckContext, folder: string, ...lines: ReadonlyArray<string>) => {
  mkdirSync(join(context.isolation.home, folder), { recursive: true })
  const done = await context.isolation.run("sh", ["-ec", lines.join("\n")], { env: env(context, folder) })
  assert.equal(done.code, 0, done.stderr + done.lines.join("\n"))
  return done.lines.join("\n")
}

const program = async (
  context: CheckContext,
  client: ConnectableName,
  more: string,
  over: Record<string, string> = {},
) => {
  installed(context)
  const file = join(context.isolation.home, `${client}.mjs`)
  writeFileSync(file, `${await lineFor(client, context)}\n${more}\n`)
  const done = await context.isolation.run(process.execPath, ["--preserve-symlinks-main", file], {
    env: { ...env(context, `pasted-${client}`), ...over },
  })
  assert.equal(done.code, 0, done.stderr + done.lines.join("\n"))
  return done.lines.join("\n")
}

/** Whom the servers of a client's file take one for. */
const inFile = async (context: CheckContext, name: string, text: string): Promise<string> => {
  const file = join(context.isolation.home, `pasted-${name}.json`)
  writeFileSync(file, text)
  const done = await context.isolation.run(process.execPath, [join(scriptsFolder, "pastedJson.mjs"), file], {
    env: env(context, `pasted-${name}`),
  })
  assert.equal(done.code, 0, done.stderr)
  return (JSON.parse(done.lines.join("")) as { readonly name: string }).name
}

export const pasted: ReadonlyArray<Check> = [
  [
    "the line for Claude Code, in a shell: it connects by it",
    async (context) => {
      const shown = await inShell(context, "pasted-claude", await lineFor("claude-code", context), "claude mcp list")
      assert.match(shown, /stoa.*Connected/)
    },
  ],
  [
    "the line for Codex, in a shell: started there, it asks with our tools",
    async (context) => {
      const model = await startResponses({ uses: [{ tool: "mcp__stoa__whoami", input: () => ({}) }], last: "Done." })
      const settings = [...codexSwitches(model.url), "mcp_servers.stoa.required=true", 'approval_policy="never"']
      const begins = `LOOPBACK_KEY=loopback codex exec --json --skip-git-repo-check ${settings.map((one) => `-c '${one}'`).join(" ")} 'Who am I?'`
      await inShell(context, "pasted-codex", await lineFor("codex", context), begins)
      await model.close()
      assert.match(JSON.stringify(model.asked.at(-1)), /function_call_output.*Pam/)
    },
  ],
  [
    "the JSON for Cursor, and what its link holds: a client of others connects by both",
    async (context) => {
      const { link, text } = await connected("cursor", context)
      assert.equal(await inFile(context, "cursor", text), "Pam")
      const config = new URL(link!).searchParams.get("config")!
      const server = JSON.parse(Buffer.from(config, "base64").toString()) as object
      assert.equal(await inFile(context, "cursor-link", JSON.stringify({ mcpServers: { stoa: server } })), "Pam")
    },
  ],
  [
    "the line for VS Code, in a shell, and what its link holds: a client of others connects by both",
    async (context) => {
      const { link, text } = await connected("vscode", context)
      const shown = (await inShell(context, "pasted-vscode", text)).split("\n")
      assert.equal(shown[0], "--add-mcp")
      const linked = decodeURIComponent(link!.slice(link!.indexOf("?") + 1))
      for (const given of [shown[1]!, linked]) {
        const { name, ...server } = JSON.parse(given) as { readonly name: string }
        assert.equal(await inFile(context, "vscode", JSON.stringify({ mcpServers: { [name]: server } })), "Pam")
      }
    },
  ],
  [
    "the JSON for programs that only start commands: npx finds stoa, and a client of others connects by it",
    async (context) => assert.equal(await inFile(context, "stdio", await lineFor("stdio", context)), "Pam"),
  ],
  [
    "the JSON, in a client's file: Claude Code takes it as it is",
    async (context) => {
      const model = await startModel({ uses: [{ tool: "mcp__stoa__whoami", input: () => ({}) }], last: "Done." })
      const file = join(context.isolation.home, "pasted.json")
      writeFileSync(file, await lineFor("json", context))
      const flags = ["--mcp-config", file, "--strict-mcp-config", "--allowedTools", "mcp__stoa"]
      const done = await context.isolation.run(
        claudeProgram,
        ["-p", "Who am I?", "--model", "claude-loopback", ...flags],
        {
          env: claudeEnvironment(context, model, "pasted-json"),
        },
      )
      await model.close()
      assert.equal(done.code, 0, done.stderr + done.lines.join("\n"))
      assert.ok(JSON.stringify(model.asked.at(-1)).includes("Pam"))
    },
  ],
  [
    "the lines for the AI SDK, in a program: it has our tools",
    async (context) => {
      const shown = await program(context, "ai-sdk", "console.log(Object.keys(tools).join())\nawait house.close()")
      assert.match(shown, /motto/)
    },
  ],
  [
    "the lines for the Claude Agent SDK, in a program: it asks with our tools",
    async (context) => {
      const model = await startModel({ uses: [{ tool: "mcp__stoa__whoami", input: () => ({}) }], last: "Done." })
      const shown = await program(context, "agent-sdk", "", claudeEnvironment(context, model, "pasted-agent-sdk"))
      await model.close()
      assert.match(shown, /connected/)
    },
  ],
  [
    "the line for curl, in a shell: it answers who one is",
    async (context) => {
      const shown = await inShell(context, "pasted-curl", await lineFor("curl", context))
      assert.equal((JSON.parse(shown) as { readonly name: string }).name, "Pam")
    },
  ],
]
