/** Codex: `codex exec`, lines of JSON, resumes its thread; our server is configured for this run only. */
import { linesOf, type MCPEntry, numberOf, type Provider, record, textOf, withSystem } from "./Provider.ts"

/** A JSON string is also a TOML string. */
const toml = (value: unknown): string => JSON.stringify(value)

const table = (fields: Readonly<Record<string, string>>): string =>
  `{${Object.entries(fields)
    .map(([name, value]) => `${name} = ${toml(value)}`)
    .join(", ")}}`

const settings = (server: MCPEntry): ReadonlyArray<string> =>
  "url" in server
    ? [`mcp_servers.stoa.url=${toml(server.url)}`, `mcp_servers.stoa.bearer_token_env_var="STOA_TOKEN"`]
    : [
        `mcp_servers.stoa.command=${toml(server.command)}`,
        `mcp_servers.stoa.args=[${server.args.map(toml).join(", ")}]`,
        `mcp_servers.stoa.env=${table(server.env)}`,
      ]

export const codex: Provider = {
  network: true,
  line: (turn) => ({
    command: "codex",
    args: [
      "exec",
      ...(turn.session === null ? [] : ["resume", turn.session]),
      "--json",
      "--skip-git-repo-check",
      // Without `required`, its first turn begins before our tools are available.
      ...[
        ...settings(turn.server),
        "mcp_servers.stoa.required=true",
        "mcp_servers.stoa.startup_timeout_sec=60",
        'approval_policy="never"',
      ].flatMap((one) => ["-c", one]),
      ...(turn.thinker.args ?? []),
      "-",
    ],
    env: {},
    stdin: withSystem(turn),
    files: [],
  }),
  read: () => {
    let [session, error] = ["", ""]
    const said: Array<string> = []
    const usage = { in: 0, out: 0, cached: 0 }
    return linesOf(
      (line) => {
        const item = record(line["item"])
        switch (line["type"]) {
          case "thread.started":
            session = textOf(line["thread_id"])
            return ""
          case "item.completed": {
            if (item["type"] !== "agent_message") return ""
            const words = textOf(item["text"])
            said.push(words)
            return `${words}\n`
          }
          case "turn.completed": {
            const used = record(line["usage"])
            usage.in += numberOf(used["input_tokens"])
            usage.out += numberOf(used["output_tokens"])
            usage.cached += numberOf(used["cached_input_tokens"])
            return ""
          }
          case "turn.failed":
            error = textOf(record(line["error"])["message"]) || "it failed"
            return ""
          default:
            return ""
        }
      },
      () => ({
        text: (said.at(-1) ?? "").trim(),
        usage,
        ...(session === "" ? {} : { session }),
        ...(error === "" ? {} : { error }),
      }),
    )
  },
}
