import { assert, it } from "@effect/vitest"
import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import { cursorAgent, gemini, opencode } from "./others.ts"
import { linesOf, type Provider, sessionOf, type Turn } from "./Provider.ts"

const turn = (more: Partial<Turn> = {}): Turn => ({
  thinker: { kind: "program", program: "claude", args: ["--model", "m"] },
  text: "Message from lead:\nhello",
  system: "You are worker.",
  session: null,
  server: { type: "http", url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer t" } },
  permits: false,
  folder: "/turn",
  ...more,
})

const read = (provider: Provider, ...lines: ReadonlyArray<object>) => {
  const reading = provider.read()
  const shown = lines.map((line) => reading.take(`${JSON.stringify(line)}\n`)).join("")
  return { shown, ...reading.end() }
}

it("S3-07 S3-22 claude: print mode with our server alone, its session resumed, words, tokens and cost read", () => {
  const { args, stdin } = claude.line(turn({ session: "s1" }))
  assert.strictEqual(stdin, "Message from lead:\nhello")
  const line = args.join(" ")
  for (const part of [
    "-p",
    "--allowedTools mcp__stoa",
    "--mcp-config /turn/mcp.json",
    "--strict-mcp-config",
    "--resume s1",
    "--model m",
  ])
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

it("S3-07 S3-22 codex: exec with our server by settings of this run, its thread resumed, the last message read", () => {
  const { args, stdin } = codex.line(turn())
  assert.strictEqual(stdin, "You are worker.\n\n---\n\nMessage from lead:\nhello")
  assert.include(args, 'mcp_servers.stoa.url="http://127.0.0.1:1/mcp"')
  assert.notInclude(args.join(" "), "Bearer")
  // Nobody is there to be asked.
  assert.include(args.join(" "), '-c approval_policy="never"')
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

it("S3-07 S3-22 cursor-agent, gemini and opencode: configuration of the turn, no prompt, no token in a workspace", () => {
  const cursor = cursorAgent.line(turn())
  assert.include(cursor.args, "--approve-mcps")
  assert.notInclude(JSON.stringify(cursor.files), "Bearer t")
  assert.deepInclude(read(cursorAgent, { type: "result", result: "ok", session_id: "c" }), { text: "ok", session: "c" })
  assert.include(JSON.stringify(gemini.line(turn()).files), "httpUrl")
  // Our tools are trusted beforehand: nobody is there to be asked.
  assert.include(gemini.line(turn()).files[0]!.text, '"trust":true')
  assert.strictEqual(read(gemini, { response: "ok" }).text, "ok")
  assert.include(JSON.stringify(opencode.line(turn()).files), "remote")
  for (const [provider, flag] of [
    [cursorAgent, "--resume"],
    [gemini, "--resume"],
    [opencode, "--session"],
  ] as const) {
    assert.notInclude(provider.line(turn()).args, flag)
    assert.include(provider.line(turn({ session: "s1" })).args.join(" "), `${flag} s1`)
  }
  assert.strictEqual(read(opencode, { type: "text", sessionID: "o", part: { text: "ok" } }).text, "ok")
})

it("what a program says of itself is believed within bounds: whole tokens, dollars that can be, a session that is a name", () => {
  for (const input_tokens of [0.5, -1, "7", 1e300, null]) {
    const used = read(codex, { type: "turn.completed", usage: { input_tokens, output_tokens: 2 } }).usage
    assert.deepStrictEqual(used, { in: 0, out: 2, cached: 0 })
  }
  const reading = claude.read()
  reading.take('{"type":"result","result":"ok","total_cost_usd":1e999,"usage":{"input_tokens":1e999}}\n')
  assert.deepInclude(reading.end(), { costMicros: 1e10, usage: { in: 0, out: 0, cached: 0 } })
  const cost = read(opencode, { type: "step_finish", part: { cost: 0.0000005 } }).costMicros
  assert.isTrue(Number.isSafeInteger(cost))
  for (const name of ["--flag", "-c", "", "a b", "a\nb", "a".repeat(129), null]) assert.isNull(sessionOf(name))
  for (const name of ["0199-ab.c:d_e", "t2"]) assert.strictEqual(sessionOf(name), name)
})

it("lines come in any pieces; one of more than 1 MiB fails the turn, and those after it are read", () => {
  const heard: Array<unknown> = []
  const reading = linesOf(
    (line) => {
      heard.push(line["n"])
      return "."
    },
    () => ({ text: "" }),
  )
  for (const sign of '{"n":1}\r\n{"n":2}\nchatter\n') reading.take(sign)
  assert.strictEqual(reading.take('{"n":3}\n{"n":4}\n{"n"'), "..")
  reading.take(":5}")
  assert.isUndefined(reading.end().error)
  assert.deepStrictEqual(heard, [1, 2, 3, 4, 5])
  const piece = "x".repeat(64 * 1024)
  reading.take("{")
  for (let n = 0; n < 17; n++) reading.take(piece)
  reading.take('\n{"n":6}\n')
  assert.strictEqual(heard.at(-1), 6)
  assert.match(reading.end().error!, /1 MiB/)
})
