/** Whole agents of others, each with a model on loopback that plays a script: Claude Code, the Claude Agent SDK and Codex. */
import { strict as assert } from "node:assert"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Script, startModel } from "../models/anthropicModel.ts"
import { approve, type Check, type CheckContext, mottoSchema, stdioOf } from "../kit/checks.ts"
import { claudeEnvironment, jsonIn, runClaude } from "../kit/claude.ts"
import { startResponses } from "../models/openaiModel.ts"
import { memory } from "./memory.ts"
import { clientsFolder, scriptsFolder } from "../kit/isolation.ts"

const sdk = fileURLToPath(new URL("../../packages/sdk/src/claude.ts", import.meta.url))

/** A tool, one that a person approves before the model goes on, and a look at what became of it. */
const story = (context: CheckContext, heard: Array<string>): Script => ({
  uses: [
    { tool: "mcp__stoa__motto", input: () => ({ loud: true }) },
    { tool: "mcp__stoa__wipe", input: () => ({ folder: "logs" }) },
    {
      tool: "mcp__stoa__call_status",
      input: async (results) => ({ call: await approve(context, jsonIn(results[1]!)) }),
    },
    {
      tool: "mcp__stoa__send_message",
      input: (results) => {
        heard.push(...results)
        return { channelId: "general", text: "It is wiped." }
      },
    },
  ],
  last: "The folder is wiped.",
})

const judge = async ({ house }: CheckContext, heard: ReadonlyArray<string>, who: string): Promise<void> => {
  assert.deepEqual(jsonIn(heard[0]!), { motto: "festina lente" })
  assert.equal((jsonIn(heard[2]!) as { readonly state: string }).state, "done")
  const { items } = await house.admin.spaces.messages("general", { limit: 1 })
  assert.equal(`${items[0]?.author?.name}: ${items[0]?.text}`, `${who}: It is wiped.`)
}

const claudeCode = (transport: "http" | "stdio"): Check => [
  `Claude Code over ${transport}: lists our tools, calls them, and goes on when a person has approved one`,
  async (context) => {
    const heard: Array<string> = []
    const { model, result } = await runClaude(context, {
      who: "Jim",
      transport,
      prompt: "Wipe the logs.",
      script: story(context, heard),
    })
    const shown = model.asked.flatMap(({ tools = [] }) => tools).find((tool) => tool.name === "mcp__stoa__motto")
    assert.deepEqual((shown?.input_schema as typeof mottoSchema | undefined)?.properties, mottoSchema.properties)
    assert.equal(result, "The folder is wiped.")
    await judge(context, heard, "Jim")
  },
]

const agentSdk: Check = [
  "S0-03 Claude Agent SDK: createSdkMcpServer with getTools, two agents at once, and neither acts as the other",
  async (context) => {
    const { isolation, house, tokens } = context
    const models = await Promise.all(
      ["Pam", "Jim"].map((name) =>
        startModel({
          uses: [
            {
              tool: "mcp__stoa__send_message",
              input: () => ({ channelId: "general", text: `${name}, by the program` }),
            },
          ],
          last: `${name} is done.`,
        }),
      ),
    )
    const agents = [
      { name: "Pam", token: tokens.Pam, model: models[0]!.url },
      { name: "Jim", admin: house.token, model: models[1]!.url },
    ]
    const env = isolation.env(claudeEnvironment(context, models[0]!))
    const given = JSON.stringify({ url: house.url, sdk, agents, env })
    const { code, lines, stderr } = await isolation.run(process.execPath, [join(scriptsFolder, "agentSdk.mjs"), given])
    await Promise.all(models.map((model) => model.close()))
    assert.equal(code, 0, stderr)
    const { alone, programs, separate } = JSON.parse(lines.at(-1)!) as {
      readonly separate: boolean
      readonly programs: ReadonlyArray<{ readonly result: string }>
      readonly alone: ReadonlyArray<{
        readonly tools: ReadonlyArray<{ readonly name: string; readonly inputSchema: Record<string, unknown> }>
        readonly bad: { readonly isError: boolean; readonly content: ReadonlyArray<{ readonly text: string }> }
      }>
    }
    assert.ok(separate)
    assert.deepEqual(
      programs.map(({ result }) => result),
      ["Pam is done.", "Jim is done."],
    )
    for (const { bad, tools } of alone) {
      const { $schema: _dialect, ...shown } = tools.find((tool) => tool.name === "motto")!.inputSchema
      assert.deepEqual(shown, mottoSchema)
      assert.ok(bad.isError)
      assert.match(bad.content[0]!.text, /loud/)
    }
    const { items } = await house.admin.spaces.messages("general", { limit: 50 })
    const said = items
      .map(({ author, text }) => [author?.name, text] as const)
      .filter(([, text]) => text.includes("by "))
    assert.equal(said.length, 4)
    for (const [name, text] of said) assert.ok(text.startsWith(`${name}, by `), `${name} said: ${text}`)
  },
]

