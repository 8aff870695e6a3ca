/** What happened lately with the tools of one MCP server: its calls of a day, and how often each tool is called. */
import { MCPServerFigures, type MCPServerState } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { makeCallFigures, makeToolCounts } from "./CallFigures.ts"

const day = 24 * 3_600_000
const week = 7 * day

export const makeServerFigures = Effect.gen(function* () {
  const callFigures = yield* makeCallFigures
  const toolCounts = yield* makeToolCounts
  return Effect.fn("ServerFigures")(function* ({ held, name, tools }: Pick<MCPServerState, "held" | "name" | "tools">) {
    const all = [...held, ...tools]
    const to = DateTime.toEpochMillis(yield* DateTime.now)
    // The whole day is one point.
    const figures = yield* callFigures({ server: name }, { from: to - day, to, step: day })
    const often = yield* toolCounts(
      all.map((tool) => `${name}/${tool}`),
      to - week,
      MCPServerFigures.maxCounted,
    )
    const [done = 0, failed = 0, refused = 0, ended = 0, open = 0] = (
      ["done", "failed", "refused", "ended", "open"] as const
    ).map((outcome) => figures[outcome][0])
    return new MCPServerFigures({
      from: DateTime.makeUnsafe(to - day),
      to: DateTime.makeUnsafe(to),
      calls: done + failed + refused + ended + open,
      failed,
      refused,
      open,
      p50: figures.p50[0] ?? null,
      p95: figures.p95[0] ?? null,
      since: figures.since === null ? null : DateTime.makeUnsafe(figures.since),
      tools: all.map((tool, at) => ({ name: tool, calls: often[at]! })),
    })
  })
})
