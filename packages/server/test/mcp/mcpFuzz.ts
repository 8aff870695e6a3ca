/** Messages gone wrong, from a seed: the same number is the same message. Used by the short run and the long one. */
import { request } from "node:http"
import { assert } from "@effect/vitest"
import { envelope } from "./mcpKit.ts"

/** A small generator with a seed (mulberry32). */
const seeded = (seed: number) => {
  let at = seed >>> 0
  const next = (): number => {
    at = (at + 0x6d2b79f5) >>> 0
    let t = Math.imul(at ^ (at >>> 15), at | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (most: number): number => Math.floor(next() * most)
  return { next, below, pick: <A>(from: ReadonlyArray<A>): A => from[below(from.length)]! }
}
type Random = ReturnType<typeof seeded>

const methods = [
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "resources/subscribe",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  "server/discover",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "constructor",
  "__proto__",
  "",
]
const tools = [
  "test_simple_text",
  "greet",
  "test_error_handling",
  "test_input_required_result_request_state",
  "nowhere",
]
const strange: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1e308,
  1.5,
  "",
  "\u2028",
  "😀",
  "\ud800",
  [],
  {},
  [[]],
  { a: { b: [] } },
  "x".repeat(3000),
  JSON.parse('{"__proto__":{"polluted":true}}'),
  { constructor: { prototype: { polluted: true } } },
]

const wellFormed = (random: Random): Record<string, unknown> => {
  const method = random.pick(methods)
  const params: Record<string, unknown> = {
    name: random.pick(tools),
    arguments: { name: "n" },
    uri: "test://static-text",
    taskId: "t",
    level: "info",
    ref: { type: "ref/prompt", name: "p" },
    argument: { name: "a", value: "" },
    protocolVersion: random.pick(["2025-11-25", "2025-03-26", "2026-07-28"]),
    capabilities: { elicitation: {} },
    clientInfo: { name: "f", version: "1" },
    ...(random.next() < 0.5 ? { _meta: envelope({ elicitation: {} }) } : {}),
  }
  return {
    jsonrpc: "2.0",
    ...(random.next() < 0.9 ? { id: random.pick([0, 1, "", "x", 7]) } : {}),
    method,
    params,
  }
}

/** Changes something, anywhere. */
const bent = (value: unknown, random: Random, depth = 0): unknown => {
  if (random.next() < 0.15 || depth > 6) return random.pick(strange)
  if (Array.isArray(value)) return value.map((it) => bent(it, random, depth + 1))
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value)
  const at = random.below(Math.max(1, entries.length))
  return Object.fromEntries(
    entries.flatMap(([key, it], n) => {
      if (n !== at) return [[key, it]]
      const way = random.below(4)
      if (way === 0) return []
      if (way === 1) return [[`${key}x`, it]]
      return [[key, bent(it, random, depth + 1)]]
    }),
  )
}

const torn = (text: string, random: Random): string => {
  const at = random.below(text.length + 1)
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return (
        text.slice(0, at) + random.pick(["{", "]", '"', "\\u0000", "\u0000", ",", "[".repeat(500)]) + text.slice(at)
      )
    case 2:
      return `[${text},${text}]`
    case 3:
      return text + text
    default:
      return String.fromCharCode(...Array.from({ length: 20 }, () => random.below(256)))
  }
}

interface Mutant {
  readonly body: string
  readonly headers: Record<string, string>
}

