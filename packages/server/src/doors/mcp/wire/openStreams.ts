/**
 * Streams that stay open without a call: a new client's `subscriptions/listen`, an old one's GET. Each is bound to the
 * token it was opened with: when that ends, so does the stream.
 */
import type { Caller, TokenId } from "@stoa/contract"
import { DateTime } from "effect"

/** More than any client needs; a loop that opens streams must not take the house's sockets. */
const mostStreamsOf = 100

export interface OpenStream {
  readonly caller: Caller["Service"] | null
  readonly beat: () => void
  readonly end: () => void
}

export class OpenStreams {
  readonly #open = new Set<OpenStream>()

  get size(): number {
    return this.#open.size
  }
  isFull(owner: string): boolean {
    let count = 0
    for (const it of this.#open) if ((it.caller?.principal.id ?? "") === owner) count++
    return count >= mostStreamsOf
  }
  add(stream: OpenStream): void {
    this.#open.add(stream)
  }
  remove(stream: OpenStream): void {
    this.#open.delete(stream)
  }
  get tokens(): ReadonlySet<TokenId> {
    return new Set([...this.#open].flatMap((it) => it.caller?.token ?? []))
  }
  /** Ends the streams whose token is dead or past its time. */
  endDead(dead: ReadonlySet<string>, now: number): void {
    for (const it of this.#open) {
      const { expiresAt = null, token = null } = it.caller ?? {}
      const over = expiresAt !== null && DateTime.toEpochMillis(expiresAt) <= now
      if (over || (token !== null && dead.has(token))) this.#finish(it)
    }
  }
  /** A sign of life on each. */
  beat(): void {
    for (const it of this.#open) it.beat()
  }
  endAll(): void {
    for (const it of this.#open) this.#finish(it)
  }
  #finish(stream: OpenStream): void {
    this.#open.delete(stream)
    stream.end()
  }
}
