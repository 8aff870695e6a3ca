/**
 * How other programs are connected to a house: one record per client, with the one thing to paste. The page shows them,
 * `stoa connect` prints them, and `npm run test:clients` runs them as they are.
 */

export interface ConnectionDetails {
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

const mcpOf = ({ url }: ConnectionDetails): string => `${url.replace(/\/+$/, "")}/mcp`
const headerOf = ({ token }: ConnectionDetails): string => `Bearer ${token}`
const nameOf = ({ name = "stoa" }: ConnectionDetails): string => name

/** One word of a POSIX shell, quoted if necessary. */
const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
const json = (value: unknown): string => JSON.stringify(value, null, 2)
const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""))

const serverOf = (details: ConnectionDetails) => ({
  type: "http",
  url: mcpOf(details),
  headers: { Authorization: headerOf(details) },
})

export interface ConnectableClient {
  readonly title: string
  readonly line: (details: ConnectionDetails) => ConnectionLine
}

export const connectableClients = {
  "claude-code": {
    title: "Claude Code",
    line: (details) => ({
      kind: "shell",
      text: `claude mcp add --transport http ${word(nameOf(details))} ${word(mcpOf(details))} --header ${word(`Authorization: ${headerOf(details)}`)}`,
      afterwards: "Start claude; /mcp shows the house as connected.",
    }),
  },
  codex: {
    title: "Codex",
    line: (details) => ({
      kind: "shell",
      text: `export STOA_TOKEN=${word(details.token)} && codex mcp add ${word(nameOf(details))} --url ${word(mcpOf(details))} --bearer-token-env-var STOA_TOKEN`,
      afterwards: "Start codex in the same shell; it reads the token from STOA_TOKEN each time.",
    }),
  },
  cursor: {
    title: "Cursor",
    line: (details) => {
      const { type: _type, ...server } = serverOf(details)
      const config = encodeURIComponent(base64(JSON.stringify(server)))
      return {
        kind: "json",
        text: json({ mcpServers: { [nameOf(details)]: server } }),
        file: "~/.cursor/mcp.json",
        link: `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(nameOf(details))}&config=${config}`,
        afterwards: "Settings, MCP shows it with a green dot.",
      }
    },
  },
  vscode: {
    title: "VS Code",
    line: (details) => {
      const server = { name: nameOf(details), ...serverOf(details) }
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
    line: (details) => ({
      kind: "code",
      text: `import { experimental_createMCPClient as createMCPClient } from "@ai-sdk/mcp"

const house = await createMCPClient({
  transport: { type: "http", url: ${JSON.stringify(mcpOf(details))}, headers: { Authorization: ${JSON.stringify(headerOf(details))} } },
})
const tools = await house.tools()`,
      afterwards: "Give `tools` to generateText or streamText.",
    }),
  },
  "agent-sdk": {
    title: "Claude Agent SDK",
    line: (details) => ({
      kind: "code",
      text: `import { createSdkMcpServer, query } from "@anthropic-ai/claude-agent-sdk"
import { getTools } from "@stoa/sdk/claude"

const tools = await getTools({ url: ${JSON.stringify(details.url)}, token: ${JSON.stringify(details.token)} })
const stoa = createSdkMcpServer({ name: ${JSON.stringify(nameOf(details))}, tools })
for await (const message of query({ prompt: "Who am I here?", options: { mcpServers: { stoa } } })) console.log(message)`,
      afterwards: "It acts as the agent whose token it has.",
    }),
  },
  json: {
    title: "JSON",
    line: (details) => ({
      kind: "json",
      text: json({ mcpServers: { [nameOf(details)]: serverOf(details) } }),
      file: "the mcpServers of your client",
      afterwards: "Restart the client.",
    }),
  },
  stdio: {
    title: "Programs that only start commands",
    line: (details) => ({
      kind: "json",
      text: json({
        mcpServers: {
          [nameOf(details)]: {
            command: "npx",
            args: ["--no-install", "stoa", "mcp"],
            env: { STOA_URL: details.url, STOA_TOKEN: details.token },
          },
        },
      }),
      file: "the mcpServers of your client",
      afterwards: "Restart the client in a folder where npx finds stoa.",
    }),
  },
  curl: {
    title: "curl",
    line: (details) => ({
      kind: "shell",
      text: `curl -s ${word(`${details.url.replace(/\/+$/, "")}/api/v1/me`)} -H ${word(`Authorization: ${headerOf(details)}`)}`,
      afterwards: "It answers who you are.",
    }),
  },
} as const satisfies Record<string, ConnectableClient>

export type ConnectableName = keyof typeof connectableClients
