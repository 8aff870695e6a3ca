/** A request's time: it does not run while a question is open. */
// edge: a timer of the platform for each request; a fiber that sleeps would cost more than the request
import { Effect } from "effect"
import type { MCPFault } from "../client/faults.ts"
import { MCPNoAnswer } from "../client/exchange/MCPExchange.ts"

const tickMs = 1000

export class RequestTime {
  readonly #quietMs: number
  readonly #maxMs: number
  #open = 0
  #quiet = 0
  #spent = 0
  #last = 0
  #timer: NodeJS.Timeout | undefined
  #stop: (() => void) | undefined
  /** Set when the time is up. */
  fault: MCPFault | undefined

  constructor(quietMs: number, maxMs: number) {
    this.#quietMs = quietMs
    this.#maxMs = maxMs
  }

  /** Starts the time, until `end`; calls `stop` when the time is up. */
  begin(stop: () => void): void {
    this.#stop = stop
    if (this.#timer !== undefined) return
    this.#last = performance.now()
    this.#timer = setInterval(() => this.#tick(), Math.min(tickMs, this.#quietMs))
  }
  end(): void {
    clearInterval(this.#timer)
  }

  alive(): void {
    this.#quiet = 0
  }
  asking<A, E>(answer: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.acquireUseRelease(
      Effect.sync(() => void this.#open++),
      () => answer,
      () =>
        Effect.sync(() => {
          this.#open--
          this.#quiet = 0
        }),
    )
  }

  #tick(): void {
    const now = performance.now()
    if (this.#open === 0) {
      this.#quiet += now - this.#last
      this.#spent += now - this.#last
    }
    this.#last = now
    if (this.#quiet < this.#quietMs && this.#spent < this.#maxMs) return
    this.end()
    const limit = this.#quiet >= this.#quietMs ? this.#quietMs : this.#maxMs
    this.fault = { kind: "timeout", message: `no answer within ${limit} ms`, cause: new MCPNoAnswer(limit) }
    this.#stop?.()
  }
}
