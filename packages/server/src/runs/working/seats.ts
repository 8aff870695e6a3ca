/** The runs that this house works on: which they are, how many of each mailbox, and whether there is room for one more. */
import type { RunId } from "@stoa/contract"
import type { Fiber } from "effect"

interface Seat {
  readonly mailbox: string
  /** Who works on it; nobody yet, while its claim is being written. */
  fiber: Fiber.Fiber<unknown> | undefined
}

export class Seats {
  readonly #seats = new Map<RunId, Seat>()
  readonly #busy = new Map<string, number>()
  readonly #slots: number

  constructor(slots: number) {
    this.#slots = slots
  }

  get size(): number {
    return this.#seats.size
  }

  has(run: RunId): boolean {
    return this.#seats.has(run)
  }

  /** Whether one more of this mailbox may be worked on, which takes so many at once. */
  hasRoom(mailbox: string, width: number): boolean {
    return this.size < this.#slots && (this.#busy.get(mailbox) ?? 0) < width
  }

  take(run: RunId, mailbox: string): void {
    if (this.#seats.has(run)) return
    this.#seats.set(run, { mailbox, fiber: undefined })
    this.#busy.set(mailbox, (this.#busy.get(mailbox) ?? 0) + 1)
  }

  seat(run: RunId, fiber: Fiber.Fiber<unknown>): void {
    const seat = this.#seats.get(run)
    if (seat !== undefined) seat.fiber = fiber
  }

  leave(run: RunId): void {
    const seat = this.#seats.get(run)
    if (seat === undefined) return
    this.#seats.delete(run)
    const left = this.#busy.get(seat.mailbox)! - 1
    if (left === 0) this.#busy.delete(seat.mailbox)
    else this.#busy.set(seat.mailbox, left)
  }

  fiberOf(run: RunId): Fiber.Fiber<unknown> | undefined {
    return this.#seats.get(run)?.fiber
  }

  get fibers(): ReadonlyArray<Fiber.Fiber<unknown>> {
    return [...this.#seats.values()].flatMap(({ fiber }) => fiber ?? [])
  }
}
