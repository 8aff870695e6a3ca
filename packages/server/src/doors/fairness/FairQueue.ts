/**
 * Decides whose request begins next. Only a few milliseconds' work of a principal is under way at a time (a little more
 * if it is alone), so that others are served soon. While several principals ask, each may begin only so many requests
 * per turn of the event loop, and the rest wait in a queue per principal; the longer turns take, the fewer begin.
 * A principal that has held the loop for much of the last second rests after each long request. Large bodies hold the
 * loop while they are read: those of one principal begin one by one, with a rest in between. The refusal of a principal
 * over its limit is delayed, so that asking again at once costs the sender time.
 */
// edge: turns are those of the event loop, and rests are real.
import { performance } from "node:perf_hooks"

/** Waiting requests per principal; more are refused. */
export const maxWaiting = 1024
/** A principal that has been alone for this long need not take turns. */
const aloneMs = 250
const quickMs = 1
const slowMs = 4
const leastInTurn = 1
/** A principal that has held the loop for this much of a second has used its share. */
const shareMs = 250
const secondMs = 1000
const longestRestMs = 250
const maxAccounts = 256
const maxInTurn = 64
/** How much work of one principal may be under way, in milliseconds of the loop; more waits. */
const workUnderWay = 8
/** The same for a principal that is alone: nobody else waits, and batched writes cost less than single ones. */
const workAlone = 24
const fewestUnderWay = 2
const maxUnderWay = 256
/** A request that takes longer is waiting for something itself: it does not use the loop, and no longer counts. */
const underWayMs = 10
/** The cost of a request is a moving average; this is the weight of the newest. */
const newest = 1 / 16

/** A body of this size is large, and holds the loop for about a millisecond. */
const largeBytes = 16 * 1024
/**
 * After a request has held the loop, others get it for this many times as long. A large one holds it again when it is
 * stored and indexed.
 */
const restTimes = 10
/** If the loop was busy for more than this share of a rest, the rest is repeated, up to this many times. */
const busyShare = 0.5
const maxRests = 10

/** How long a refusal is delayed: as long as the shortest `Retry-After`. */
const holdMs = 1000
/** Delayed refusals per principal; more are answered at once. */
const maxHeld = 1024

export interface QueueClock {
  readonly now: () => number
  /** For how many milliseconds the loop has worked, not waited. */
  readonly busy: () => number
  readonly afterTurn: (then: () => void) => void
  readonly after: (milliseconds: number, then: () => void) => void
}

const eventLoop: QueueClock = {
  now: () => performance.now(),
  busy: () => performance.eventLoopUtilization().active,
  afterTurn: (then) => void setImmediate(then),
  after: (milliseconds, then) => void setTimeout(then, milliseconds).unref(),
}

/** Called once, when a request has ended. */
export type Leave = () => void
export const nothingToLeave: Leave = () => {}

interface Waiting {
  readonly go: (leave: Leave) => void
  readonly bytes: number
}

/** What a principal has used of the loop in this second, and until when it rests. */
interface Account {
  second: number
  used: number
  restsUntil: number
}

export class FairQueue {
  readonly #clock: QueueClock
  readonly #waiting = new Map<string, Array<Waiting>>()
  /** Requests with large bodies, separate: a principal's small requests do not wait for them. */
  readonly #large = new Map<string, Array<Waiting>>()
  /** How many of each principal have begun in this turn. */
  readonly #begun = new Map<string, number>()
  /** When each request under way began, the oldest first. */
  readonly #underWay = new Map<string, Set<{ readonly since: number }>>()
  /** The busy time of the loop when the last request ended, and the average cost of one. */
  #done = 0
  #cost = workUnderWay / 16
  readonly #held = new Map<string, number>()
  readonly #accounts = new Map<string, Account>()
  /** Whose request holds the loop, and since when. */
  #holder: { readonly who: string; readonly since: number } | undefined
  /** Whether a timer is set that wakes resting principals. */
  #asleep = false
  #share = 4
  #last = ""
  /** When a request last came from another principal than the one before. */
  #mixedAt = -Infinity
  #turnBegan: number | undefined

  constructor(clock: QueueClock = eventLoop) {
    this.#clock = clock
  }

