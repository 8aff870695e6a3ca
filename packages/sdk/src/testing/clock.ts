/** A clock that runs as usual and can be moved forward: anything that sleeps until a time now past wakes at once. */
// edge: timers of the process, which this clock stands on.
import { Clock, Duration, Effect } from "effect"

export interface MovableClock extends Clock.Clock {
  readonly advance: (by: Duration.Input) => void
}

/** Longer delays overflow Node's timers. */
const longestMs = 2_147_483_647

export const movableClock = (): MovableClock => {
  let aheadMs = 0
  const sleepers = new Set<() => void>()
  const now = () => Date.now() + aheadMs
  const monotonic = () => BigInt(Math.round((performance.now() + aheadMs) * 1_000_000))
  const nanos = () => BigInt(now()) * 1_000_000n

  const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const until = performance.now() + aheadMs + Duration.toMillis(duration)
      let timer: ReturnType<typeof setTimeout> | undefined
      const end = () => {
        clearTimeout(timer)
        sleepers.delete(look)
      }
      const look = () => {
        clearTimeout(timer)
        const left = until - performance.now() - aheadMs
        if (left > 0) return void (timer = setTimeout(look, Math.min(left, longestMs)))
        end()
        resume(Effect.void)
      }
      sleepers.add(look)
      look()
      return Effect.sync(end)
    })

  return {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep,
    advance: (by) => {
      const ms = Duration.toMillis(Duration.fromInputUnsafe(by))
      if (!(ms >= 0 && Number.isFinite(ms))) throw new RangeError("A clock moves ahead by a finite time.")
      aheadMs += ms
      for (const look of sleepers) look()
    },
  }
}
