/**
 * What one principal may see; every list, feed and search uses it. `Grants.viewer` builds it for one epoch of rights;
 * anything that stays open longer (a feed, a watch) gets a new one when rights change.
 */
import type { Action, Principal, Resource } from "@stoa/contract"
import type { RuleVerdict, Coverage } from "./policy.ts"

export type { RuleVerdict } from "./policy.ts"

export interface Viewer {
  readonly principal: Principal
  /** An admin of the things it was made for: sees everybody's. */
  readonly all: boolean
  readonly judge: (action: Action, resource: Resource) => RuleVerdict
  /** Whether its rules say the same about all resources with this prefix, such as `spaces/`. */
  readonly coverage: (action: Action, things: string) => Coverage
  /** Whether its answers hold until its own rules change: none of them expires or is lent. */
  readonly lasting: boolean
  /** The epoch of rights in which it was made; the house itself has none. */
  readonly epoch?: number
  /** The house itself: only it may change what the configuration file owns. */
  readonly house?: true
}

/** A viewer without its rules: it sees what belongs to its principal, or everybody's. */
export type BasicViewer = Pick<Viewer, "principal" | "all">

/** The house itself, as when it applies its configuration: no rule restricts it. */
export const houseViewer = (principal: Principal): Viewer => ({
  principal,
  all: true,
  judge: () => ({ verdict: "allow", rule: "house" }),
  coverage: () => "all",
  lasting: true,
  house: true,
})
