/**
 * Reading past events, in turns. A page blocks others for a moment, so pages are small, the pages of one principal come
 * one after the other, and there is a pause after each: however much somebody reads, others get most of the time.
 * Nothing is buffered while a reader is slow.
 */
// edge: the rest is real time, and reads are measured by a monotonic clock.
import { Effect, Semaphore } from "effect"

/** Events a page: a few milliseconds of work. */
export const pastPage = 100
/** Times as long as the page took. */
const rests = 3
const longestRest = 100
/** How long a reader of the past may take for what it was sent. */
export const patience = "30 seconds"

interface Line {
  readonly turn: Semaphore.Semaphore
  waiting: number
}

const rest = (milliseconds: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => setImmediate(() => resume(Effect.void)), milliseconds)
    return Effect.sync(() => clearTimeout(timer))
  })

export class Past {
  readonly #lines = new Map<string, Line>()

  /** How many principals read the past now. */
  get readers(): number {
    return this.#lines.size
  }

  /** Reads one page when it is this principal's turn. */
  page<A, E, R>(principal: string, read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const line = this.#lines.get(principal) ?? { turn: Semaphore.makeUnsafe(1), waiting: 0 }
      this.#lines.set(principal, line)
      line.waiting++
      const timed = Effect.suspend(() => {
        const since = performance.now()
        return Effect.tap(read, () => rest(Math.min(longestRest, rests * (performance.now() - since))))
      })
      return Effect.ensuring(
        line.turn.withPermit(timed),
        Effect.sync(() => {
          if (--line.waiting === 0) this.#lines.delete(principal)
        }),
      )
    })
  }
}
