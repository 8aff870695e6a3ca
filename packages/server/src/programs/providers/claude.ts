/** Claude Code in print mode: lines of JSON, resumes its own session, uses only our server. */
import { linesOf, microsOf, numberOf, type Provider, record, textOf } from "./Provider.ts"

export const claude: Provider = {
  network: true,
  line: ({ folder, permits, session, system, text, thinker }) => ({
    command: "claude",
    args: [
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      "--mcp-config",
      `${folder}/mcp.json`,
      "--strict-mcp-config",
      // The house judges the use of our own tools.
      "--allowedTools",
      "mcp__stoa",
      // For what it may not do by itself it asks the house, which asks a person.
      ...(permits ? ["--permission-prompt-tool", "mcp__stoa__permit_use"] : []),
      "--append-system-prompt",
      system,
      ...(session === null ? [] : ["--resume", session]),
      ...(thinker.args ?? []),
    ],
    env: {},
    stdin: text,
    files: [],
  }),
  read: () => {
    let [text, session, error, said] = ["", "", "", ""]
    let usage = { in: 0, out: 0, cached: 0 }
    let costMicros = 0
    return linesOf(
      (line) => {
        session = textOf(line["session_id"]) || session
        if (line["type"] === "assistant") {
          const content = record(line["message"])["content"]
          const words = (Array.isArray(content) ? content : [])
            .map((part) => (record(part)["type"] === "text" ? textOf(record(part)["text"]) : ""))
            .join("")
          said += words
          return words
        }
        if (line["type"] !== "result") return ""
        text = textOf(line["result"])
        if (line["is_error"] === true) error = text || textOf(line["subtype"]) || "it failed"
        const used = record(line["usage"])
        const cached = numberOf(used["cache_read_input_tokens"])
        usage = {
          in: numberOf(used["input_tokens"]) + cached + numberOf(used["cache_creation_input_tokens"]),
          out: numberOf(used["output_tokens"]),
          cached,
        }
        costMicros = microsOf(line["total_cost_usd"])
        return ""
      },
      () => ({
        text: (text || said).trim(),
        usage,
        costMicros,
        ...(session === "" ? {} : { session }),
        ...(error === "" ? {} : { error }),
      }),
    )
  },
}
