/**
 * What one principal may see; every list, feed and search asks it. `Grants.viewer` builds it for one epoch of rights;
 * whatever stays open longer (a feed, a watch) gets a new one when rights change.
 */
import type { Action, Principal } from "@stoa/contract"
import type { RuleVerdict, Reach } from "./policy.ts"

export type { RuleVerdict } from "./policy.ts"

export interface Viewer {
  readonly principal: Principal
  /** An admin of the things it was made for: it sees everybody's. */
  readonly all: boolean
  readonly judge: (action: Action, resource: string) => RuleVerdict
  /** Whether its rules say the same of all things that begin so, such as `spaces/`. */
  readonly reach: (action: Action, things: string) => Reach
  /** Whether what it says stands until its own rules are changed: nothing in them ends by itself or is lent. */
  readonly lasting: boolean
  /** Of rights, when it was made; the house itself has none. */
  readonly epoch?: number
  /** The house itself: it alone may change what the configuration file owns. */
  readonly house?: true
}

/** Who looks at what belongs to one principal: its own, or everybody's. */
export type Reader = Pick<Viewer, "principal" | "all">

/** The house itself, as when it applies its configuration: no rule of anybody holds it back. */
export const houseViewer = (principal: Principal): Viewer => ({
  principal,
  all: true,
  judge: () => ({ verdict: "allow", rule: "house" }),
  reach: () => "all",
  lasting: true,
  house: true,
})
