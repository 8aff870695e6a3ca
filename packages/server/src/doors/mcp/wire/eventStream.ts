/**
 * A stream of an old-era session that outlives its connection: events have ids, the last of them are kept, and a client
 * that comes back with `Last-Event-ID` gets what it missed of that stream.
 */
// edge: writes node responses.
import type { ServerResponse } from "node:http"

/** How many events are kept for a client that comes back. One that missed more must ask again. */
const maxKept = 256
const maxKeptSize = 1024 * 1024
/** A client with this much unsent data is disconnected; it can resume. */
const maxUnsent = 4 * 1024 * 1024

export class EventStream {
  readonly id: string
  #next = 0
  readonly #kept: Array<{ readonly n: number; readonly frame: string }> = []
  #size = 0
  #out: ServerResponse | undefined
  #ended = false

  constructor(id: string) {
    this.id = id
  }

  get ended(): boolean {
    return this.#ended
  }
  /** Whether a client reads it now. */
  get read(): boolean {
    return this.#out !== undefined
  }

  /** From now on the stream is written to this response; the previous one is closed. */
  attach(response: ServerResponse): void {
    this.#out?.end()
    this.#out = response
    response.on("close", () => {
      if (this.#out === response) this.#out = undefined
    })
  }

  /** An empty event: only a position to resume from. */
  prime(retryMs?: number): void {
    this.#keep((n) => `id: ${this.id}_${n}\n${retryMs === undefined ? "" : `retry: ${retryMs}\n`}data: \n\n`)
  }
  write(text: string): void {
    this.#keep((n) => `id: ${this.id}_${n}\nevent: message\ndata: ${text}\n\n`)
  }
  beat(): void {
    this.#out?.write(":\n\n")
  }
  /** Asks the client to come back later; the stream continues. */
  letGo(): void {
    this.#out?.end()
    this.#out = undefined
  }
  end(): void {
    this.#ended = true
    this.letGo()
  }

  /** The events after this number; undefined if they are no longer kept. */
  after(last: number): ReadonlyArray<string> | undefined {
    const first = this.#kept[0]?.n ?? this.#next
    if (last >= this.#next || last + 1 < first) return undefined
    return this.#kept.filter((it) => it.n > last).map((it) => it.frame)
  }

  #keep(frameOf: (n: number) => string): void {
    const n = this.#next++
    const frame = frameOf(n)
    this.#kept.push({ n, frame })
    this.#size += frame.length
    // The last event is kept, however large: it may be the result.
    while (this.#kept.length > maxKept || (this.#size > maxKeptSize && this.#kept.length > 1))
      this.#size -= this.#kept.shift()!.frame.length
    if (this.#out === undefined) return
    this.#out.write(frame)
    if (this.#out.writableLength > maxUnsent) this.#out.destroy()
  }
}
