/**
 * Runs work that may be long one at a time per principal, and pauses between requests that were made at once. So others
 * get most of the time, however much one principal requests. Requests made one after the other are not delayed.
 */
// edge: the rest is real time, and work is measured by a monotonic clock.
import { Effect, Semaphore } from "effect"

/** The pause is this many times as long as the work. */
const rests = 3

export interface PacingOptions {
  /** Milliseconds. Shorter work needs no pause. */
  readonly least: number
  readonly longest: number
  /** Pauses even if the same principal has nothing else waiting. */
  readonly always?: boolean
}

interface PacedQueue {
  readonly turn: Semaphore.Semaphore
  waiting: number
  freeAt: number
}

const rest = (milliseconds: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => setImmediate(() => resume(Effect.void)), milliseconds)
    return Effect.sync(() => clearTimeout(timer))
  })

export class Pacing {
  readonly #lines = new Map<string, PacedQueue>()
  readonly #options: PacingOptions

  constructor(options: PacingOptions) {
    this.#options = options
  }

  /** How many principals have work running or waiting. */
  get principals(): number {
    return this.#lines.size
  }

  run<A, E, R>(principal: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const { always = false, least, longest } = this.#options
    return Effect.suspend(() => {
      const line = this.#lines.get(principal) ?? { turn: Semaphore.makeUnsafe(1), waiting: 0, freeAt: -Infinity }
      this.#lines.set(principal, line)
      line.waiting++
      const timed = Effect.suspend(() => {
        const left = line.freeAt - performance.now()
        const measured = Effect.suspend(() => {
          const since = performance.now()
          return Effect.onExit(work, () =>
            Effect.sync(() => {
              const took = performance.now() - since
              if (took >= least && (always || line.waiting > 1))
                line.freeAt = performance.now() + Math.min(longest, rests * took)
            }),
          )
        })
        return left > 0 ? Effect.andThen(rest(left), measured) : measured
      })
      return Effect.ensuring(
        line.turn.withPermit(timed),
        Effect.sync(() => {
          if (--line.waiting > 0) return
          const left = line.freeAt - performance.now()
          // Kept until its pause ends, because it stores the end of the pause.
          const forget = () =>
            line.waiting === 0 && this.#lines.get(principal) === line && this.#lines.delete(principal)
          if (left > 0) setTimeout(forget, left).unref()
          else forget()
        }),
      )
    })
  }
}