  /** Begins now and returns the function that ends it; undefined: it has to `wait`. */
  begin(who: string, bytes = 0): Leave | undefined {
    const now = this.#clock.now()
    this.#charge(now)
    if (who !== this.#last) {
      this.#last = who
      this.#mixedAt = now
    }
    const large = bytes >= largeBytes
    const waiting = large ? this.#large : this.#waiting
    if (waiting.has(who)) return undefined
    const alone = this.#isAlone(now)
    if (large) return alone ? nothingToLeave : this.#beginLarge(who, bytes)
    if (alone) return this.#room(who, now) > 0 ? this.#enter(who, now) : undefined
    const begun = this.#begun.get(who) ?? 0
    if (begun >= this.#share || this.#mayBeginAt(who, now) > now) return undefined
    this.#begun.set(who, begun + 1)
    this.#holder = { who, since: now }
    this.#open(now)
    return this.#enter(who, now)
  }

  /** Calls `go` when its turn has come; call the returned function to give up. Undefined: too many wait already. */
  wait(who: string, bytes: number, go: (leave: Leave) => void): Leave | undefined {
    const waiting = (bytes >= largeBytes ? this.#large : this.#waiting).get(who)
    return (waiting?.length ?? 0) >= maxWaiting ? undefined : this.#queue(who, { go, bytes })
  }

  #queue(who: string, one: Waiting): Leave {
    const large = one.bytes >= largeBytes
    const queues = large ? this.#large : this.#waiting
    const queue = queues.get(who) ?? []
    queue.push(one)
    queues.set(who, queue)
    if (!large) this.#open(this.#clock.now())
    return () => {
      const at = queue.indexOf(one)
      if (at < 0) return
      queue.splice(at, 1)
      // The queue of large requests stays during its rest, because its existence marks the rest.
      if (!large && queue.length === 0 && queues.get(who) === queue) queues.delete(who)
    }
  }

  /**
   * Calls `go` when a refusal may be sent; undefined: send it at once. Call the returned function once to give up.
   * Refusals that were delayed together are released in turns, like requests.
   */
  hold(who: string, go: () => void): Leave | undefined {
    const held = this.#held.get(who) ?? 0
    if (held >= maxHeld) return undefined
    this.#held.set(who, held + 1)
    let there = true
    const leave = () => {
      if (!there) return
      there = false
      const left = this.#held.get(who)! - 1
      if (left === 0) this.#held.delete(who)
      else this.#held.set(who, left)
    }
    this.#clock.after(holdMs, () => {
      if (!there) return
      const answer = (done: Leave) => {
        done()
        const wanted = there
        leave()
        if (wanted) go()
      }
      this.#queue(who, { go: answer, bytes: 0 })
    })
    return leave
  }

  /** An empty queue marks the rest after a request that has begun. */
  #beginLarge(who: string, bytes: number): Leave {
    this.#large.set(who, [])
    this.#restLarge(who, bytes)
    return nothingToLeave
  }

  /**
   * The cost of a large request is not known beforehand: while the loop is busy with it, and with others, the next one
   * keeps waiting.
   */
  #restLarge(who: string, bytes: number, rested = 1): void {
    const [since, done] = [this.#clock.now(), this.#clock.busy()]
    this.#clock.after((bytes / largeBytes) * restTimes, () => {
      const now = this.#clock.now()
      const isBusy = this.#clock.busy() - done > (now - since) * busyShare
      const othersAsk = this.#last !== who || this.#mixedAt >= since
      if (isBusy && othersAsk && rested < maxRests) this.#restLarge(who, bytes, rested + 1)
      else this.#nextLarge(who)
    })
  }

  #nextLarge(who: string): void {
    const next = this.#large.get(who)!.shift()
    if (next === undefined) return void this.#large.delete(who)
    this.#restLarge(who, next.bytes)
    next.go(nothingToLeave)
  }

  /** No other principal has asked for a while, and none waits. */
  #isAlone(now: number): boolean {
    if (now - this.#mixedAt <= aloneMs) return false
    return this.#waiting.size === 0 || (this.#waiting.size === 1 && this.#waiting.has(this.#last))
  }

  #enter(who: string, now: number): Leave {
    const one = { since: now }
    // Work done while nothing was under way does not belong to a request.
    if (this.#underWay.size === 0) this.#done = this.#clock.busy()
    const places = this.#underWay.get(who) ?? new Set()
    this.#underWay.set(who, places.add(one))
    return () => {
      this.#measure()
      if (!places.delete(one)) return
      if (places.size === 0 && this.#underWay.get(who) === places) this.#underWay.delete(who)
      if (this.#waiting.has(who)) this.#open(this.#clock.now())
    }
  }

  #measure(): void {
    const done = this.#clock.busy()
    this.#cost += (done - this.#done - this.#cost) * newest
    this.#done = done
  }

  #open(now: number): void {
    if (this.#turnBegan !== undefined) return
    this.#turnBegan = now
    this.#clock.afterTurn(() => this.#close())
  }

  /**
   * From the start of a request until the next start or the end of the turn, the loop belonged to that request: nothing
   * else runs in between.
   */
  #charge(now: number): void {
    if (this.#holder === undefined) return
    const { since, who } = this.#holder
    this.#holder = undefined
    const took = now - since
    if (took < quickMs) return
    const second = Math.floor(now / secondMs)
    const account = this.#accounts.get(who) ?? { second, used: 0, restsUntil: -Infinity }
    // Half of the previous second's use still counts.
    if (account.second !== second) account.used = account.second === second - 1 ? account.used / 2 : 0
    account.second = second
    account.used += took
    if (account.used > shareMs && took > slowMs) account.restsUntil = now + Math.min(longestRestMs, took * restTimes)
    this.#accounts.set(who, account)
  }

  /** How many more requests of a principal may be under way. */
  #room(who: string, now: number): number {
    const work = this.#isAlone(now) ? workAlone : workUnderWay
    const most = Math.min(maxUnderWay, Math.max(fewestUnderWay, Math.round(work / this.#cost)))
    const places = this.#underWay.get(who)
    if (places === undefined) return most
    for (const one of places) {
      if (one.since + underWayMs > now) break
      places.delete(one)
    }
    if (places.size === 0) this.#underWay.delete(who)
    return most - places.size
  }

  /** When the next request of a principal may begin, if none of those under way ends before. */
  #mayBeginAt(who: string, now: number): number {
    const rested = this.#accounts.get(who)?.restsUntil ?? -Infinity
    if (this.#room(who, now) > 0) return rested
    const [oldest] = this.#underWay.get(who)!
    return Math.max(rested, oldest!.since + underWayMs)
  }

  /** The turn is over: its duration decides how many begin in the next. */
  #close(): void {
    const now = this.#clock.now()
    this.#charge(now)
    const took = now - this.#turnBegan!
    this.#begun.clear()
    this.#turnBegan = undefined
    if (took < quickMs) this.#share = Math.min(this.#share * 2, maxInTurn)
    else if (took > slowMs) this.#share = Math.max(leastInTurn, this.#share >> 1)
    this.#serve(now)
    // Accounts are removed when their share no longer counts.
    if (this.#accounts.size > maxAccounts) this.#forget(now)
  }

  #serve(now: number): void {
    if (this.#waiting.size === 0) return
    const ready = [...this.#waiting].filter(([who]) => this.#mayBeginAt(who, now) <= now)
    if (ready.length === 0) return this.#sleep(now)
    this.#open(now)
    for (const [who, queue] of ready) {
      const some = queue.splice(0, Math.min(this.#isAlone(now) ? Infinity : this.#share, this.#room(who, now)))
      if (queue.length === 0) this.#waiting.delete(who)
      this.#begun.set(who, some.length)
      for (const { go } of some) {
        this.#holder = { who, since: this.#clock.now() }
        go(this.#enter(who, this.#holder.since))
        this.#charge(this.#clock.now())
      }
    }
  }

  /** Nobody who waits may begin yet: set a timer for the first that may, instead of polling in every turn. */
  #sleep(now: number): void {
    if (this.#asleep) return
    this.#asleep = true
    const first = Math.min(...[...this.#waiting.keys()].map((who) => this.#mayBeginAt(who, now)))
    this.#clock.after(Math.max(1, first - now), () => {
      this.#asleep = false
      if (this.#waiting.size > 0) this.#open(this.#clock.now())
    })
  }

  #forget(now: number): void {
    const second = Math.floor(now / secondMs)
    for (const [who, account] of this.#accounts)
      if (account.second < second - 1 && account.restsUntil <= now) this.#accounts.delete(who)
  }
}
