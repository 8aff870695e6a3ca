/** The demo office as plain declarations: its agents, spaces and tools, and what they are told. */
import type { AgentLimits, DeclaredModel, NewSpace, ToolsetName } from "@stoa/contract"

/** The model that plays `rules.json`. */
export const scriptedModel = "demo-scripted"

const toolsets: ReadonlyArray<ToolsetName> = ["gateway", "stoa", "skills"]

/** Short runs, few levels deep, and a daily limit: nothing here runs forever. */
const limits: AgentLimits = { steps: 16, minutes: 10, depth: 6, waits: 4, width: 3 }
/** Per agent, with any model. */
export const tokensPerDay = 400_000

export const agents = [
  {
    name: "greeter",
    persona:
      "You greet people who come to this house, remember their names, and tell them whom to ask: planner looks after the week, clerk buys what is needed. You are brief and friendly.",
  },
  {
    name: "planner",
    persona:
      "You look after the week: the calendar and the weather of the town (tools town/week and town/weather), who comes, what is planned. You hand questions that need looking up to research. You are brief and exact.",
  },
  {
    name: "clerk",
    persona:
      "You buy what the office needs. You work out the total, ask before you pay (the tool order does that), and note what was bought. You are brief and careful.",
  },
  {
    name: "finder",
    persona: "You look things up for the others and answer in two sentences. You speak in no space.",
  },
].map((one) => ({ ...one, toolsets, limits }))

/** The agents that people talk with, each in a direct-message space. */
export const talkers = ["greeter", "planner", "clerk"] as const

/** The first is where the demo begins. */
export const spaces: ReadonlyArray<NewSpace> = [
  {
    name: "office",
    kind: "public",
    topic: "A small demo that lives on its own",
    members: [...talkers],
  },
  { name: "research", kind: "public", topic: "What finder found out", members: ["planner", "clerk"] },
]

const object = (properties: Readonly<Record<string, object>>, required: ReadonlyArray<string>) => ({
  type: "object",
  properties,
  required,
})

/** One of each kind that needs nothing from outside the house. */
export const tools: ReadonlyArray<{ readonly name: string } & Readonly<Record<string, unknown>>> = [
  {
    name: "total",
    description: "What so many of something cost, in euros.",
    inputSchema: object(
      { count: { type: "integer", minimum: 1 }, price: { type: "number", minimum: 0, description: "Of one" } },
      ["count", "price"],
    ),
    executionType: "gateway",
    execution: { operation: "evaluate", expression: "round(input.count * input.price * 100) / 100" },
    annotations: { readOnlyHint: true },
  },
  {
    name: "order",
    description: "Orders something and pays from petty cash. A person approves it first. (No shop is real here.)",
    inputSchema: object(
      {
        item: { type: "string", minLength: 1, maxLength: 200 },
        count: { type: "integer", minimum: 1, maximum: 100 },
        euros: { type: "number", minimum: 0, maximum: 1000, description: "What is paid, all together" },
      },
      ["item", "count", "euros"],
    ),
    executionType: "gateway",
    execution: {
      operation: "evaluate",
      expression: "'Ordered ' + text(input.count) + ' × ' + input.item + ' for € ' + text(input.euros)",
    },
    riskLevel: "high",
    requiresApproval: true,
  },
  {
    name: "lunch",
    description: "Where shall we have lunch? The people here fill in a form.",
    inputSchema: object({ question: { type: "string", maxLength: 200 } }, ["question"]),
    outputSchema: object(
      {
        place: { type: "string", title: "Where", enum: ["Kafeneio", "Harbour", "Here"] },
        guests: { type: "integer", title: "How many come", minimum: 0, maximum: 50, default: 2 },
        note: { type: "string", title: "Anything else", maxLength: 500 },
      },
      ["place"],
    ),
    executionType: "space",
    execution: { timeout: 24 * 3_600_000 },
  },
  {
    name: "research",
    description: "Hands a question to finder, another agent, and gives back what it found out.",
    inputSchema: object({ text: { type: "string", minLength: 1, maxLength: 2000 } }, ["text"]),
    executionType: "gateway",
    execution: { agentConfig: { agent: "finder" }, timeout: 120_000 },
  },
]

/** The demo's own MCP server: `town.ts`, started by the house like any other. */
export const serverName = "town"

/** What greeter is told when the office opens. */
export const opening = "The office opens: welcome everybody."

/** What agents remember from the beginning. */
export const memories = [
  {
    agent: "clerk",
    key: "prices/coffee",
    content: "Ground coffee costs € 12 a kilo. One kilo is enough for three guests.",
  },
  { agent: "planner", key: "office/address", content: "The office is in Piraeus, by the harbour." },
] as const

/**
 * Models of vendors whose key is in the environment, for users who want the office to think. US dollars per million
 * tokens.
 */
export const vendors: Readonly<Record<string, DeclaredModel>> = {
  "demo-anthropic": { provider: "anthropic", model: "claude-sonnet-4-5", price: { in: 3, out: 15 } },
  "demo-openai": { provider: "openai", model: "gpt-4o-mini", price: { in: 0.15, out: 0.6 } },
  "demo-google": { provider: "google", model: "gemini-2.5-flash", price: { in: 0.3, out: 2.5 } },
}
