/**
 * Who runs next, when more want to than there are places. One caller never has all of them (where there are two or more),
 * and those who wait come in turn: a caller with many keeps another waiting for one of its own at most.
 */
import { Deferred, Effect } from "effect"

export class Turns {
  readonly #size: number
  readonly #queue: number
  readonly #running = new Map<string, number>()
  /** Whose turn is next stands first. */
  readonly #waiting = new Map<string, Array<Deferred.Deferred<void>>>()
  #free: number
  #all = 0

  constructor(size: number, queue: number) {
    this.#size = size
    this.#queue = queue
    this.#free = size
  }

  /** Places one caller may have; where nobody says who calls, all of them. */
  #most(by: string): number {
    return by === "" ? this.#size : Math.max(1, this.#size - 1)
  }
  /** Calls one may have waiting. */
  #mostWaiting(by: string): number {
    return by === "" ? this.#queue : Math.max(1, Math.ceil(this.#queue / 4))
  }

  /** Why one more of this caller's is not even let wait; undefined when it is. */
  full(by: string): string | undefined {
    const mine = this.#waiting.get(by)?.length ?? 0
    if (this.#canStart(by)) return undefined
    if (mine >= this.#mostWaiting(by) && by !== "")
      return `${this.#running.get(by) ?? 0} of your calls run and ${mine} wait; call again when one is done`
    return this.#all >= this.#queue ? `${this.#size} calls run and ${this.#queue} wait` : undefined
  }

  within<A, E, R>(by: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(this.#enter(by)), () =>
        Effect.ensuring(
          restore(work),
          Effect.sync(() => this.#leave(by)),
        ),
      ),
    )
  }

  #canStart(by: string): boolean {
    return this.#free > 0 && (this.#running.get(by) ?? 0) < this.#most(by) && !this.#waiting.has(by)
  }

  #start(by: string): void {
    this.#free--
    this.#running.set(by, (this.#running.get(by) ?? 0) + 1)
  }

  #enter(by: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#canStart(by)) {
        this.#start(by)
        return Effect.void
      }
      const turn = Deferred.makeUnsafe<void>()
      const line = this.#waiting.get(by) ?? []
      line.push(turn)
      this.#waiting.set(by, line)
      this.#all++
      return Effect.onInterrupt(Deferred.await(turn), () =>
        Effect.sync(() => {
          // Its turn may have come at the same moment: then its place is given on.
          if (this.#drop(by, turn)) return
          this.#leave(by)
        }),
      )
    })
  }

  #drop(by: string, turn: Deferred.Deferred<void>): boolean {
    const line = this.#waiting.get(by)
    const at = line?.indexOf(turn) ?? -1
    if (at < 0) return false
    line!.splice(at, 1)
    if (line!.length === 0) this.#waiting.delete(by)
    this.#all--
    return true
  }

  #leave(by: string): void {
    this.#free++
    const left = this.#running.get(by)! - 1
    if (left === 0) this.#running.delete(by)
    else this.#running.set(by, left)
    for (const [next, line] of this.#waiting) {
      if (this.#free === 0) return
      if ((this.#running.get(next) ?? 0) >= this.#most(next)) continue
      const turn = line[0]!
      this.#drop(next, turn)
      // The next time others come first.
      if (line.length > 0) {
        this.#waiting.delete(next)
        this.#waiting.set(next, line)
      }
      this.#start(next)
      Deferred.doneUnsafe(turn, Effect.void)
    }
  }
}
