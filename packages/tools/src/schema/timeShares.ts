/** How much of a thread's time each asker may use: a burst, and then a part of every second. Monotonic time. */

export interface TimeShareOptions {
  readonly burstMillis: number
  /** Of one asker, per second. */
  readonly part: number
}

/** An asker whose debt is paid off is forgotten. */
const maxKnown = 1000

export class TimeShares {
  /** When each asker's debt is paid off. */
  readonly #freeAt = new Map<string, number>()
  readonly #options: TimeShareOptions
  constructor(options: TimeShareOptions) {
    this.#options = options
  }

  /** Milliseconds until this asker may start something more. */
  wait(who: string, now: number): number {
    return Math.max(0, (this.#freeAt.get(who) ?? 0) - now - this.#options.burstMillis / this.#options.part)
  }

  charge(who: string, millis: number, now: number): void {
    if (this.#freeAt.size > maxKnown) for (const [one, at] of this.#freeAt) if (at <= now) this.#freeAt.delete(one)
    this.#freeAt.set(who, Math.max(now, this.#freeAt.get(who) ?? 0) + millis / this.#options.part)
  }
}
