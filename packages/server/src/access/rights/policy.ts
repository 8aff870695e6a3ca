/**
 * The judgement: pure functions over data. Among the rules that match, deny wins over ask and ask over allow. Silence
 * means deny, because what nobody listed nobody has reviewed.
 */
import { type AccessContext, Action, type Policy, type PrincipalKind, type Role, type Verdict } from "@stoa/contract"
import { DateTime } from "effect"
import { isWithin } from "../identity/contexts.ts"

export interface Rule {
  /** What the judgement names as its reason. */
  readonly name: string
  readonly resource: string
  readonly actions: ReadonlyArray<Action>
  readonly effect: Verdict
  readonly expiresAt: DateTime.Utc | null
  /** Present on what was lent: it reaches only as far as these rules of the giver do, now. */
  readonly lentBy?: ReadonlyArray<Rule>
  /** Present on what was lent: no token that stands further in than the giver's has it. */
  readonly context?: AccessContext
}

export interface RuleVerdict {
  readonly verdict: Verdict
  readonly rule: string
}

const rule = (resource: string, ...actions: ReadonlyArray<Action>) => ({ resource, actions })

/** Everybody may look after what is their own and see who else is here. */
const everybody = [rule("self/*", "read", "write", "delete"), rule("principals/*", "read"), rule("models/*", "read")]

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

/** Of one's own rules the strictest counts: what an admin denied or wants asked stays so. */
const ofOwn: ReadonlyArray<Verdict> = ["deny", "ask", "allow"]
/** Of what is lent the widest counts, because lending only adds. What the giver is denied it cannot lend. */
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

/** All that speak of it now, whatever they say. */
export const rulesThatFit = (
  rules: ReadonlyArray<Rule>,
  action: Action,
  resource: string,
  now: DateTime.Utc,
): ReadonlyArray<Rule> =>
  rules.filter((one) => fits(one.resource, resource) && includes(one.actions, action) && isLive(one, now))

/**
 * One's own rules decide. Loans are looked at where those are silent: so nobody has less for having been lent something,
 * and where a giver must ask, so must whoever it lent to, for what it lent and for nothing else.
 */
export const judge = (
  rules: ReadonlyArray<Rule>,
  action: Action,
  resource: string,
  now: DateTime.Utc,
  /** Where the token stands that asks. */
  context: AccessContext,
  /** What each giver's rules say, once: loans that cross must not be followed over and over. */
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
    // While it is being asked, a giver that lends to itself through others has nothing of its own to add.
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

const ownWallet = "own wallet"

/** Whoever has a wallet may use it, and lend it. */
export const rulesOfWallet = (key: string | undefined): ReadonlyArray<Rule> =>
  key === undefined
    ? []
    : [{ ...rule(`wallets/${key}`, "read", "write", "delete"), name: ownWallet, effect: "allow", expiresAt: null }]

/**
 * What rules say of wallets: one's own, and those their holders lent, however often they were handed on. Nobody uses
 * another's for being an admin, or by an admin's leave (S2-78).
 */
export const rulesOnWallets = (
  rules: ReadonlyArray<Rule>,
  known: Map<ReadonlyArray<Rule>, ReadonlyArray<Rule>> = new Map(),
): ReadonlyArray<Rule> => {
  const before = known.get(rules)
  if (before !== undefined) return before
  // Whoever lends in a circle lends nothing of its own the second time round.
  known.set(rules, [])
  const kept = rules.flatMap((one) => {
    if (one.lentBy !== undefined) return [{ ...one, lentBy: rulesOnWallets(one.lentBy, known) }]
    return one.effect !== "allow" || one.name === ownWallet ? [one] : []
  })
  known.set(rules, kept)
  return kept
}

/** The wallets that these rules were made for or lent from. */
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
  context: AccessContext,
): Rule | undefined =>
  wanted.actions.some((action) => judge(rules, action, wanted.resource, now, context).verdict !== "allow")
    ? undefined
    : rules.find((one) => one.effect === "allow" && isLive(one, now) && coversRule(one, wanted))

const coversRule = (
  one: Rule,
  wanted: { readonly resource: string; readonly actions: ReadonlyArray<Action> },
): boolean => covers(one.resource, wanted.resource) && wanted.actions.every((action) => includes(one.actions, action))

/** What everybody has of themselves is nobody else's to give or to lack. */
const isOfSelf = ({ resource }: Rule): boolean => resource.startsWith("self/")

/** Whether two patterns may name the same resource. Says yes when in doubt. */
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
 * Whether some rules reach further than others: one of them allows what none of these covers, or these refuse, or ask
 * about, something that those do not. Says yes when in doubt.
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
