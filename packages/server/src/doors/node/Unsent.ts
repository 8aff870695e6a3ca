/**
 * What has been answered and not yet taken by its reader: a client that asks without reading must not fill the memory of
 * the house. A connection is not read further until its answer has been (`Turns`), a principal with much unsent on all its
 * connections gets no further answers (`Unsent`).
 */
// edge: looks at node's responses and sockets.
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * The requests of one connection, one after the other: those that were sent in advance begin when the answer before them
 * has been read, and until then nothing more is read from the connection.
 */
export class Turns {
  readonly #socket: Socket
  readonly #waiting: Array<() => void> = []
  #answering: ServerResponse | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  get isIdle(): boolean {
    return this.#answering === undefined
  }

  take(response: ServerResponse, begin: () => void): void {
    if (this.#answering === undefined) return this.#begin(response, begin)
    this.#waiting.push(() => this.#begin(response, begin))
    this.#socket.pause()
  }

  #begin(response: ServerResponse, begin: () => void): void {
    this.#answering = response
    response.once("close", () => {
      this.#answering = undefined
      if (this.#socket.destroyed) return void this.#waiting.splice(0)
      this.#waiting.shift()?.()
      if (this.#waiting.length === 0 && this.#socket.isPaused()) this.#socket.resume()
    })
    begin()
  }
}

/** With this much unsent, a principal gets no further answers. */
const maxUnsentOf = 16 * 1024 * 1024
export const unsentLimit = `${maxUnsentOf / 1024 / 1024} MiB of answers that were not read`

/** The answers that each principal has not read. */
export class Unsent {
  readonly #open = new Map<string, Set<ServerResponse>>()

  isFull(who: string): boolean {
    const open = this.#open.get(who)
    if (open === undefined) return false
    let unsent = 0
    for (const one of open) unsent += one.writableLength
    return unsent >= maxUnsentOf
  }

  /** Counts an answer until it has been sent. */
  add(who: string, response: ServerResponse): void {
    if (response.closed || response.req.socket.destroyed) return
    const open = this.#open.get(who) ?? new Set()
    this.#open.set(who, open.add(response))
    response.once("close", () => {
      open.delete(response)
      if (open.size === 0 && this.#open.get(who) === open) this.#open.delete(who)
    })
  }
}
