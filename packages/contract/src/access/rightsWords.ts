/**
 * The words of rights as plain lists. The schemas are made from them, and a page uses them without loading a schema.
 */

export const principalKinds = ["person", "agent", "service"] as const

/** Of seed 004 (S4-99). */
export const agentRoles = ["agent-basic", "agent-standard", "agent-privileged", "orchestrator"] as const
/** Of people and services. */
export const personRoles = ["admin", "member", "guest"] as const

export const actions = ["read", "write", "execute", "delete", "admin"] as const
export const verdicts = ["allow", "ask", "deny"] as const

/** What rules are about, each before a slash and a name: `tools/web-search`. The audit trail is one resource, `audit`. */
export const resourceKinds = [
  "agents",
  "allow-lists",
  "calls",
  "decisions",
  "delegations",
  "events",
  "files",
  "grants",
  "hosts",
  "house",
  "limits",
  "memory",
  "models",
  "pauses",
  "principals",
  "runs",
  "secrets",
  "self",
  "servers",
  "spaces",
  "tokens",
  "tools",
  "wallets",
] as const
export type ResourceKind = (typeof resourceKinds)[number]
/** Something that is judged, as the house's own code names it. */
export type Resource = "*" | "audit" | `${ResourceKind}/${string}`

/** The longest time for which a right is lent (S4-101), and the default. */
export const longestDelegationHours = 24
