/**
 * cursor-agent, Gemini CLI and opencode. We cannot test them here: their command lines follow their documentation, and
 * `thinker.args` adds what a newer version needs.
 */
import {
  linesOf,
  type MCPEntry,
  microsOf,
  numberOf,
  type Provider,
  record,
  textOf,
  type Turn,
  withSystem,
} from "./Provider.ts"

/** The token is in the environment, not in a file, which a shared workspace would show to others. */
const cursorServer = (server: MCPEntry): object =>
  "url" in server ? { url: server.url, headers: { Authorization: "Bearer ${env:STOA_TOKEN}" } } : server

export const cursorAgent: Provider = {
  network: true,
  line: (turn) => ({
    command: "cursor-agent",
    args: [
      "-p",
      "--output-format",
      "stream-json",
      // Without it, a run without a terminal waits forever for an answer (S3-07).
      "--approve-mcps",
      ...(turn.session === null ? [] : ["--resume", turn.session]),
      ...(turn.thinker.args ?? []),
    ],
    env: {},
    stdin: withSystem(turn),
    files: [
      {
        in: "workspace",
        path: ".cursor/mcp.json",
        text: JSON.stringify({ mcpServers: { stoa: cursorServer(turn.server) } }),
      },
    ],
  }),
  read: () => {
    let [text, session, error] = ["", "", ""]
    return linesOf(
      (line) => {
        session = textOf(line["session_id"]) || session
        if (line["type"] === "result") {
          text = textOf(line["result"])
          if (line["is_error"] === true) error = text || "it failed"
          return ""
        }
        if (line["type"] !== "assistant") return ""
        const content = record(line["message"])["content"]
        return (Array.isArray(content) ? content : []).map((part) => textOf(record(part)["text"])).join("")
      },
      () => ({
        text: text.trim(),
        ...(session === "" ? {} : { session }),
        ...(error === "" ? {} : { error }),
      }),
    )
  },
}

const geminiServer = (server: MCPEntry): object =>
  "url" in server ? { httpUrl: server.url, headers: server.headers, trust: true } : { ...server, trust: true }

export const gemini: Provider = {
  network: true,
  line: (turn) => ({
    command: "gemini",
    args: [
      "--output-format",
      "json",
      ...(turn.session === null ? [] : ["--resume", turn.session]),
      ...(turn.thinker.args ?? []),
    ],
    env: { GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${turn.folder}/gemini.json` },
    stdin: withSystem(turn),
    files: [
      {
        in: "turn",
        path: "gemini.json",
        text: JSON.stringify({ mcpServers: { stoa: geminiServer(turn.server) } }),
      },
    ],
  }),
  read: () => {
    let whole = ""
    return {
      take: (chunk) => {
        whole += chunk
        return ""
      },
      end: () => {
        const from = whole.indexOf("{")
        let found: Readonly<Record<string, unknown>> = {}
        try {
          found = record(JSON.parse(whole.slice(Math.max(0, from))))
        } catch {
          return { text: whole.trim() }
        }
        const session = textOf(found["session_id"])
        const error = textOf(record(found["error"])["message"])
        return {
          text: textOf(found["response"]).trim(),
          ...(session === "" ? {} : { session }),
          ...(error === "" ? {} : { error }),
        }
      },
    }
  },
}

const opencodeServer = (server: MCPEntry): object =>
  "url" in server
    ? { type: "remote", url: server.url, headers: server.headers, enabled: true }
    : { type: "local", command: [server.command, ...server.args], environment: server.env, enabled: true }

const opencodeLine = (turn: Turn) => ({
  command: "opencode",
  args: [
    "run",
    "--format",
    "json",
    ...(turn.session === null ? [] : ["--session", turn.session]),
    ...(turn.thinker.args ?? []),
  ],
  env: { OPENCODE_CONFIG: `${turn.folder}/opencode.json` },
  stdin: withSystem(turn),
  files: [
    {
      in: "turn" as const,
      path: "opencode.json",
      text: JSON.stringify({ mcp: { stoa: opencodeServer(turn.server) } }),
    },
  ],
})

export const opencode: Provider = {
  network: true,
  line: opencodeLine,
  read: () => {
    let [text, session, error] = ["", "", ""]
    let cost = 0
    const usage = { in: 0, out: 0, cached: 0 }
    return linesOf(
      (line) => {
        session = textOf(line["sessionID"]) || session
        const part = record(line["part"])
        if (line["type"] === "error") error = textOf(record(line["error"])["name"]) || "it failed"
        if (line["type"] === "step_finish") {
          cost += microsOf(part["cost"])
          usage.in += numberOf(record(part["tokens"])["input"])
          usage.out += numberOf(record(part["tokens"])["output"])
        }
        if (line["type"] !== "text") return ""
        text = textOf(part["text"])
        return text
      },
      () => ({
        text: text.trim(),
        usage,
        costMicros: cost,
        ...(session === "" ? {} : { session }),
        ...(error === "" ? {} : { error }),
      }),
    )
  },
}
