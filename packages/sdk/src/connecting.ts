/**
 * How other programs are connected to a house: one record per client, with the one thing to paste. The page shows them,
 * `stoa connect` prints them, and `npm run test:clients` runs them as they are.
 */

export interface ConnectionWanted {
  /** The address of the house, as the program reaches it. */
  readonly url: string
  /** The token of the agent the program acts as. */
  readonly token: string
  /** The program's name for the house; `stoa` by default. */
  readonly name?: string
}

export interface ConnectionLine {
  /** `shell`: a command. `json`, `toml`: for a file. `code`: for a program. */
  readonly kind: "shell" | "json" | "toml" | "code"
  readonly text: string
  /** The file it belongs in, if it is for a file. */
  readonly file?: string
  /** A link that the program itself opens, with the same content. */
  readonly link?: string
  /** What to check afterwards. */
  readonly afterwards: string
}

const mcpOf = ({ url }: ConnectionWanted): string => `${url.replace(/\/+$/, "")}/mcp`
const headerOf = ({ token }: ConnectionWanted): string => `Bearer ${token}`
const nameOf = ({ name = "stoa" }: ConnectionWanted): string => name

/** One word of a POSIX shell, quoted if necessary. */
const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
const json = (value: unknown): string => JSON.stringify(value, null, 2)
const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""))

const serverOf = (wanted: ConnectionWanted) => ({
  type: "http",
  url: mcpOf(wanted),
  headers: { Authorization: headerOf(wanted) },
})

export interface ConnectableClient {
  readonly title: string
  readonly line: (wanted: ConnectionWanted) => ConnectionLine
}

export const connectableClients = {
  "claude-code": {
    title: "Claude Code",
    line: (wanted) => ({
      kind: "shell",
      text: `claude mcp add --transport http ${word(nameOf(wanted))} ${word(mcpOf(wanted))} --header ${word(`Authorization: ${headerOf(wanted)}`)}`,
      afterwards: "Start claude; /mcp shows the house as connected.",
    }),
  },
  codex: {
    title: "Codex",
    line: (wanted) => ({
      kind: "shell",
      text: `export STOA_TOKEN=${word(wanted.token)} && codex mcp add ${word(nameOf(wanted))} --url ${word(mcpOf(wanted))} --bearer-token-env-var STOA_TOKEN`,
      afterwards: "Start codex in the same shell; it reads the token from STOA_TOKEN each time.",
    }),
  },
  cursor: {
    title: "Cursor",
    line: (wanted) => {
      const { type: _type, ...server } = serverOf(wanted)
      const config = encodeURIComponent(base64(JSON.stringify(server)))
      return {
        kind: "json",
        text: json({ mcpServers: { [nameOf(wanted)]: server } }),
        file: "~/.cursor/mcp.json",
        link: `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(nameOf(wanted))}&config=${config}`,
        afterwards: "Settings, MCP shows it with a green dot.",
      }
    },
  },
  vscode: {
    title: "VS Code",
    line: (wanted) => {
      const server = { name: nameOf(wanted), ...serverOf(wanted) }
      return {
        kind: "shell",
        text: `code --add-mcp ${word(JSON.stringify(server))}`,
        link: `vscode:mcp/install?${encodeURIComponent(JSON.stringify(server))}`,
        afterwards: "In the chat, choose Agent and look at its tools.",
      }
    },
  },
  "ai-sdk": {
    title: "AI SDK",
    line: (wanted) => ({
      kind: "code",
      text: `import { experimental_createMCPClient as createMCPClient } from "@ai-sdk/mcp"

const house = await createMCPClient({
  transport: { type: "http", url: ${JSON.stringify(mcpOf(wanted))}, headers: { Authorization: ${JSON.stringify(headerOf(wanted))} } },
})
const tools = await house.tools()`,
      afterwards: "Give `tools` to generateText or streamText.",
    }),
  },
  "agent-sdk": {
    title: "Claude Agent SDK",
    line: (wanted) => ({
      kind: "code",
      text: `import { createSdkMcpServer, query } from "@anthropic-ai/claude-agent-sdk"
import { getTools } from "@stoa/sdk/claude"

const tools = await getTools({ url: ${JSON.stringify(wanted.url)}, token: ${JSON.stringify(wanted.token)} })
const stoa = createSdkMcpServer({ name: ${JSON.stringify(nameOf(wanted))}, tools })
for await (const message of query({ prompt: "Who am I here?", options: { mcpServers: { stoa } } })) console.log(message)`,
      afterwards: "It acts as the agent whose token it has.",
    }),
  },
  json: {
    title: "JSON",
    line: (wanted) => ({
      kind: "json",
      text: json({ mcpServers: { [nameOf(wanted)]: serverOf(wanted) } }),
      file: "the mcpServers of your client",
      afterwards: "Restart the client.",
    }),
  },
  stdio: {
    title: "Programs that only start commands",
    line: (wanted) => ({
      kind: "json",
      text: json({
        mcpServers: {
          [nameOf(wanted)]: {
            command: "npx",
            args: ["--no-install", "stoa", "mcp"],
            env: { STOA_URL: wanted.url, STOA_TOKEN: wanted.token },
          },
        },
      }),
      file: "the mcpServers of your client",
      afterwards: "Restart the client in a folder where npx finds stoa.",
    }),
  },
  curl: {
    title: "curl",
    line: (wanted) => ({
      kind: "shell",
      text: `curl -s ${word(`${wanted.url.replace(/\/+$/, "")}/api/v1/me`)} -H ${word(`Authorization: ${headerOf(wanted)}`)}`,
      afterwards: "It answers who you are.",
    }),
  },
} as const satisfies Record<string, ConnectableClient>

export type ConnectableName = keyof typeof connectableClients
