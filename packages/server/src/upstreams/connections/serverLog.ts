/** What a server said last, and what became of its connection: the last of it, in memory, and live as deltas. */
import type { MCPServerLine } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { Deltas } from "../../store/journal/Deltas.ts"

const mostLines = 200
const longestLine = 2000

/** Lines are worth one look each: a server that says more in a second is not shown all of it live. */
const mostInASecond = 50

export class ServerLog {
  #kept: Array<MCPServerLine> = []
  #second = 0
  #told = 0
  readonly #server: string
  readonly #deltas: Deltas["Service"]

  constructor(server: string, deltas: Deltas["Service"]) {
    this.#server = server
    this.#deltas = deltas
  }

  get all(): ReadonlyArray<MCPServerLine> {
    return this.#kept
  }

  add(level: string, said: string): Effect.Effect<void> {
    return Effect.flatMap(DateTime.now, (at) => {
      const text = said.length > longestLine ? `${said.slice(0, longestLine)} …` : said
      this.#kept.push({ at, level, text })
      if (this.#kept.length > mostLines) this.#kept = this.#kept.slice(-mostLines)
      const second = Math.floor(DateTime.toEpochMillis(at) / 1000)
      if (second !== this.#second) [this.#second, this.#told] = [second, 0]
      if (this.#told++ >= mostInASecond) return Effect.void
      // Of no space and no principal: those see it who see everything.
      const body = { server: this.#server, level, text }
      return this.#deltas.emit({ kind: "server.log", at, space: null, actor: null, body })
    })
  }
}

/** What a server logs, as one line: words as they are, anything else as JSON. */
export const logLineOf = (data: unknown): string => (typeof data === "string" ? data : (JSON.stringify(data) ?? ""))
