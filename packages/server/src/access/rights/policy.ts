/**
 * The judgement: pure functions over data. Among the rules that fit, deny wins over ask and ask over allow; silence means
 * deny, because what nobody listed nobody has reviewed.
 */
import type { Action, Policy, PrincipalKind, Role, Verdict } from "@stoa/contract"
import { DateTime } from "effect"

export interface Rule {
  /** What the judgement names as its reason. */
  readonly name: string
  readonly resource: string
  readonly actions: ReadonlyArray<Action>
  readonly effect: Verdict
  readonly expiresAt: DateTime.Utc | null
  /** Present on what was lent: it reaches only as far as these rules of the giver do, now. */
  readonly lentBy?: ReadonlyArray<Rule>
}

export interface Judged {
  readonly verdict: Verdict
  readonly rule: string
}

const rule = (resource: string, ...actions: ReadonlyArray<Action>) => ({ resource, actions })

/** Everybody may look after what is their own and see who else is here. */
const everybody = [rule("self/*", "read", "write", "delete"), rule("principals/*", "read")]

/** Roles of seed 004 (S4-99) beside those of people and services. A role only allows; refusing is the work of policies. */
const roles: Record<Role, ReadonlyArray<{ readonly resource: string; readonly actions: ReadonlyArray<Action> }>> = {
  admin: [rule("*", "admin")],
  member: [...everybody, rule("tools/*", "read", "execute"), rule("spaces/*", "read", "write")],
  guest: [rule("self/*", "read")],
  "agent-basic": [...everybody, rule("tools/basic/*", "read", "execute"), rule("spaces/*", "read", "write")],
  "agent-standard": [...everybody, rule("tools/*", "read", "execute"), rule("spaces/*", "read", "write")],
  "agent-privileged": [
    ...everybody,
    rule("tools/*", "read", "write", "execute"),
    rule("spaces/*", "read", "write", "delete"),
    rule("memory/*", "read", "write", "delete"),
  ],
  orchestrator: [
    ...everybody,
    rule("tools/*", "read", "write", "execute"),
    rule("spaces/*", "read", "write", "delete"),
    rule("agents/*", "read", "write", "execute"),
  ],
}

/** A new agent can work (S4-100), a new person can talk, a new service can only say who it is. */
export const defaultRoles: Record<PrincipalKind, ReadonlyArray<Role>> = {
  person: ["member"],
  agent: ["agent-standard"],
  service: ["guest"],
}

/** `*` stands for any run of characters, also across slashes. */
export const fits = (pattern: string, resource: string): boolean => {
  const parts = pattern.split("*")
  if (parts.length === 1) return pattern === resource
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (resource.length < first.length + last.length) return false
  if (!resource.startsWith(first) || !resource.endsWith(last)) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = resource.indexOf(part, at)
    if (found < 0 || found + part.length > resource.length - last.length) return false
    at = found + part.length
  }
  return true
}

/** Whether every resource the narrower pattern names is named by the wider one. Says no when in doubt. */
export const covers = (wider: string, narrower: string): boolean =>
  // A star in the narrower one can stand for anything, so it is matched as a character that only a star can take.
  fits(wider, narrower.replaceAll("*", "\u0000"))

/** `admin` implies every action (S4-98). */
const includes = (actions: ReadonlyArray<Action>, action: Action): boolean =>
  actions.includes(action) || actions.includes("admin")

const order: ReadonlyArray<Verdict> = ["deny", "ask", "allow"]

export const judge = (
  rules: ReadonlyArray<Rule>,
  action: Action,
  resource: string,
  now: DateTime.Utc,
  /** What each giver's rules say, once: loans that cross must not be followed over and over. */
  said: Map<ReadonlyArray<Rule>, Verdict> = new Map(),
): Judged => {
  const verdictOf = (lentBy: ReadonlyArray<Rule>): Verdict => {
    const known = said.get(lentBy)
    if (known !== undefined) return known
    // While it is being asked, a giver that lends to itself through others has nothing of its own to add.
    said.set(lentBy, "deny")
    const { verdict } = judge(lentBy, action, resource, now, said)
    said.set(lentBy, verdict)
    return verdict
  }
  const fitting = rules
    .filter(
      (one) =>
        fits(one.resource, resource) &&
        includes(one.actions, action) &&
        (one.expiresAt === null || DateTime.isGreaterThan(one.expiresAt, now)),
    )
    // What the giver is denied it cannot lend, and where it must ask, so must whoever it lent to.
    .map((one) => (one.lentBy === undefined ? one : { ...one, effect: verdictOf(one.lentBy) }))
    .filter((one) => one.lentBy === undefined || one.effect !== "deny")
  for (const verdict of order) {
    const decided = fitting.find((one) => one.effect === verdict)
    if (decided !== undefined) return { verdict, rule: decided.name }
  }
  return { verdict: "deny", rule: "silence" }
}

