/** The events of a house, from its beginning, for tests that wait for the next one. */
import type { FeedEvent } from "../stream/feed.ts"
import type { Stoa } from "../Stoa.ts"

type Fits = (event: FeedEvent) => boolean

export class Events {
  readonly #unread: Array<FeedEvent> = []
  readonly #waiting: Array<{
    readonly fits: Fits
    readonly give: (event: FeedEvent) => void
    fail: (cause: unknown) => void
  }> = []
  readonly #stop = new AbortController()
  #ended: unknown

  constructor(client: Stoa) {
    this.#read(client).catch((cause: unknown) => this.#close(cause))
  }

  async #read(client: Stoa): Promise<void> {
    for await (const item of client.feed({ after: 0, signal: this.#stop.signal })) {
      if (item.type !== "event") continue
      const at = this.#waiting.findIndex(({ fits }) => fits(item.event))
      if (at === -1) this.#unread.push(item.event)
      else this.#waiting.splice(at, 1)[0]?.give(item.event)
    }
    this.#close(new Error("The house was stopped."))
  }

  #close(cause: unknown): void {
    this.#ended = cause
    for (const { fail } of this.#waiting.splice(0)) fail(cause)
  }

  /** The oldest matching event that was not returned before, or the next one. */
  next(kind: string, fits: Fits = () => true): Promise<FeedEvent> {
    const wanted: Fits = (event) => event.kind === kind && fits(event)
    const at = this.#unread.findIndex(wanted)
    if (at !== -1) return Promise.resolve(this.#unread.splice(at, 1)[0]!)
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    return new Promise((give, fail) => void this.#waiting.push({ fits: wanted, give, fail }))
  }

  end(): void {
    this.#stop.abort()
  }
}
