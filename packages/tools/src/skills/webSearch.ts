/** web-search: seed 004's definition, with any provider. */
import type { ToolDefinition } from "@stoa/contract"
import { Effect } from "effect"
import type { Tool } from "../Handler.ts"
import { argument, refuse, text } from "./argument.ts"
import { CurrentSearchProvider, providerOf } from "./Search.ts"
import { CurrentSkillsConfig } from "./SkillsConfig.ts"

const name = "web-search"
const most = 20

const definition: ToolDefinition = {
  name,
  description: "Search the web for information using a query string",
  parameters: [
    { name: "query", type: "string", description: "Search query", required: true },
    { name: "maxResults", type: "number", description: "Max results to return", required: false, default: 5 },
  ],
  category: "search",
  riskLevel: "low",
  timeoutMs: 10_000,
  requiresApproval: false,
  source: "builtin",
}

export const webSearch: Tool = {
  definition,
  handler: Effect.fn("web-search")(function* (args) {
    const query = (yield* text(name, args, "query")).trim()
    if (query === "" || query.length > 2000)
      return yield* refuse(name, `"query" must have between 1 and 2000 characters.`)
    const asked = argument(args, "maxResults") ?? 5
    if (typeof asked !== "number" || !Number.isFinite(asked))
      return yield* refuse(name, `"maxResults" must be a number.`)
    const provider = (yield* CurrentSearchProvider) ?? providerOf((yield* CurrentSkillsConfig).search)
    const results = yield* provider.search(query, Math.min(most, Math.max(1, Math.trunc(asked))))
    return { query, provider: provider.name, results }
  }),
}
