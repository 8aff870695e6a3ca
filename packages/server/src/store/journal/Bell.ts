/** Rings when something was committed. It is only a hint: whoever hears it reads the rows. */
import type { Event } from "@stoa/contract"
import { Deferred, Effect } from "effect"

/** How far nothing has concerned whoever heard so many rings. */
interface Quiet {
  readonly heard: number
  readonly to: number
}

export class Bell {
  #rung = 0
  #waiting: Array<Deferred.Deferred<void>> = []
  readonly #onWait: () => void
  /** Of the events it is rung for, those that matter; all, if nothing is said. */
  readonly concerns: ((event: Event) => boolean) | undefined
  /** Since the last ring, and before it: whoever was woken by that ring asks a moment later. */
  #quiet: readonly [Quiet | undefined, Quiet | undefined] = [undefined, undefined]

  /** `onWait` is told whenever somebody begins to wait. */
  constructor(onWait: () => void = () => {}, concerns?: (event: Event) => boolean) {
    this.#onWait = onWait
    this.concerns = concerns
  }

  /** Instead of a ring: nothing up to this cursor concerned it. */
  pass(to: number): void {
    const [now, before] = this.#quiet
    this.#quiet = [{ heard: this.#rung, to }, now?.heard === this.#rung ? before : now]
  }

  /** How far whoever has read everything, and heard so many rings, need not read. */
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
