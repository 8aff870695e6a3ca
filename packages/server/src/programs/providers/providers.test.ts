import { assert, it } from "@effect/vitest"
import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import { cursorAgent, gemini, opencode } from "./others.ts"
import type { Provider, Turn } from "./Provider.ts"

const turn = (more: Partial<Turn> = {}): Turn => ({
  thinker: { kind: "program", program: "claude", args: ["--model", "m"] },
  text: "Message from lead:\nhello",
  system: "You are worker.",
  session: null,
  server: { type: "http", url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer t" } },
  folder: "/turn",
  ...more,
})

const read = (provider: Provider, ...lines: ReadonlyArray<object>) => {
  const reading = provider.read()
  const shown = lines.map((line) => reading.take(`${JSON.stringify(line)}\n`)).join("")
  return { shown, ...reading.end() }
}

it("claude: print mode with our server alone, its session resumed, words, tokens and cost read", () => {
  const { args, stdin } = claude.line(turn({ session: "s1" }))
  assert.strictEqual(stdin, "Message from lead:\nhello")
  const line = args.join(" ")
  for (const part of ["--mcp-config /turn/mcp.json", "--strict-mcp-config", "--resume s1", "--model m"])
    assert.include(line, part)
  const heard = read(
    claude,
    { type: "system", subtype: "init", session_id: "s2" },
    { type: "assistant", message: { content: [{ type: "text", text: "Hm. " }] } },
    {
      type: "result",
      result: "Done.",
      session_id: "s2",
      total_cost_usd: 0.5,
      usage: { input_tokens: 3, cache_read_input_tokens: 2, output_tokens: 4 },
    },
  )
  assert.deepInclude(heard, { text: "Done.", session: "s2", costMicros: 500_000, shown: "Hm. " })
  assert.deepStrictEqual(heard.usage, { in: 5, out: 4, cached: 2 })
  assert.strictEqual(read(claude, { type: "result", is_error: true, result: "no credit" }).error, "no credit")
})

it("codex: exec with our server by settings of this run, its thread resumed, the last message read", () => {
  const { args, stdin } = codex.line(turn())
  assert.strictEqual(stdin, "You are worker.\n\n---\n\nMessage from lead:\nhello")
  assert.include(args, 'mcp_servers.stoa.url="http://127.0.0.1:1/mcp"')
  assert.notInclude(args.join(" "), "Bearer")
  assert.deepStrictEqual(codex.line(turn({ session: "t1" })).args.slice(0, 3), ["exec", "resume", "t1"])
  const heard = read(
    codex,
    { type: "thread.started", thread_id: "t2" },
    { type: "item.completed", item: { type: "agent_message", text: "First." } },
    { type: "item.completed", item: { type: "agent_message", text: "Last." } },
    { type: "turn.completed", usage: { input_tokens: 7, cached_input_tokens: 1, output_tokens: 2 } },
  )
  assert.deepInclude(heard, { text: "Last.", session: "t2", shown: "First.\nLast.\n" })
  assert.strictEqual(read(codex, { type: "turn.failed", error: { message: "no" } }).error, "no")
})

it("cursor-agent, gemini and opencode: configuration of the turn, no token in a workspace", () => {
  const cursor = cursorAgent.line(turn())
  assert.include(cursor.args, "--approve-mcps")
  assert.notInclude(JSON.stringify(cursor.files), "Bearer t")
  assert.deepInclude(read(cursorAgent, { type: "result", result: "ok", session_id: "c" }), { text: "ok", session: "c" })
  assert.include(JSON.stringify(gemini.line(turn()).files), "httpUrl")
  assert.strictEqual(read(gemini, { response: "ok" }).text, "ok")
  assert.include(JSON.stringify(opencode.line(turn()).files), "remote")
  assert.strictEqual(read(opencode, { type: "text", sessionID: "o", part: { text: "ok" } }).text, "ok")
})
