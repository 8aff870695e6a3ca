/**
 * Whose turn it is to begin a request. Only a few milliseconds' work of a principal is under way at a time, and a little more of
 * one that is alone, so that whoever comes is soon served. While several ask, each may begin only so many in one turn of the
 * event loop, and the rest wait in a queue of their own: somebody who sends a thousand waits behind itself, and whoever sends
 * one waits behind a turn. The longer turns take, the fewer of each begin in one.
 * Whoever has held the loop for much of the last second rests after each request that holds it long.
 * Large bodies hold the loop while they are read: those of one principal begin one by one, with a rest between them.
 * A refusal of somebody over its limit is held back for a while, so that asking again at once costs the sender time.
 */
// edge: turns are those of the event loop, and rests are real.
import { performance } from "node:perf_hooks"

/** One principal's that wait; more are refused. */
export const mostWaiting = 1024
/** A principal that has been alone for so long need not take turns. */
const aloneMs = 250
const quickMs = 1
const slowMs = 4
const leastInTurn = 1
/** A principal that has held the loop for so much of a second has had its share. */
const shareMs = 250
const secondMs = 1000
const longestRestMs = 250
const mostAccounts = 256
const mostInTurn = 64
/** How much work of one principal is under way, in milliseconds of the loop; more waits. */
const workUnderWay = 8
/** The same of one that is alone: nobody waits for it yet, and what is written together costs less than one by one. */
const workAlone = 24
const fewestUnderWay = 2
const mostUnderWay = 256
/** A request that takes longer waits for something itself: it leaves the loop alone, and no longer counts. */
const underWayMs = 10
/** What a request costs the loop is told by the last ones: each counts for so much of it. */
const newest = 1 / 16

/** A body of this size is large, and holds the loop for about a millisecond. */
const largeBytes = 16 * 1024
/** So many times as long as one holds the loop, others have it. A large one holds it again when it is stored and indexed. */
const restTimes = 10
/** Of a rest, so much may the loop be busy; otherwise there is another one, but no more than this. */
const busyShare = 0.5
const mostRests = 10

/** How long a refusal is held back: as long as the shortest `Retry-After`. */
const holdMs = 1000
/** Refusals of one principal that are held back; more are answered at once. */
const mostHeld = 1024

export interface QueueClock {
  readonly now: () => number
  /** For how many milliseconds the loop has worked, and not waited. */
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

/** Called once by a request that has ended. */
export type Leave = () => void
export const nothingToLeave: Leave = () => {}

interface Waiting {
  readonly go: (leave: Leave) => void
  readonly bytes: number
}

/** What a principal has had of the loop in this second, and until when it rests. */
interface Account {
  second: number
  used: number
  restsUntil: number
}

export class FairQueue {
  readonly #clock: QueueClock
  readonly #waiting = new Map<string, Array<Waiting>>()
  /** Those with large bodies, apart: a principal's small requests do not wait for them. */
  readonly #large = new Map<string, Array<Waiting>>()
  /** How many of each have begun in this turn. */
  readonly #begun = new Map<string, number>()
  /** When each that is under way began, the oldest first. */
  readonly #underWay = new Map<string, Set<{ readonly since: number }>>()
  /** What the loop had done when the last request ended, and what one costs it. */
  #done = 0
  #cost = workUnderWay / 16
  readonly #held = new Map<string, number>()
  readonly #accounts = new Map<string, Account>()
  /** Whose request holds the loop, and since when. */
  #holder: { readonly who: string; readonly since: number } | undefined
  /** A timer wakes those that rest. */
  #asleep = false
  #share = 4
  #last = ""
  /** When somebody else than before asked last. */
  #mixedAt = -Infinity
  #turnBegan: number | undefined

  constructor(clock: QueueClock = eventLoop) {
    this.#clock = clock
  }

  /** It begins now, and says when it has ended; undefined: it is to `wait`. */
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

  /** Told when its turn has come; what it returns is called by who no longer wants it. Undefined: too many wait already. */
  wait(who: string, bytes: number, go: (leave: Leave) => void): Leave | undefined {
    const waiting = (bytes >= largeBytes ? this.#large : this.#waiting).get(who)
    return (waiting?.length ?? 0) >= mostWaiting ? undefined : this.#queue(who, { go, bytes })
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
      // The queue of large ones stays while its rest lasts: it is what says so.
      if (!large && queue.length === 0 && queues.get(who) === queue) queues.delete(who)
    }
  }