/** Compiled, never run. */
const use = `import { createSdkMcpServer, type McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk"
import { getTools } from "@stoa/sdk/claude"
export const own = async (url: string, token: string): Promise<McpSdkServerConfigWithInstance> =>
  createSdkMcpServer({ name: "stoa", tools: await getTools({ url, token }) })
export const named = async (url: string, token: string): Promise<McpSdkServerConfigWithInstance> =>
  createSdkMcpServer({ name: "stoa", tools: await getTools("Pam", { url, token, toolset: "office" }) })
// @ts-expect-error a house is needed
export const nowhere = () => getTools({ token: "t" })
`

const types: Check = [
  "Claude Agent SDK: its types take what getTools gives",
  async ({ isolation }) => {
    const root = fileURLToPath(new URL("../..", import.meta.url))
    const paths = {
      "@anthropic-ai/claude-agent-sdk": [join(clientsFolder, "node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts")],
      "@stoa/sdk/claude": [sdk],
    }
    const compilerOptions = { paths, incremental: false, plugins: [], typeRoots: [join(root, "node_modules/@types")] }
    writeFileSync(join(isolation.home, "use.mts"), use)
    writeFileSync(
      join(isolation.home, "tsconfig.json"),
      JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: ["use.mts"] }),
    )
    const tsc = join(root, "node_modules/typescript/bin/tsc")
    const { code, lines } = await isolation.run(process.execPath, [tsc, "-p", isolation.home])
    assert.equal(code, 0, lines.join("\n"))
  },
]

const codexSettings = (model: string, server: string): string => `model = "loopback"
model_provider = "loopback"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[features]
plugins = false
apps = false
[analytics]
enabled = false
[feedback]
enabled = false
[model_providers.loopback]
name = "loopback"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[mcp_servers.stoa]
# The first turn waits for it.
required = true
startup_timeout_sec = 60
${server}
`

/** A string of JSON is one of TOML. */
const toml = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join("\n")

const codexServer = (transport: "http" | "stdio", context: CheckContext): string => {
  if (transport === "http") return toml({ url: `${context.house.url}/mcp`, bearer_token_env_var: "PAMS_TOKEN" })
  const { args, command, env } = stdioOf(context.tokens.Pam, context)
  return `${toml({ command, args })}\n[mcp_servers.stoa.env]\n${toml(env)}`
}

const codex = (transport: "http" | "stdio"): Check => [
  `Codex over ${transport}: lists our tools, calls them, and goes on when a person has approved one`,
  async (context) => {
    const { isolation, tokens } = context
    const heard: Array<string> = []
    const model = await startResponses(story(context, heard))
    const folder = join(isolation.home, ".codex")
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "config.toml"), codexSettings(model.url, codexServer(transport, context)))
    const env = { CODEX_HOME: folder, LOOPBACK_KEY: "loopback", PAMS_TOKEN: tokens.Pam }
    const program = join(clientsFolder, "node_modules/@openai/codex/bin/codex.js")
    const asked = ["exec", "--json", "--skip-git-repo-check", "Wipe the logs."]
    const { code, lines, stderr } = await isolation.run(process.execPath, [program, ...asked], { env })
    await model.close()
    assert.equal(code, 0, stderr + lines.join("\n"))
    assert.ok(JSON.stringify(model.asked[0]?.tools).includes('"name":"motto"'))
    await judge(context, heard, "Pam")
  },
]

export const noTraffic: Check = [
  "none of these programs asked for anything beyond this machine",
  async ({ proxy }) => assert.deepEqual(proxy.tripped, []),
]

export const programs: ReadonlyArray<Check> = [
  claudeCode("http"),
  claudeCode("stdio"),
  memory,
  agentSdk,
  types,
  codex("http"),
  codex("stdio"),
]
