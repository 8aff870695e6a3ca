/** How one kind of program is started for a turn, and how its output is read. Pure: nothing here starts anything. */
import type { AgentThinker } from "@stoa/contract"

export type ProgramThinker = Extract<AgentThinker, { readonly kind: "program" }>

/** The input of a turn. */
export interface Turn {
  readonly thinker: ProgramThinker
  /** Its mail. */
  readonly text: string
  /** The agent's instructions. */
  readonly system: string
  /** Its own session from earlier turns, if it has one. */
  readonly session: string | null
  /** Our MCP server, as this turn reaches it. */
  readonly server: MCPEntry
  /** The house answers what the program would ask a person at a terminal, through the tool `permit_use`. */
  readonly permits: boolean
  /** A folder for this turn, removed at its end. */
  readonly folder: string
}

/** An entry of an `mcpServers` file: an address, or a program that forwards the messages there. */
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
  /** Files for this turn, by their paths in its folder, or in the workspace if the program looks only there. */
  readonly files: ReadonlyArray<{ readonly in: "turn" | "workspace"; readonly path: string; readonly text: string }>
}

/** The result of a turn. */
export interface TurnResult {
  readonly text: string
  readonly session?: string
  readonly usage?: { readonly in: number; readonly out: number; readonly cached: number }
  readonly costMicros?: number
  /** The program itself reports that it failed. */
  readonly error?: string
}

export interface Reading {
  /** Takes a chunk of output, and returns the part of it to show at once. */
  readonly take: (chunk: string) => string
  readonly end: () => TurnResult
}

export interface Provider {
  /** Whether it uses its vendor's model over the network. */
  readonly network: boolean
  readonly line: (turn: Turn) => CommandLine
  readonly read: () => Reading
}

/** Puts the system prompt before the first message of a session, for programs that have no other place for it. */
export const withSystem = ({ session, system, text }: Turn): string =>
  session === null ? `${system}\n\n---\n\n${text}` : text

/** A longer line cannot come from a working program. */
const maxLine = 1024 * 1024

/** Reads lines of JSON and skips other output. Each chunk is scanned once. */
export const linesOf = (hear: (line: Readonly<Record<string, unknown>>) => string, end: () => TurnResult): Reading => {
  let pieces: Array<string> = []
  let size = 0
  let isLong = false
  const keep = (piece: string): void => {
    size += piece.length
    isLong ||= size > maxLine
    if (size > maxLine) pieces = []
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
/** More than any turn uses: higher numbers that a program reports are capped. */
const maxTokens = 1_000_000_000
const maxDollars = 10_000

/** A count of tokens. */
export const numberOf = (value: unknown): number =>
  Number.isSafeInteger(value) ? Math.min(Math.max(0, value as number), maxTokens) : 0
/** Dollars to millionths of a dollar. */
export const microsOf = (value: unknown): number =>
  typeof value === "number" && value > 0 ? Math.round(Math.min(value, maxDollars) * 1e6) : 0

/** A session id goes on a command line: it must not look like an option. */
const sessionPattern = /^[A-Za-z0-9][\w.:-]{0,127}$/
export const sessionOf = (given: string | null | undefined): string | null =>
  given != null && sessionPattern.test(given) ? given : null
