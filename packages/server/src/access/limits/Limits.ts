/**
 * How often (G-10), and how many at once. Counted in memory on purpose: a limit protects a running process, and losing
 * the counters at a restart does no harm. Processes of a cluster exchange their counts (`SharedLimits.ts`), except how
 * many run at once, which each counts alone.
 */
import { type Caller, type Issue, Limit, TooManyRequests } from "@stoa/contract"
import { Clock, Context, Effect, Layer } from "effect"
import { monotonicOf } from "../../store/Moment.ts"
import { networkOf } from "./network.ts"
import { SharedLimits } from "./SharedLimits.ts"
import { concerns, fits } from "../rights/policy.ts"
import { canMatch, probablyMeant } from "../rights/Resources.ts"
import { Rules } from "../rights/Rules.ts"

/** A bucket that drains evenly, stored as the time at which it will be empty (GCRA). */
export const fill = (
  emptyAt: number,
  limit: Limit,
  now: number,
  amount = 1,
): { readonly emptyAt: number; readonly wait: number } => {
  const window = limit.seconds * 1000
  const next = Math.max(emptyAt, now) + (amount * window) / limit.count
  return next - now > window ? { emptyAt, wait: next - now - window } : { emptyAt: next, wait: 0 }
}

const day = 86_400

/** Never unlimited: generous for a person or an agent at work, tight for a runaway loop. */
export const defaultLimits: ReadonlyArray<Limit> = [
  new Limit({ principal: "*", resource: "http", count: 12_000, seconds: 60 }),
  new Limit({ principal: "*", resource: "tools/*", count: 600, seconds: 60 }),
  // A long conversation is stored and searched in one go.
  new Limit({ principal: "*", resource: "calls/memory", count: 6000, seconds: 60 }),
  // Refused calls that are recorded individually; further ones are only counted.
  new Limit({ principal: "*", resource: "calls/refused", count: 120, seconds: 60 }),
  // What one principal says in one conversation: slows down two agents that answer each other forever.
  new Limit({ principal: "*", resource: "spaces/*", count: 12_000, seconds: 60 }),
  // What is sent is what is stored: a gigabyte an hour.
  new Limit({ principal: "*", resource: "kilobytes", count: 1_048_576, seconds: 3600 }),
  // MiB in memory, with all versions and their index, of a principal and of an owner with all its agents (`Storage.ts`).
  new Limit({ principal: "*", resource: "stored", count: 1024, seconds: 0 }),
  new Limit({ principal: "*", resource: "stored", count: 4096, seconds: 0, per: "owner" }),
  // How many are open at a time; the seconds have no meaning here.
  new Limit({ principal: "*", resource: "questions/open", count: 100, seconds: 60 }),
  // Each is a row, and one too many ends another.
  new Limit({ principal: "*", resource: "sessions", count: 30, seconds: 60 }),
  // Whoever is at the beginning of a chain of agents: how often it wakes them, and what a day of that may cost. An agent
  // has a day of its own, which is larger, so that one who has spent theirs leaves something for others.
  new Limit({ principal: "*", resource: "wakes", count: 300, seconds: 60 }),
  new Limit({ principal: "*", resource: "spend/cents", count: 1000, seconds: day }),
  new Limit({ principal: "*", resource: "spend/tokens", count: 50_000_000, seconds: day }),
  new Limit({ principal: "*", resource: "spend/cents", count: 2000, seconds: day, per: "owner" }),
  new Limit({ principal: "*", resource: "spend/tokens", count: 100_000_000, seconds: day, per: "owner" }),
  new Limit({ principal: "*", resource: "imports", count: 6, seconds: 60 }),
  // How many at once: calls that a client stays connected for, and waits for messages.
  new Limit({ principal: "*", resource: "waits", count: 64, seconds: 0 }),
  new Limit({ principal: "*", resource: "waits/messages", count: 8, seconds: 0 }),
]

const defaults: ReadonlySet<Limit> = new Set(defaultLimits)

/** Guesses of tokens, counted per network, whichever principal is claimed and whichever address is used. */
const guesses = new Limit({ principal: "*", resource: "wrong tokens", count: 30, seconds: 60 })
/** Requests without a credential to what is open to everybody, counted per network. */
const strangers = new Limit({ principal: "*", resource: "requests without a token", count: 600, seconds: 60 })
/**
 * Results that the service of a tool has signed, counted per tool: as many as a principal may send requests, because it
 * answers for all who call the tool.
 */
const results = new Limit({ principal: "*", resource: "signed results", count: 12_000, seconds: 60 })

/**
 * What can be limited: `tools/` and `spaces/` stand before names, which may come later. What is counted with
 * `calls/memory` is limited by the names of its tools.
 */
const limitable = defaultLimits.map(({ resource }) => resource).filter((resource) => resource !== "calls/memory")

