/**
 * What one principal may see; every list, feed and search uses it. `Grants.viewer` builds it for one epoch of rights;
 * anything that stays open longer (a feed, a watch) gets a new one when rights change.
 */
import type { AccessContext, Action, Principal, Resource } from "@stoa/contract"
import type { RuleVerdict, Coverage } from "./policy.ts"

export type { RuleVerdict } from "./policy.ts"

export interface Viewer {
  readonly principal: Principal
  /** The context of its token: what others have lent it is not valid in every context. */
  readonly context: AccessContext
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

/** One that sees only what its principal may see as a member, even if it is an admin. */
export const asMember = (viewer: Viewer): Viewer => ({ ...viewer, all: false })

/** For what is only about a principal's own things, whatever else its rules let it see. */
export const ownViewer = (principal: Principal): BasicViewer => ({ principal, all: false })

/**
 * The house itself reads, for a principal that was judged by something else before: whoever may stop an agent stops its
 * runs and their calls, and the demo adds up what its agents have spent. No rule is asked again, because none of those
 * who asked has to see everybody's. Only rooms may use it, and never for what a caller names.
 */
export const viewerOfAll = (principal: Principal): BasicViewer => ({ principal, all: true })

/** The house itself, as when it applies its configuration: no rule restricts it. */
export const houseViewer = (principal: Principal): Viewer => ({
  principal,
  context: "internal",
  all: true,
  judge: () => ({ verdict: "allow", rule: "house" }),
  coverage: () => "all",
  lasting: true,
  house: true,
})