  /**
   * Told when a refusal may be sent; undefined: at once. What it returns is called once by who no longer waits. Those that were
   * held back together come in turns, like requests.
   */
  hold(who: string, go: () => void): Leave | undefined {
    const held = this.#held.get(who) ?? 0
    if (held >= mostHeld) return undefined
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

  /** An empty queue is the rest of one that has begun. */
  #beginLarge(who: string, bytes: number): Leave {
    this.#large.set(who, [])
    this.#restLarge(who, bytes)
    return nothingToLeave
  }

  /** What a large one costs is not known beforehand: while the loop is busy with it, and with others, the next one waits on. */
  #restLarge(who: string, bytes: number, rested = 1): void {
    const [since, done] = [this.#clock.now(), this.#clock.busy()]
    this.#clock.after((bytes / largeBytes) * restTimes, () => {
      const now = this.#clock.now()
      const isBusy = this.#clock.busy() - done > (now - since) * busyShare
      const othersAsk = this.#last !== who || this.#mixedAt >= since
      if (isBusy && othersAsk && rested < mostRests) this.#restLarge(who, bytes, rested + 1)
      else this.#nextLarge(who)
    })
  }

  #nextLarge(who: string): void {
    const next = this.#large.get(who)!.shift()
    if (next === undefined) return void this.#large.delete(who)
    this.#restLarge(who, next.bytes)
    next.go(nothingToLeave)
  }

  /** Nobody else has asked for a while, and nobody else waits. */
  #isAlone(now: number): boolean {
    if (now - this.#mixedAt <= aloneMs) return false
    return this.#waiting.size === 0 || (this.#waiting.size === 1 && this.#waiting.has(this.#last))
  }

  #enter(who: string, now: number): Leave {
    const one = { since: now }
    // What was done while nobody was under way was done for others.
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

  /** From when a request began until the next begins or the turn ends, the loop was its own: nothing else runs between. */
  #charge(now: number): void {
    if (this.#holder === undefined) return
    const { since, who } = this.#holder
    this.#holder = undefined
    const took = now - since
    if (took < quickMs) return
    const second = Math.floor(now / secondMs)
    const account = this.#accounts.get(who) ?? { second, used: 0, restsUntil: -Infinity }
    // Half of what was used in the second before still counts.
    if (account.second !== second) account.used = account.second === second - 1 ? account.used / 2 : 0
    account.second = second
    account.used += took
    if (account.used > shareMs && took > slowMs) account.restsUntil = now + Math.min(longestRestMs, took * restTimes)
    this.#accounts.set(who, account)
  }

  /** How many more of a principal's may be under way. */
  #room(who: string, now: number): number {
    const work = this.#isAlone(now) ? workAlone : workUnderWay
    const most = Math.min(mostUnderWay, Math.max(fewestUnderWay, Math.round(work / this.#cost)))
    const places = this.#underWay.get(who)
    if (places === undefined) return most
    for (const one of places) {
      if (one.since + underWayMs > now) break
      places.delete(one)
    }
    if (places.size === 0) this.#underWay.delete(who)
    return most - places.size
  }

  /** When the next of a principal's may begin, if none of those under way ends before. */
  #mayBeginAt(who: string, now: number): number {
    const rested = this.#accounts.get(who)?.restsUntil ?? -Infinity
    if (this.#room(who, now) > 0) return rested
    const [oldest] = this.#underWay.get(who)!
    return Math.max(rested, oldest!.since + underWayMs)
  }

  /** The turn is over: how long it took says how many begin in the next. */
  #close(): void {
    const now = this.#clock.now()
    this.#charge(now)
    const took = now - this.#turnBegan!
    this.#begun.clear()
    this.#turnBegan = undefined
    if (took < quickMs) this.#share = Math.min(this.#share * 2, mostInTurn)
    else if (took > slowMs) this.#share = Math.max(leastInTurn, this.#share >> 1)
    this.#serve(now)
    // Nobody is remembered for longer than its share counts.
    if (this.#accounts.size > mostAccounts) this.#forget(now)
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

  /** Nobody who waits may begin yet: the first that may is woken, and no turn of the loop is spent on asking. */
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
