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

/** The longest time for which a right is lent (S4-101), and the default. */
export const longestDelegationHours = 24
