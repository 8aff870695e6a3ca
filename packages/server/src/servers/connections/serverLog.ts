/** The last log lines of a server and the events of its connection: kept in memory, and sent live as deltas. */
import type { MCPServerLine } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { Deltas } from "../../store/journal/signals/Deltas.ts"

const maxLines = 200
const longestLine = 2000

/** Live lines per second: of a server that logs more, not all are shown live. */
const maxInASecond = 50

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
      if (this.#kept.length > maxLines) this.#kept = this.#kept.slice(-maxLines)
      const second = Math.floor(DateTime.toEpochMillis(at) / 1000)
      if (second !== this.#second) [this.#second, this.#told] = [second, 0]
      if (this.#told++ >= maxInASecond) return Effect.void
      // Without space and principal: only those who see everything see it.
      const body = { server: this.#server, level, text }
      return this.#deltas.emit({ kind: "server.log", at, space: null, actor: null, body })
    })
  }
}

/** A server's log entry as one line: text as it is, anything else as JSON. */
export const logLineOf = (data: unknown): string => (typeof data === "string" ? data : (JSON.stringify(data) ?? ""))
