const plural = new Intl.PluralRules("en")
const counted = (count: number, one: string, many: string) => `${count} ${plural.select(count) === "one" ? one : many}`

export const words = {
  title: "Welcome",
  alive: (hour: number) =>
    `Good ${hour >= 5 && hour < 12 ? "morning" : hour >= 12 && hour < 18 ? "afternoon" : "evening"}. This house is alive.`,
  empty: "This house is yours, and empty.",
  aliveMore: (agents: number) =>
    `${counted(agents, "demo agent is working", "demo agents are working")} here on a scripted model: no key, no cost, nothing leaves this machine. Watch them, answer them, write to them.`,
  thinking: (model: string, spent: string, budget: string) =>
    `The demo's agents think with ${model}. Today they have spent ${spent} of ${budget}.`,
  emptyMore: "Take four steps to get to know it. Each is ticked when you have done it.",
  steps: {
    "signed-in": { name: "Sign in", more: "with the link in your terminal" },
    decided: { name: "Answer the first decision", more: "It waits below" },
    connected: { name: "Bring your own agent", more: "Claude Code, Codex: one line" },
    model: {
      name: "Give the house a model",
      more: "Anthropic, OpenAI, Google, or an address: a key in the environment",
    },
  },
  goThere: "Go there",
  connect: "Connect",
  how: "How",
  done: "done",
  open: "not yet",
  taken: (done: number, all: number) => `${done} of ${all} steps`,
  left: "Steps that are left",
  hide: "Hide the guide",
  show: "Show the guide",
  remove: "Remove the demo",
  removeSure: (parts: string) =>
    `This removes ${parts}, with what its agents remember. Messages stay in the archived spaces. The demo does not come back.`,
  parts: {
    agent: (count: number) => counted(count, "agent", "agents"),
    space: (count: number) => counted(count, "space", "spaces"),
    tool: (count: number) => counted(count, "tool", "tools"),
    server: (count: number) => counted(count, "server", "servers"),
    model: (count: number) => counted(count, "model", "models"),
  },
  keep: "Keep it",
  think: "Think with",
  use: "Use it",
  openSpace: "New space",
  now: "In this house now",
  nouns: {
    spaces: (count: number) => [counted(count, "space", "spaces"), "where people and agents talk"],
    tools: (count: number, more: boolean) => [
      more ? `${count} tools and more` : counted(count, "tool", "tools"),
      "of every kind; some ask a person first, one shows a form",
    ],
    memory: (count: number, more: boolean) => [
      more ? `${count} memories and more` : counted(count, "memory", "memories"),
      "of the agents, with their history",
    ],
    decisions: (count: number) => [
      counted(count, "decision", "decisions"),
      count === 1 ? "waits for you" : "wait for you",
    ],
    runs: (count: number) => [counted(count, "run", "runs"), "live; they survive a restart of the house"],
    servers: (count: number) => [counted(count, "server", "servers"), "MCP, started by this house"],
  },
  terminal: "From a terminal",
  commands: (space: string) => `npx stoa say ${space} "hello"\nnpx stoa decide\nnpx stoa events`,
  home: "Stoa sends no telemetry. Only the models that agents use get their prompts.",
} as const
