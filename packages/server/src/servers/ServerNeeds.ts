/** Which MCP servers of the house, and which of their tools, need a person. Pure. */
import type { MCPServerState, Need } from "@stoa/contract"

export const serverNeeds = (servers: ReadonlyArray<MCPServerState>, isPaused: (server: string) => boolean) =>
  servers.flatMap(({ error, held, name, status }): ReadonlyArray<Need> => [
    ...held.map((tool) => ({
      kind: "heldTool" as const,
      subject: name,
      tool,
      detail: "Its definition has changed: it cannot be called until somebody accepts it.",
      urgent: true,
    })),
    ...(status === "connected" || isPaused(name)
      ? []
      : [{ kind: "serverAway" as const, subject: name, detail: error ?? "It is not connected.", urgent: true }]),
  ])
