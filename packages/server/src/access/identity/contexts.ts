/** The contexts of tokens, in the order of their trust. Pure. */
import type { AccessContext, Principal } from "@stoa/contract"

const depth: Record<AccessContext, number> = { crossroads: 0, agent: 1, internal: 2 }

/** Whether one context is trusted no further than another. */
export const isWithin = (one: AccessContext, bound: AccessContext): boolean => depth[one] <= depth[bound]

export const outerOf = (one: AccessContext, other: AccessContext): AccessContext => (isWithin(one, other) ? one : other)

/** The context of a new token, unless an admin sets another. */
export const usualContext = (principal: Pick<Principal, "kind" | "roles">): AccessContext =>
  principal.roles.includes("admin") ? "internal" : principal.kind === "service" ? "crossroads" : "agent"
