/**
 * The definitions of a server's tools when they were first seen, compared with the present ones. A changed tool is
 * held, because its permission was given for the old definition (G-31). Pure.
 */
import type { ToolReview } from "@stoa/contract"
import { digestOf, type MCPTool } from "@stoa/tools"

export interface Pin {
  readonly tool: string
  readonly state: "active" | "held"
  readonly digest: string
  readonly heldDigest: string | null
  /** Since when it has had this digest. */
  readonly pinnedAt: string
}

/** What a model or a judge reads. The rest (`_meta`, icons) may change at any time and does not matter. */
const definitionOf = ({ annotations, description, inputSchema, name, outputSchema, title }: MCPTool) => ({
  name,
  description,
  inputSchema,
  ...(title === undefined ? {} : { title }),
  ...(outputSchema === undefined ? {} : { outputSchema }),
  ...(annotations === undefined ? {} : { annotations }),
})
const digest = (tool: MCPTool): string => digestOf(definitionOf(tool))

export interface Step {
  /**
   * `pin`: seen for the first time. `hold`: held from now on. `again`: held already, and changed again. `release`: it
   * has its accepted definition again.
   */
  readonly kind: "pin" | "hold" | "again" | "accept" | "release"
  readonly tool: string
  readonly definition: string
  readonly digest: string
}

const stepOf = (pin: Pin | undefined, digest: string, review: ToolReview): Step["kind"] | undefined => {
  if (pin === undefined) return "pin"
  if (pin.digest === digest) return pin.state === "held" ? "release" : undefined
  if (review === "trust") return "accept"
  return pin.heldDigest === digest ? undefined : pin.state === "held" ? "again" : "hold"
}

/** What to record after a listing. A tool that is gone keeps its pin: it may come back changed. */
export const stepsOf = (
  listed: ReadonlyArray<MCPTool>,
  pins: ReadonlyMap<string, Pin>,
  review: ToolReview,
): ReadonlyArray<Step> =>
  listed.flatMap((tool) => {
    const now = digest(tool)
    const kind = stepOf(pins.get(tool.name), now, review)
    return kind === undefined
      ? []
      : [{ kind, tool: tool.name, definition: JSON.stringify(definitionOf(tool)), digest: now }]
  })

/** Absent or empty: all of them. */
export const isAllowed = (allowed: ReadonlyArray<string> | undefined, tool: string): boolean =>
  allowed === undefined || allowed.length === 0 || allowed.includes(tool)

export interface Offer {
  readonly tools: ReadonlyArray<MCPTool>
  readonly held: ReadonlyArray<string>
  readonly missing: ReadonlyArray<string>
}

const byName = (a: MCPTool, b: MCPTool) => (a.name < b.name ? -1 : 1)

/** The tools of a listing that may be listed and called, in an order that does not depend on the server. */
export const offerOf = (
  listed: ReadonlyArray<MCPTool>,
  pins: ReadonlyMap<string, Pin>,
  allowed: ReadonlyArray<string> | undefined,
  refused: ReadonlyMap<string, unknown>,
): Offer => {
  const mine = listed.filter((tool) => isAllowed(allowed, tool.name) && !refused.has(tool.name)).toSorted(byName)
  const tools = mine.filter((tool) => {
    const pin = pins.get(tool.name)
    return pin?.state === "active" && pin.digest === digest(tool)
  })
  return {
    tools,
    held: mine.filter((tool) => pins.get(tool.name)?.state === "held").map((tool) => tool.name),
    missing: (allowed ?? []).filter((name) => !listed.some((tool) => tool.name === name)),
  }
}
