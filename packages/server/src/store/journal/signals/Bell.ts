/** Rings when something was committed. It is only a hint: listeners read the rows. */
import type { Event } from "@stoa/contract"
import { Deferred, Effect } from "effect"

/** For listeners that have heard `heard` rings: no event up to cursor `to` concerns them. */
interface Quiet {
  readonly heard: number
  readonly to: number
}

export class Bell {
  #rung = 0
  #waiting: Array<Deferred.Deferred<void>> = []
  readonly #onWait: () => void
  /** Which of the events it is rung for matter; undefined: all. */
  readonly concerns: ((event: Event) => boolean) | undefined
  /** The state since the last ring and the one before it: a listener woken by that ring asks a moment later. */
  #quiet: readonly [Quiet | undefined, Quiet | undefined] = [undefined, undefined]

  /** `onWait` is called whenever somebody begins to wait. */
  constructor(onWait: () => void = () => {}, concerns?: (event: Event) => boolean) {
    this.#onWait = onWait
    this.concerns = concerns
  }

  /** Instead of a ring: no event up to this cursor concerned this bell. */
  pass(to: number): void {
    const [now, before] = this.#quiet
    this.#quiet = [{ heard: this.#rung, to }, now?.heard === this.#rung ? before : now]
  }

  /** The cursor up to which a listener that has read everything and heard this many rings can skip. */
  quietAfter(heard: number): number {
    return this.#quiet.find((quiet) => quiet?.heard === heard)?.to ?? 0
  }

  get rung(): number {
    return this.#rung
  }

  ring(): void {
    this.#rung++
    const waiting = this.#waiting
    this.#waiting = []
    // Not inside the run of the fiber that rings: it would have to wait for a thousand listeners.
    queueMicrotask(() => waiting.forEach((one) => Deferred.doneUnsafe(one, Effect.void)))
  }

  /** Returns at once if it has rung since `heard`: a ring between reading and waiting is not lost. */
  waitPast(heard: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#rung > heard) return Effect.void
      const one = Deferred.makeUnsafe<void>()
      this.#waiting.push(one)
      this.#onWait()
      return Effect.onInterrupt(Deferred.await(one), () =>
        Effect.sync(() => {
          this.#waiting = this.#waiting.filter((other) => other !== one)
        }),
      )
    })
  }
}
