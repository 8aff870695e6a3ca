/**
 * Whose turn it is to begin a request. While one principal alone asks, everything begins at once. While several do, each may
 * begin only so many in one turn of the event loop, and the rest wait in a queue of their own: somebody who sends a thousand
 * waits behind itself, and whoever sends one waits behind a turn. The longer turns take, the fewer of one principal begin in
 * each; one whose requests are slow pauses between them as long as they took.
 */
// edge: turns are those of the event loop, and pauses are real.

/** One principal's that wait; more are refused. */
export const mostWaiting = 256
/** A principal that has been alone for so long is not held up. */
const aloneMs = 250
const quickMs = 1
const slowMs = 4
const mostInTurn = 64

export interface TurnsClock {
  readonly now: () => number
  readonly afterTurn: (then: () => void) => void
  readonly after: (milliseconds: number, then: () => void) => void
}

const eventLoop: TurnsClock = {
  now: () => performance.now(),
  afterTurn: (then) => void setImmediate(then),
  after: (milliseconds, then) => void setTimeout(then, milliseconds).unref(),
}

export class Turns {
  readonly #clock: TurnsClock
  readonly #waiting = new Map<string, Array<() => void>>()
  /** How many of each have begun in this turn. */
  readonly #begun = new Map<string, number>()
  #share = 4
  #last = ""
  /** When somebody else than before asked last. */
  #mixedAt = -Infinity
  #turnBegan: number | undefined

  constructor(clock: TurnsClock = eventLoop) {
    this.#clock = clock
  }

  /** True: it begins now. Otherwise it is to `wait`. */
  begin(who: string): boolean {
    const now = this.#clock.now()
    if (who !== this.#last) {
      this.#last = who
      this.#mixedAt = now
    }
    const waiting = this.#waiting.get(who)
    if (waiting === undefined && now - this.#mixedAt > aloneMs) return true
    const begun = this.#begun.get(who) ?? 0
    if (waiting !== undefined || begun >= this.#share) return false
    this.#begun.set(who, begun + 1)
    this.#open(now)
    return true
  }

  /** Told when its turn has come; what it returns is called by who no longer wants it. Undefined: too many wait already. */
  wait(who: string, go: () => void): (() => void) | undefined {
    const waiting = this.#waiting.get(who) ?? []
    if (waiting.length >= mostWaiting) return undefined
    waiting.push(go)
    this.#waiting.set(who, waiting)
    this.#open(this.#clock.now())
    return () => {
      const at = waiting.indexOf(go)
      if (at < 0) return
      waiting.splice(at, 1)
      if (waiting.length === 0 && this.#waiting.get(who) === waiting) this.#waiting.delete(who)
    }
  }

  #open(now: number): void {
    if (this.#turnBegan !== undefined) return
    this.#turnBegan = now
    this.#clock.afterTurn(() => this.#close())
  }

  /** The turn is over: how long it took says how many begin in the next. */
  #close(): void {
    const took = this.#clock.now() - this.#turnBegan!
    this.#begun.clear()
    this.#share =
      took < quickMs ? Math.min(this.#share * 2, mostInTurn) : took > slowMs ? 1 : Math.max(1, this.#share >> 1)
    if (this.#waiting.size === 0) {
      this.#turnBegan = undefined
      return
    }
    if (took > slowMs) this.#clock.after(took, () => this.#next())
    else this.#next()
  }

  #next(): void {
    this.#turnBegan = this.#clock.now()
    this.#clock.afterTurn(() => this.#close())
    for (const [who, waiting] of this.#waiting) {
      const some = waiting.splice(0, this.#share)
      if (waiting.length === 0) this.#waiting.delete(who)
      this.#begun.set(who, some.length)
      for (const go of some) go()
    }
  }
}
