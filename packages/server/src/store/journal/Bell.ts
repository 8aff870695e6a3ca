/** Rings when something was committed. It is only a hint: whoever hears it reads the rows. */
import { Deferred, Effect } from "effect"

export class Bell {
  #rung = 0
  #waiting: Array<Deferred.Deferred<void>> = []
  readonly #onWait: () => void

  /** `onWait` is told whenever somebody begins to wait. */
  constructor(onWait: () => void = () => {}) {
    this.#onWait = onWait
  }

  get rung(): number {
    return this.#rung
  }

  ring(): void {
    this.#rung++
    const waiting = this.#waiting
    this.#waiting = []
    // Not inside the run of the fiber that rings: it would wait for what a thousand hearers do first.
    queueMicrotask(() => waiting.forEach((one) => Deferred.doneUnsafe(one, Effect.void)))
  }

  /** Returns at once if it rang since `heard`: a ring between reading and waiting is not lost. */
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
