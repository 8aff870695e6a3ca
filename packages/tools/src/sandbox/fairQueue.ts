/**
 * Decides who runs next when there are more calls than places. One caller never gets all of them (if there are two or
 * more), and callers take turns: a caller with many calls delays another by one of its own at most.
 */
import { Deferred, Effect } from "effect"

export class FairQueue {
  readonly #size: number
  readonly #queue: number
  readonly #running = new Map<string, number>()
  /** The first entry has the next turn. */
  readonly #waiting = new Map<string, Array<Deferred.Deferred<void>>>()
  #free: number
  #all = 0

  constructor(size: number, queue: number) {
    this.#size = size
    this.#queue = queue
    this.#free = size
  }

  /** How many places one caller may have; if the caller is unknown, all of them. */
  #most(by: string): number {
    return by === "" ? this.#size : Math.max(1, this.#size - 1)
  }
  /** How many calls of one caller may wait. */
  #maxWaiting(by: string): number {
    return by === "" ? this.#queue : Math.max(1, Math.ceil(this.#queue / 4))
  }

  /** Why one more call of this caller may not even wait; undefined if it may. */
  full(by: string): string | undefined {
    const mine = this.#waiting.get(by)?.length ?? 0
    if (this.#canStart(by)) return undefined
    if (mine >= this.#maxWaiting(by) && by !== "")
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
          // If its turn came at the same moment, its place is passed on.
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
      // Next time others come first.
      if (line.length > 0) {
        this.#waiting.delete(next)
        this.#waiting.set(next, line)
      }
      this.#start(next)
      Deferred.doneUnsafe(turn, Effect.void)
    }
  }
}
