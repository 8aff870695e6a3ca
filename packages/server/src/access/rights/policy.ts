/**
 * The judgement: pure functions over data. Among the rules that match, deny wins over ask and ask over allow. No match
 * means deny, because nobody has reviewed what nobody listed.
 */
import {
  type AccessContext,
  Action,
  longestDelegationHours,
  type Policy,
  type PrincipalKind,
  type Role,
  type Verdict,
} from "@stoa/contract"
import { DateTime } from "effect"
import { isWithin } from "../identity/contexts.ts"

export interface Rule {
  /** The reason that the judgement reports. */
  readonly name: string
  readonly resource: string
  readonly actions: ReadonlyArray<Action>
  readonly effect: Verdict
  readonly expiresAt: DateTime.Utc | null
  /** Only if lent: the rule reaches only as far as these rules of the giver do now. */
  readonly lentBy?: ReadonlyArray<Rule>
  /** Only if lent: does not apply to tokens that are trusted further than the giver's. */
  readonly context?: AccessContext
}

export interface RuleVerdict {
  readonly verdict: Verdict
  readonly rule: string
}

const rule = (resource: string, ...actions: ReadonlyArray<Action>) => ({ resource, actions })

/** Everybody may manage what is their own and see who else is here. */
const everybody = [rule("self/*", "read", "write", "delete"), rule("principals/*", "read"), rule("models/*", "read")]

/** Roles of seed 004 (S4-99), and those of people and services. A role only allows; policies refuse. */
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

/** A new agent can work (S4-100), a new person can talk, a new service can only read what is its own. */
export const defaultRoles: Record<PrincipalKind, ReadonlyArray<Role>> = {
  person: ["member"],
  agent: ["agent-standard"],
  service: ["guest"],
}

/** `*` matches any characters, including slashes. */
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

/** Whether the wider pattern matches everything that the narrower one matches. False when in doubt. */
export const covers = (wider: string, narrower: string): boolean =>
  // A star in the narrower pattern can be anything, so it becomes a character that only a star matches.
  fits(wider, narrower.replaceAll("*", "\u0000"))

/** `admin` implies every action (S4-98). */
const includes = (actions: ReadonlyArray<Action>, action: Action): boolean =>
  actions.includes(action) || actions.includes("admin")

/** Of one's own rules the strictest counts: a deny or ask of an admin stays. */
const ofOwn: ReadonlyArray<Verdict> = ["deny", "ask", "allow"]
/** Of lent rules the widest counts, because lending only adds. A giver cannot lend what it is denied. */
const ofLent: ReadonlyArray<Verdict> = ["allow", "ask"]

const firstOf = (order: ReadonlyArray<Verdict>, rules: ReadonlyArray<Rule>): RuleVerdict | undefined => {
  for (const verdict of order) {
    const decided = rules.find((one) => one.effect === verdict)
    if (decided !== undefined) return { verdict, rule: decided.name }
  }
  return undefined
}

const isLive = ({ expiresAt }: Rule, now: DateTime.Utc): boolean =>
  expiresAt === null || DateTime.isGreaterThan(expiresAt, now)

/** All rules that match now, whatever their effect. */
export const rulesThatFit = (
  rules: ReadonlyArray<Rule>,
  action: Action,
  resource: string,
  now: DateTime.Utc,
): ReadonlyArray<Rule> =>
  rules.filter((one) => fits(one.resource, resource) && includes(one.actions, action) && isLive(one, now))

/**
 * One's own rules decide. Delegations count only if those are silent: so nobody loses rights by being lent something.
 * If a giver must ask, so must the receiver, but only for what was lent.
 */
export const judge = (
  rules: ReadonlyArray<Rule>,
  action: Action,
  resource: string,
  now: DateTime.Utc,
  /** The context of the caller's token. */
  context: AccessContext,
  /** The verdict of each giver's rules, computed once: delegations that form cycles must not be followed repeatedly. */
  said: Map<ReadonlyArray<Rule>, Verdict> = new Map(),
): RuleVerdict => {
  const fitting = rulesThatFit(rules, action, resource, now)
  const own = firstOf(
    ofOwn,
    fitting.filter((one) => one.lentBy === undefined),
  )
  if (own !== undefined) return own
  const verdictOf = (lentBy: ReadonlyArray<Rule>): Verdict => {
    const known = said.get(lentBy)
    if (known !== undefined) return known
    // During its own evaluation, a giver that lends to itself through others adds nothing.
    said.set(lentBy, "deny")
    const { verdict } = judge(lentBy, action, resource, now, context, said)
    said.set(lentBy, verdict)
    return verdict
  }
  const lent = fitting
    .filter((one) => one.context === undefined || isWithin(context, one.context))
    .map((one) => ({ ...one, effect: verdictOf(one.lentBy ?? []) }))
  return firstOf(ofLent, lent) ?? { verdict: "deny", rule: "silence" }
}

/** Whether a pattern can match anything with this prefix. */
const touches = (pattern: string, beginning: string): boolean => {
  const star = pattern.indexOf("*")
  if (star < 0) return pattern.startsWith(beginning)
  const head = pattern.slice(0, star)
  return head.startsWith(beginning) || beginning.startsWith(head)
}

/** What rules say about many resources at once: all are allowed, none is, or each must be judged. */
export type Coverage = "all" | "some" | "none"