/** Limits that would never count anything, with what was probably meant. */
export const limitFaults = (limits: ReadonlyArray<Limit>): ReadonlyArray<Issue> =>
  limits.flatMap(({ resource, seconds }, place) => {
    if (resource.startsWith("spend/") && seconds !== day)
      return [
        { path: `limits.${place}.seconds`, message: `is ${day} for "${resource}": it is counted by the day, in UTC` },
      ]
    if (canMatch(resource, limitable)) return []
    const meant = probablyMeant(resource, limitable)
    const instead = meant === undefined ? `there are: ${limitable.join(", ")}` : `did you mean "${meant}"?`
    return [{ path: `limits.${place}.resource`, message: `nothing is counted as "${resource}"; ${instead}` }]
  })

/** The limit of a resource, if any, and its bucket. */
interface Counted {
  readonly limit: Limit | undefined
  readonly key: string
  /** The limit of its owner with all their agents, counted too. */
  readonly shared?: { readonly limit: Limit; readonly key: string }
}
const maxKept = 1000

/** Whose limits, and in which epoch. */
type Limited = Pick<Caller["Service"], "principal" | "epoch">

export class Limits extends Context.Service<
  Limits,
  {
    readonly list: Effect.Effect<ReadonlyArray<Limit>>
    /**
     * Counts when called, not when the effect runs, so that most answers need no fiber. `usual`: the resource whose
     * default applies if no rule of this house names this one.
     */
    readonly take: (
      who: Limited,
      resource: string,
      amount?: number,
      usual?: string,
    ) => Effect.Effect<void, TooManyRequests>
    /** How many of a thing a principal may have at a time: the `count` of the first matching limit. */
    readonly most: (who: Limited, resource: string) => Effect.Effect<number>
    /** Takes one of the principal's concurrent places. Call the returned function once to release it. */
    readonly hold: (who: Caller["Service"], resource: string) => Effect.Effect<() => void, TooManyRequests>
    /** Runs while holding such a place. */
    readonly within: <A, E, R>(
      who: Caller["Service"],
      resource: string,
      app: Effect.Effect<A, E, R>,
    ) => Effect.Effect<A, E | TooManyRequests, R>
    /** The limit of a resource, if there is one. */
    readonly of: (who: Limited, resource: string) => Effect.Effect<Limit | undefined>
    /** How much a principal may cause by the day: itself, or with all agents it owns. */
    readonly ofDay: (
      who: Limited,
      resource: "spend/cents" | "spend/tokens",
      per: "principal" | "owner",
    ) => Effect.Effect<number | undefined>
    readonly takeGuess: (address: string) => Effect.Effect<void, TooManyRequests>
    readonly takeStranger: (address: string) => Effect.Effect<void, TooManyRequests>
    readonly takeResult: (tool: string) => Effect.Effect<void, TooManyRequests>
  }
