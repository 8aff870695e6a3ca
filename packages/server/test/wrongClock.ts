/** A clock whose wall time can be set back or ahead, while what counts durations goes on as it should. */
import { Clock, Effect, Layer } from "effect"

export interface WrongClock {
  readonly layer: Layer.Layer<never>
  /** So many milliseconds from now on; 0 is right again. */
  readonly setOff: (millis: number) => void
}

export const wrongClock = (): WrongClock => {
  let off = 0
  const layer = Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (real): Clock.Clock => {
      const currentTimeMillisUnsafe = () => real.currentTimeMillisUnsafe() + off
      const currentTimeNanosUnsafe = () => real.currentTimeNanosUnsafe() + BigInt(off) * 1_000_000n
      return {
        currentTimeMillisUnsafe,
        currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
        currentTimeNanosUnsafe,
        currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
        monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: real.monotonicTimeNanos,
        sleep: (duration) => real.sleep(duration),
      }
    }),
  )
  return { layer, setOff: (millis) => void (off = millis) }
}

const hours = 3_600_000
export const ahead = (n: number): number => n * hours
export const back = (n: number): number => -n * hours