const mutant = (seed: number): Mutant => {
  const random = seeded(seed)
  let message: unknown = wellFormed(random)
  const { method, params } = message as { readonly method: string; readonly params: Record<string, unknown> }
  for (let n = random.below(3); n > 0; n--) message = bent(message, random)
  if (random.next() < 0.1) message = [message, wellFormed(random), bent(wellFormed(random), random)]
  const text = JSON.stringify(message) ?? "undefined"
  const headers: Record<string, string> = {}
  const isNew = "_meta" in params
  if (random.next() < 0.9 && isNew) headers["mcp-protocol-version"] = "2026-07-28"
  if (random.next() < 0.1) headers["mcp-protocol-version"] = random.pick(["2025-11-25", "v9", "", "2026-07-28"])
  if (random.next() < 0.8 && method !== "") headers["mcp-method"] = method
  if (random.next() < 0.8) headers["mcp-name"] = String(params["name"])
  if (random.next() < 0.1) headers["mcp-session-id"] = random.pick(["nowhere", "%00", "x".repeat(500)])
  if (random.next() < 0.1) headers["last-event-id"] = "1_1"
  if (random.next() < 0.05)
    headers["content-type"] = random.pick(["text/plain", "application/json; charset=utf-8", "x"])
  headers["accept"] = random.pick([
    "application/json, text/event-stream",
    "application/json, text/event-stream",
    "application/json",
    "text/event-stream",
    "*/*",
    "",
  ])
  return { body: random.next() < 0.2 ? torn(text, random) : text, headers }
}

const known = new Set([200, 202, 400, 404, 405, 406, 413, 415])

const checkMessage = (value: unknown, about: string): void => {
  const it = value as {
    readonly jsonrpc?: unknown
    readonly result?: unknown
    readonly error?: { readonly code?: unknown }
  }
  assert.strictEqual(it.jsonrpc, "2.0", about)
  assert.isTrue((it.result === undefined) !== (it.error === undefined) || "method" in (value as object), about)
  if (it.error !== undefined) assert.isNumber(it.error.code, about)
}

/** A message, or a batch of them. */
const checkAll = (value: unknown, about: string): void => {
  for (const one of Array.isArray(value) ? value : [value]) checkMessage(one, about)
}

/** A well-formed answer, or a proper refusal of HTTP's. */
const judge = (seed: number, status: number, type: string, text: string): void => {
  const about = `seed ${seed}: ${status} ${type} ${text.slice(0, 300)}`
  assert.isTrue(known.has(status), about)
  if (text === "") return
  if (type.startsWith("text/event-stream")) {
    for (const line of text.split("\n"))
      if (line.startsWith("data: ") && line.length > 6) checkAll(JSON.parse(line.slice(6)), about)
    return
  }
  const value = JSON.parse(text) as unknown
  if (type.startsWith("application/problem+json"))
    assert.strictEqual((value as { readonly status: number }).status, status, about)
  else checkAll(value, about)
}

/** Sends one and reads its answer to the end. Node's own client: it sends headers as they are. */
const send = (url: string, token: string, { body, headers }: Mutant, agent: import("node:http").Agent) =>
  new Promise<{ readonly status: number; readonly type: string; readonly text: string }>((resolve, reject) => {
    const bytes = Buffer.from(body, "utf8")
    const all = {
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
      ...headers,
      "content-length": String(bytes.length),
    }
    const sent = request(url, { method: "POST", headers: all, agent }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers["content-type"] ?? "",
          text: Buffer.concat(chunks).toString("utf8"),
        }),
      )
    })
    // What hangs never answers; what runs beside everything else on a busy machine may take its time.
    sent.setTimeout(60_000, () => sent.destroy(new Error("no answer within a minute")))
    sent.on("error", reject)
    sent.end(bytes)
  })

/** `count` mutants from `first` on, sixteen at a time. */
export const barrage = async (
  url: string,
  token: string,
  first: number,
  count: number,
): Promise<Map<number, number>> => {
  const { Agent } = await import("node:http")
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const seen = new Map<number, number>()
  let next = first
  const worker = async () => {
    while (next < first + count) {
      const seed = next++
      const answer = await send(url, token, mutant(seed), agent).catch((cause: Error) => {
        throw new Error(`seed ${seed}: ${cause.message}`, { cause })
      })
      judge(seed, answer.status, answer.type, answer.text)
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  agent.destroy()
  return seen
}
