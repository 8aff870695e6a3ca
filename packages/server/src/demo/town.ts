/**
 * A small MCP server: the calendar, the weather and the cafés of a town that does not exist. The house starts it as a
 * program, like any other server, and talks to it line by line. It needs no package and no network.
 */
// edge: a program of its own, which reads and writes its standard streams.
import { createInterface } from "node:readline"

const week = [
  { day: "Monday", what: "Ship comes in", guests: 2 },
  { day: "Tuesday", what: "Review of the week", guests: 3 },
  { day: "Wednesday", what: "Painters", guests: 1 },
  { day: "Thursday", what: "Open house", guests: 5 },
  { day: "Friday", what: "Harbour master", guests: 1 },
]
const cafes = [
  { name: "Kafeneio", lat: 37.9434, lon: 23.6469, opens: "07:00" },
  { name: "Harbour", lat: 37.9402, lon: 23.6361, opens: "08:00" },
]

const tools = [
  { name: "week", description: "What is on this week, and how many guests come.", inputSchema: { type: "object" } },
  {
    name: "weather",
    description: "The weather of the town.",
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
  },
  { name: "places", description: "The cafés of the town, on a map.", inputSchema: { type: "object" } },
].map((tool) => ({ ...tool, annotations: { readOnlyHint: true, openWorldHint: false } }))

const answers: Readonly<Record<string, (given: { readonly city?: string }) => Record<string, unknown>>> = {
  week: () => ({ items: week, meetings: week.length, guests: week.reduce((sum, { guests }) => sum + guests, 0) }),
  weather: ({ city = "Piraeus" }) => ({ place: city, temperature: 18, unit: "°C", condition: "clear", wind: "2 bft" }),
  places: () => ({ places: cafes }),
}

interface Asked {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly protocolVersion?: string; readonly name?: string; readonly arguments?: object }
}

const known = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

const resultOf = ({ method, params }: Asked): unknown => {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: known.find((one) => one === params?.protocolVersion) ?? "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "town", version: "1.0.0" },
      }
    case "ping":
      return {}
    case "tools/list":
      return { tools }
    case "tools/call": {
      const answer = Object.hasOwn(answers, params?.name ?? "") ? answers[params!.name!] : undefined
      if (answer === undefined) return { isError: true, content: [{ type: "text", text: "There is no such tool." }] }
      const structuredContent = answer(params?.arguments ?? {})
      return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] }
    }
    default:
      return undefined
  }
}

const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === "") continue
  const asked = JSON.parse(line) as Asked
  // A notification, which gets no answer.
  if (asked.id === undefined) continue
  const result = resultOf(asked)
  say(
    result === undefined
      ? { id: asked.id, error: { code: -32601, message: "Method not found" } }
      : { id: asked.id, result },
  )
}
