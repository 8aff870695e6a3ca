export const words = {
  title: "Search",
  ask: "Search messages, memory, tools and people",
  begin: "Find messages, memory, tools and people by a word.",
  nothing: (q: string) => `Nothing that you can see fits “${q}”.`,
  messages: "Messages",
  memory: "Memory",
  tools: "Tools",
  people: "People and agents",
  spaces: "Spaces",
  called: (tool: string) => `called ${tool}`,
  inSpace: (name: string) => `in ${name}`,
  from: (name: string) => `of ${name}`,
} as const
