/** The runs that this house works on, how many of each mailbox, and whether there is room for one more. */
import type { RunId } from "@stoa/contract"
import type { Fiber } from "effect"

interface TakenSlot {
  readonly mailbox: string
  /** The fiber that works on it; undefined while its claim is being written. */
  fiber: Fiber.Fiber<unknown> | undefined
}

export class Slots {
  readonly #taken = new Map<RunId, TakenSlot>()
  readonly #busy = new Map<string, number>()
  readonly #most: number

  constructor(slots: number) {
    this.#most = slots
  }

  get size(): number {
    return this.#taken.size
  }

  has(run: RunId): boolean {
    return this.#taken.has(run)
  }

  /** Whether one more of this mailbox, with this width, may be worked on. */
  hasRoom(mailbox: string, width: number): boolean {
    return this.size < this.#most && (this.#busy.get(mailbox) ?? 0) < width
  }

  take(run: RunId, mailbox: string): void {
    if (this.#taken.has(run)) return
    this.#taken.set(run, { mailbox, fiber: undefined })
    this.#busy.set(mailbox, (this.#busy.get(mailbox) ?? 0) + 1)
  }

  setFiber(run: RunId, fiber: Fiber.Fiber<unknown>): void {
    const slot = this.#taken.get(run)
    if (slot !== undefined) slot.fiber = fiber
  }

  leave(run: RunId): void {
    const slot = this.#taken.get(run)
    if (slot === undefined) return
    this.#taken.delete(run)
    const left = this.#busy.get(slot.mailbox)! - 1
    if (left === 0) this.#busy.delete(slot.mailbox)
    else this.#busy.set(slot.mailbox, left)
  }

  fiberOf(run: RunId): Fiber.Fiber<unknown> | undefined {
    return this.#taken.get(run)?.fiber
  }

  get fibers(): ReadonlyArray<Fiber.Fiber<unknown>> {
    return [...this.#taken.values()].flatMap(({ fiber }) => fiber ?? [])
  }
}
