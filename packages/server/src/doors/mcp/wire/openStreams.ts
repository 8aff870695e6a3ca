/**
 * Streams that stay open without a call: a new client's `subscriptions/listen`, an old one's GET. Each is bound to the
 * token it was opened with, and closed when that token ends.
 */
import type { Caller } from "@stoa/contract"

/** More than any client needs; a loop that opens streams must not use up the sockets of the house. */
const maxStreamsOf = 100

export interface OpenStream {
  readonly caller: Caller["Service"] | null
  readonly beat: () => void
  readonly end: () => void
}

export class OpenStreams {
  readonly #open = new Map<OpenStream, () => void>()
  readonly #watch: (caller: Caller["Service"], end: () => void) => () => void

  /** `watch` calls back when a caller's token has ended. */
  constructor(watch: (caller: Caller["Service"], end: () => void) => () => void) {
    this.#watch = watch
  }

  get size(): number {
    return this.#open.size
  }
  isFull(owner: string): boolean {
    let count = 0
    for (const it of this.#open.keys()) if ((it.caller?.principal.id ?? "") === owner) count++
    return count >= maxStreamsOf
  }
  add(stream: OpenStream): void {
    const { caller } = stream
    this.#open.set(stream, caller === null ? () => {} : this.#watch(caller, () => this.#finish(stream)))
  }
  remove(stream: OpenStream): void {
    this.#open.get(stream)?.()
    this.#open.delete(stream)
  }
  /** Sends a heartbeat on each. */
  beat(): void {
    for (const it of this.#open.keys()) it.beat()
  }
  endAll(): void {
    for (const it of this.#open.keys()) this.#finish(it)
  }
  #finish(stream: OpenStream): void {
    this.remove(stream)
    stream.end()
  }
}