/** Whether a pattern can name anything that begins so. */
const touches = (pattern: string, beginning: string): boolean => {
  const star = pattern.indexOf("*")
  if (star < 0) return pattern.startsWith(beginning)
  const head = pattern.slice(0, star)
  return head.startsWith(beginning) || beginning.startsWith(head)
}

/** What rules say of many things at once: all are allowed, none is, or each has to be asked about. */
export type Reach = "all" | "some" | "none"

/** Says "some" when in doubt: then each is judged. */
export const reachOf = (rules: ReadonlyArray<Rule>, action: Action, beginning: string, now: DateTime.Utc): Reach => {
  const touching = rules.filter(
    (one) =>
      touches(one.resource, beginning) &&
      includes(one.actions, action) &&
      (one.expiresAt === null || DateTime.isGreaterThan(one.expiresAt, now)),
  )
  if (touching.every((one) => one.effect !== "allow")) return "none"
  if (touching.some((one) => one.effect !== "allow" || one.lentBy !== undefined)) return "some"
  return touching.some((one) => covers(one.resource, `${beginning}*`)) ? "all" : "some"
}

export const rulesOfRoles = (held: ReadonlyArray<Role>): ReadonlyArray<Rule> =>
  held.flatMap((role) =>
    roles[role].map((one) => ({ ...one, name: `role:${role}`, effect: "allow" as const, expiresAt: null })),
  )

/** Whether a rule of the configuration file, for a name or `role:x` or `*`, speaks of this principal. */
export const concerns = (
  whom: string,
  principal: { readonly name: string; readonly roles: ReadonlyArray<Role> },
): boolean =>
  whom === "*" ||
  whom.toLowerCase() === principal.name.toLowerCase() ||
  (whom.startsWith("role:") && principal.roles.some((role) => `role:${role}` === whom))

export const rulesOfPolicies = (
  policies: ReadonlyArray<Policy>,
  principal: { readonly name: string; readonly roles: ReadonlyArray<Role> },
): ReadonlyArray<Rule> =>
  policies.flatMap((policy, place) =>
    concerns(policy.principal, principal) ? [{ ...policy, name: `policy:${place}`, expiresAt: null }] : [],
  )

/** Whom the policies ask about this, and how: the first that asks this principal, and says so. */
export const approvalIn = (
  policies: ReadonlyArray<Policy>,
  principal: { readonly name: string; readonly roles: ReadonlyArray<Role> },
  resource: string,
): Policy["approval"] =>
  policies.find(
    (one) =>
      one.approval !== undefined &&
      one.effect === "ask" &&
      includes(one.actions, "execute") &&
      concerns(one.principal, principal) &&
      fits(one.resource, resource),
  )?.approval

/** Delegation (S4-101): at most a day, at most three deep. */
export const longestDelegation = { hours: 24 }
export const deepestDelegation = 3
/** Open at a time, given by one or received by one. */
export const mostDelegations = 50

/** Which of the giver's rules lets it hand this on: one that covers the whole pattern and all the actions. */
export const mayDelegate = (
  rules: ReadonlyArray<Rule>,
  wanted: { readonly resource: string; readonly actions: ReadonlyArray<Action> },
  now: DateTime.Utc,
): Rule | undefined =>
  wanted.actions.some((action) => judge(rules, action, wanted.resource, now).verdict !== "allow")
    ? undefined
    : rules.find(
        (one) =>
          one.effect === "allow" &&
          (one.expiresAt === null || DateTime.isGreaterThan(one.expiresAt, now)) &&
          covers(one.resource, wanted.resource) &&
          wanted.actions.every((action) => includes(one.actions, action)),
      )