/** "some" when in doubt: then each is judged. */
export const coverageOf = (
  rules: ReadonlyArray<Rule>,
  action: Action,
  beginning: string,
  now: DateTime.Utc,
): Coverage => {
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

const ownWallet = "own wallet"

/** The holder of a wallet may use and lend it. */
export const rulesOfWallet = (key: string | undefined): ReadonlyArray<Rule> =>
  key === undefined
    ? []
    : [{ ...rule(`wallets/${key}`, "read", "write", "delete"), name: ownWallet, effect: "allow", expiresAt: null }]

/**
 * The rules about wallets: one's own, and those that their holders lent, directly or through others. Neither being an
 * admin nor an admin's grant lets anybody use another's wallet (S2-78).
 */
export const rulesOnWallets = (
  rules: ReadonlyArray<Rule>,
  known: Map<ReadonlyArray<Rule>, ReadonlyArray<Rule>> = new Map(),
): ReadonlyArray<Rule> => {
  const before = known.get(rules)
  if (before !== undefined) return before
  // In a cycle of delegations, the second visit adds nothing.
  known.set(rules, [])
  const kept = rules.flatMap((one) => {
    if (one.lentBy !== undefined) return [{ ...one, lentBy: rulesOnWallets(one.lentBy, known) }]
    return one.effect !== "allow" || one.name === ownWallet ? [one] : []
  })
  known.set(rules, kept)
  return kept
}

/** The wallets that these rules are about. */
export const walletsIn = (rules: ReadonlyArray<Rule>, seen: Set<ReadonlyArray<Rule>> = new Set()): Set<string> => {
  if (seen.has(rules)) return new Set()
  seen.add(rules)
  return new Set(
    rules.flatMap(({ lentBy, name, resource }) =>
      lentBy !== undefined
        ? [...walletsIn(lentBy, seen)]
        : name === ownWallet
          ? [resource.slice("wallets/".length)]
          : [],
    ),
  )
}

/** Whether a rule of the configuration file (for a name, `role:x` or `*`) applies to this principal. */
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

/** Who must approve this, and how: from the first matching `ask` policy that says so. */
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

/** Delegation (S4-101): at most a day, at most three levels. */
export const longestDelegation = { hours: longestDelegationHours }
export const deepestDelegation = 3
/** The most open delegations that one principal may have given, or received. */
export const maxDelegations = 50

/** The giver's rule that lets it hand this on: it must cover the whole pattern and all actions. */
export const mayDelegate = (
  rules: ReadonlyArray<Rule>,
  wanted: { readonly resource: string; readonly actions: ReadonlyArray<Action> },
  now: DateTime.Utc,
  context: AccessContext,
): Rule | undefined =>
  wanted.actions.some((action) => judge(rules, action, wanted.resource, now, context).verdict !== "allow")
    ? undefined
    : rules.find((one) => one.effect === "allow" && isLive(one, now) && coversRule(one, wanted))

const coversRule = (
  one: Rule,
  wanted: { readonly resource: string; readonly actions: ReadonlyArray<Action> },
): boolean => covers(one.resource, wanted.resource) && wanted.actions.every((action) => includes(one.actions, action))

/** Rights on `self/` are the same for everybody, so they do not count when rights are compared. */
const isOfSelf = ({ resource }: Rule): boolean => resource.startsWith("self/")

/** Whether two patterns may match the same resource. True when in doubt. */
const mayMeet = (one: string, other: string): boolean => {
  const [a, b] = [one.split("*")[0]!, other.split("*")[0]!]
  return a.startsWith(b) || b.startsWith(a)
}

const shareAction = (one: Rule, other: Rule): boolean =>
  Action.literals.some((action) => includes(one.actions, action) && includes(other.actions, action))

const rank: Record<Verdict, number> = { deny: 0, ask: 1, allow: 2 }

/** Whether a rule lasts at least as long as another. */
const outlasts = (one: Rule, other: Rule): boolean =>
  one.expiresAt === null || (other.expiresAt !== null && !DateTime.isLessThan(one.expiresAt, other.expiresAt))

/**
 * Whether `those` rules reach further than `these`: one of them allows something that `these` do not cover, or `these`
 * deny, or ask about, something that `those` do not. True when in doubt.
 */
export const reachesBeyond = (
  those: ReadonlyArray<Rule>,
  these: ReadonlyArray<Rule>,
  now: DateTime.Utc,
  context: AccessContext,
): boolean => {
  const rankOf = (rules: ReadonlyArray<Rule>, action: Action, { resource }: Rule) =>
    rank[judge(rules, action, resource, now, context).verdict]
  const live = those.filter((one) => isLive(one, now))
  const gives = live.filter(
    (one) => !isOfSelf(one) && one.actions.some((action) => rankOf(those, action, one) > rank.deny),
  )
  const goesBeyond = (given: Rule): boolean =>
    given.actions.some((action) => rankOf(those, action, given) > rankOf(these, action, given)) ||
    !these.some((one) => one.effect !== "deny" && isLive(one, now) && coversRule(one, given))
  const isLifted = (held: Rule): boolean =>
    held.effect !== "allow" &&
    isLive(held, now) &&
    gives.some((one) => mayMeet(one.resource, held.resource) && shareAction(one, held)) &&
    !live.some((one) => rank[one.effect] <= rank[held.effect] && outlasts(one, held) && coversRule(one, held))
  return gives.some(goesBeyond) || these.some(isLifted)
}