>()("server/access/limits/Limits") {
  static readonly layer = Layer.effect(
    Limits,
    Effect.gen(function* () {
      const rules = yield* Rules
      const clock = yield* Clock.Clock
      const buckets = new Map<string, number>()
      const shared = yield* SharedLimits
      shared.hear((key, millis) => {
        buckets.set(key, Math.max(buckets.get(key) ?? 0, monotonicOf(clock)) + millis)
      })
      let known: { readonly epoch: number; readonly limits: ReadonlyArray<Limit> } | undefined

      const list = Effect.map(rules.limits, (own) => [...own, ...defaultLimits])

      const limitsAt = (epoch: number) =>
        Effect.tap(list, (limits) => Effect.sync(() => void (known = { epoch, limits })))

      const refused = (limit: Limit, resource: string, wait: number) =>
        new TooManyRequests({
          resource,
          limit: limit.seconds === 0 ? `${limit.count} at once` : `${limit.count} in ${limit.seconds} s`,
          retryAfter: Math.max(1, Math.ceil(wait / 1000)),
        })

      const count = (
        key: string,
        limit: Limit,
        resource: string,
        amount?: number,
      ): Effect.Effect<void, TooManyRequests> => {
        const now = monotonicOf(clock)
        const { emptyAt, wait } = fill(buckets.get(key) ?? 0, limit, now, amount)
        if (wait > 0) return Effect.fail(refused(limit, resource, wait))
        // Empty buckets carry no information; they are dropped before there are many.
        if (buckets.size > 10_000) for (const [old, at] of buckets) if (at <= now) buckets.delete(old)
        shared.tell(key, emptyAt - Math.max(buckets.get(key) ?? 0, now))
        buckets.set(key, emptyAt)
        return Effect.void
      }

      // A caller is the same object while its token and rights are unchanged, so its buckets are cached by it.
      const found = new WeakMap<Limited, Map<string, Counted>>()
      const limitFor = (
        limits: ReadonlyArray<Limit>,
        { principal }: Limited,
        resource: string,
        atOnce: boolean,
        usual = resource,
        owned = false,
      ): Limit | undefined =>
        limits.find(
          (one) =>
            (one.seconds === 0) === atOnce &&
            (one.per === "owner") === owned &&
            concerns(one.principal, principal) &&
            fits(one.resource, defaults.has(one) ? usual : resource),
        )
      const findFor = (
        limits: ReadonlyArray<Limit>,
        who: Limited,
        resource: string,
        atOnce: boolean,
        usual = resource,
      ): Counted => {
        const { principal } = who
        const limit = limitFor(limits, who, resource, atOnce, usual)
        const ofOwner = limitFor(limits, who, resource, atOnce, usual, true)
        const counted: Counted = {
          limit,
          key: `${principal.id} ${resource}`,
          ...(ofOwner === undefined
            ? {}
            : { shared: { limit: ofOwner, key: `owner ${principal.owner ?? principal.id} ${resource}` } }),
        }
        const kept = found.get(who) ?? new Map<string, Counted>()
        if (kept.size < maxKept) found.set(who, kept.set(atOnce ? `${resource} at once` : resource, counted))
        return counted
      }
      const countOf = (
        limits: ReadonlyArray<Limit>,
        who: Limited,
        resource: string,
        amount?: number,
        usual?: string,
      ) => {
        const {
          key,
          limit,
          shared: theirs,
        } = found.get(who)?.get(resource) ?? findFor(limits, who, resource, false, usual)
        const own = () => (limit === undefined ? Effect.void : count(key, limit, resource, amount))
        if (theirs === undefined) return own()
        return Effect.flatMap(count(theirs.key, theirs.limit, `${resource}, with all agents of one owner`, amount), own)
      }

      const held = new Map<string, number>()
      const holdOf = (
        limits: ReadonlyArray<Limit>,
        who: Limited,
        resource: string,
      ): Effect.Effect<() => void, TooManyRequests> => {
        const { shared: theirs, ...own } =
          found.get(who)?.get(`${resource} at once`) ?? findFor(limits, who, resource, true)
        const places = theirs === undefined ? [own] : [own, theirs]
        for (const { key, limit } of places)
          if (limit !== undefined && (held.get(key) ?? 0) >= limit.count)
            return Effect.fail(refused(limit, resource, 0))
        for (const { key } of places) held.set(key, (held.get(key) ?? 0) + 1)
        let there = true
        return Effect.succeed(() => {
          if (!there) return
          there = false
          for (const { key } of places) {
            const left = held.get(key)! - 1
            if (left === 0) held.delete(key)
            else held.set(key, left)
          }
        })
      }

      const withLimits = <A, E>(who: Limited, go: (limits: ReadonlyArray<Limit>) => Effect.Effect<A, E>) =>
        known?.epoch === who.epoch ? go(known.limits) : Effect.flatMap(limitsAt(who.epoch), go)

      const takeOne: Limits["Service"]["take"] = (who, resource, amount, usual) =>
        withLimits(who, (limits) => countOf(limits, who, resource, amount, usual))
      const hold: Limits["Service"]["hold"] = (who, resource) =>
        withLimits(who, (limits) => holdOf(limits, who, resource))

      const within: Limits["Service"]["within"] = (who, resource, app) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(hold(who, resource), (leave) => Effect.ensuring(restore(app), Effect.sync(leave))),
        )

      return Limits.of({
        list,
        most: ({ epoch, principal }, resource) =>
          Effect.map(
            known?.epoch === epoch ? Effect.succeed(known.limits) : limitsAt(epoch),
            (limits) =>
              limits.find(
                (one) => one.per !== "owner" && concerns(one.principal, principal) && fits(one.resource, resource),
              )?.count ?? 0,
          ),
        takeGuess: (address) => Effect.suspend(() => count(`guess ${networkOf(address)}`, guesses, "wrong tokens")),
        takeStranger: (address) =>
          Effect.suspend(() => count(`stranger ${networkOf(address)}`, strangers, strangers.resource)),
        takeResult: (tool) => Effect.suspend(() => count(`result ${tool}`, results, results.resource)),
        take: takeOne,
        of: (who, resource) => withLimits(who, (all) => Effect.succeed(limitFor(all, who, resource, false))),
        ofDay: (who, resource, per) =>
          withLimits(who, (all) => {
            // A rule for everything is about how often, not about money.
            const some = all.filter((one) => one.seconds === day && one.resource.startsWith("spend/"))
            return Effect.succeed(limitFor(some, who, resource, false, resource, per === "owner")?.count)
          }),
        hold,
        within,
      })
    }),
  )
}
