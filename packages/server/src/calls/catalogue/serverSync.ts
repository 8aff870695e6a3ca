/** The tools of MCP servers in the catalogue, updated on demand from the room `servers`. */
import type { PrincipalId, ToolValidationError } from "@stoa/contract"
import { Effect, Semaphore } from "effect"
import type { Servers, ServerTool } from "../../servers/Servers.ts"
import type { HouseTool } from "../road/Handler.ts"
import { withMCPNotes } from "../road/MCPNotes.ts"
import type { Traits } from "./Traits.ts"

interface Target {
  readonly offer: (tool: HouseTool, traits: Traits) => Effect.Effect<void, ToolValidationError>
  readonly withdraw: (name: string, owner: PrincipalId | undefined) => Effect.Effect<void>
}

export const makeServerSync = Effect.fnUntraced(function* (servers: Servers["Service"], catalogue: Target) {
  const known = new Map<string, { readonly tool: ServerTool["tool"]; readonly owner: PrincipalId | undefined }>()
  const one = Semaphore.makeUnsafe(1)
  let changes = 0
  let synced = -1
  yield* servers.onChange(() => void changes++)

  const update = Effect.gen(function* () {
    const before = changes
    if (before === synced) return
    const now = new Map(servers.tools().map((it) => [`${it.owner ?? ""} ${it.tool.definition.name}`, it]))
    for (const [key, { owner, tool }] of known)
      if (!now.has(key)) {
        known.delete(key)
        yield* catalogue.withdraw(tool.definition.name, owner)
      }
    for (const [key, { targetDigest, owner: whose, onlyForApps, pinnedAt, server, tool }] of now) {
      if (known.get(key)?.tool === tool) continue
      const owner = whose ?? undefined
      known.set(key, { tool, owner })
      const traits: Traits = {
        effects: "outside",
        resultFormat: "mcp",
        server,
        pinnedAt,
        ...(onlyForApps && { onlyForApps }),
        reviewed: false,
        // The same definition from another program or address is another tool.
        targetDigest,
        ...(owner === undefined ? {} : { owner }),
      }
      yield* catalogue
        .offer(withMCPNotes(tool), traits)
        .pipe(Effect.catch((error) => Effect.logWarning(`${tool.definition.name} is left out: ${error.message}`)))
    }
    synced = before
  })

  const is = () => changes === synced
  // `sync` does nothing unless something has changed; then the caller waits for the update. Uninterruptible: if the
  // request ended halfway, a tool would be missing for everybody.
  return { is, sync: Effect.suspend(() => (is() ? Effect.void : one.withPermit(Effect.uninterruptible(update)))) }
})
