/** How one kind of program is started for a turn, and how what it prints is read. Pure: nothing here starts anything. */
import type { AgentThinker } from "@stoa/contract"

export type ProgramThinker = Extract<AgentThinker, { readonly kind: "program" }>

/** What a turn is made of. */
export interface Turn {
  readonly thinker: ProgramThinker
  /** Its mail. */
  readonly text: string
  /** What it is told of itself. */
  readonly system: string
  /** Its own session of earlier turns, where it keeps one. */
  readonly session: string | null
  /** Our MCP server, as this turn reaches it. */
  readonly server: MCPEntry
  /** The house answers what the program would ask a person at a terminal: it has the tool `permit_use`. */
  readonly permits: boolean
  /** A folder of this turn: what is put there is gone with it. */
  readonly folder: string
}

/** An entry of an `mcpServers` file: by address, or a program that carries the messages there. */
export type MCPEntry =
  | { readonly type: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly command: string
      readonly args: ReadonlyArray<string>
      readonly env: Readonly<Record<string, string>>
    }

interface CommandLine {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  /** Files of this turn, by their paths in its folder, or in the workspace where the program looks nowhere else. */
  readonly files: ReadonlyArray<{ readonly in: "turn" | "workspace"; readonly path: string; readonly text: string }>
}

/** What a turn came to. */
export interface TurnResult {
  readonly text: string
  readonly session?: string
  readonly usage?: { readonly in: number; readonly out: number; readonly cached: number }
  readonly costMicros?: number
  /** It says itself that it failed. */
  readonly error?: string
}

export interface Reading {
  /** Takes what it printed; gives what of it is to be shown at once. */
  readonly take: (chunk: string) => string
  readonly end: () => TurnResult
}

export interface Provider {
  /** It works with a model of its vendor's, over the network. */
  readonly network: boolean
  readonly line: (turn: Turn) => CommandLine
  readonly read: () => Reading
}

/** The system prompt stands before the first message of a session, where a program takes it nowhere else. */
export const withSystem = ({ session, system, text }: Turn): string =>
  session === null ? `${system}\n\n---\n\n${text}` : text

/** Beyond this a line is none of a program that works. */
const mostLine = 1024 * 1024

/** Reads lines of JSON; what is none is left out, as a program's own chatter is. Each chunk is looked through once. */
export const linesOf = (hear: (line: Readonly<Record<string, unknown>>) => string, end: () => TurnResult): Reading => {
  let pieces: Array<string> = []
  let size = 0
  let isLong = false
  const keep = (piece: string): void => {
    size += piece.length
    isLong ||= size > mostLine
    if (size > mostLine) pieces = []
    else pieces.push(piece)
  }
  const one = (): string => {
    const line = pieces.join("").trim()
    pieces = []
    size = 0
    if (!line.startsWith("{")) return ""
    try {
      return hear(JSON.parse(line) as Readonly<Record<string, unknown>>)
    } catch {
      return ""
    }
  }
  return {
    take: (chunk) => {
      let [shown, from] = ["", 0]
      for (let at = chunk.indexOf("\n"); at >= 0; at = chunk.indexOf("\n", from)) {
        keep(chunk.slice(from, at))
        shown += one()
        from = at + 1
      }
      keep(chunk.slice(from))
      return shown
    },
    end: () => {
      one()
      return isLong ? { ...end(), error: "it printed a line of more than 1 MiB" } : end()
    },
  }
}

export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")
/** More than any turn has: what a program says of itself is not believed beyond it. */
const mostTokens = 1_000_000_000
const mostDollars = 10_000

/** A count of tokens. */
export const numberOf = (value: unknown): number =>
  Number.isSafeInteger(value) ? Math.min(Math.max(0, value as number), mostTokens) : 0
/** A sum of dollars, as millionths. */
export const microsOf = (value: unknown): number =>
  typeof value === "number" && value > 0 ? Math.round(Math.min(value, mostDollars) * 1e6) : 0

/** A session is named on a command line: nothing that could be an option, or more than a name. */
const sessionPattern = /^[A-Za-z0-9][\w.:-]{0,127}$/
export const sessionOf = (given: string | null | undefined): string | null =>
  given != null && sessionPattern.test(given) ? given : null
