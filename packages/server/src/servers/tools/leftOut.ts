/** What a server has but the house cannot offer, and why: logged once, and shown to admins with the server. */
import { MCPServerTool } from "@stoa/contract"
import { defaultToolsConfig, type MCPDroppedItem, type MCPTool, mcpToolDefinition, Registry } from "@stoa/tools"
import { Effect, References } from "effect"

/** The most that are shown with a server itself. */
const maxShown = 100
const unlimited = { ...defaultToolsConfig, registry: { maxTools: Infinity, allowDuplicateNames: false } }

/** Of these tools, those that no catalogue would accept, by name. */
export const refusedOf = Effect.fnUntraced(
  function* (server: string, listed: ReadonlyArray<MCPTool>) {
    const registry = new Registry(unlimited)
    const refused = new Map<string, string>()
    for (const tool of listed) {
      const definition = mcpToolDefinition(server, tool)
      const taken = yield* Effect.result(
        registry.add({ definition, handler: () => Effect.void }, { by: `servers/${server}` }),
      )
      if (taken._tag === "Success") continue
      const { expected, parameter, received } = taken.failure
      refused.set(tool.name, `${parameter} must be ${expected}, but is ${received}`)
    }
    return refused
    // Without logging: the catalogue logs its remarks on the accepted tools itself.
  },
  Effect.provideService(References.MinimumLogLevel, "None"),
)

const keyOf = ({ name, what, why }: MCPDroppedItem) => `${what} "${name}": ${why}`

/** Logs what is left out now and was not before. */
export const tellLeftOut = (
  server: string,
  before: ReadonlyArray<MCPDroppedItem>,
  now: ReadonlyArray<MCPDroppedItem>,
): Effect.Effect<void> => {
  const known = new Set(before.map(keyOf))
  const news = now.map(keyOf).filter((it) => !known.has(it))
  return news.length === 0
    ? Effect.void
    : Effect.logWarning(
        `MCP server "${server}" lists things that cannot be offered: ${news.slice(0, 5).join("; ")}${news.length > 5 ? `; and ${news.length - 5} more` : ""}`,
      )
}

export interface LeftOut {
  /** For its tools that were accepted by the client. */
  readonly refused: ReadonlyMap<string, string>
  /** Tools that the client dropped. */
  readonly dropped: ReadonlyArray<MCPDroppedItem>
}
export const nothingLeftOut: LeftOut = { refused: new Map(), dropped: [] }

export const allOf = ({ dropped, refused }: LeftOut): ReadonlyArray<MCPDroppedItem> => [
  ...[...refused].map(([name, why]) => ({ what: "tool", name, why }) as const),
  ...dropped,
]

export const shownLeftOut = (tools: LeftOut, others: ReadonlyArray<MCPDroppedItem>): ReadonlyArray<MCPDroppedItem> =>
  [...allOf(tools), ...others].slice(0, maxShown)

/** Its stored tools, together with those that are left out. */
export const withLeftOut = (
  kept: ReadonlyArray<MCPServerTool>,
  { dropped, refused }: LeftOut,
): ReadonlyArray<MCPServerTool> => {
  const names = new Set(kept.map(({ name }) => name))
  return [
    ...kept.map((tool) => {
      const why = refused.get(tool.name)
      return why === undefined ? tool : new MCPServerTool({ ...tool, state: "left-out", why })
    }),
    ...dropped
      .filter(({ name }) => !names.has(name))
      .map(
        ({ name, why }) =>
          new MCPServerTool({
            name,
            state: "left-out",
            why,
            definition: null,
            digest: "",
            held: null,
            firstSeenAt: null,
          }),
      ),
  ]
}
