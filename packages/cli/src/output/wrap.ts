/** Sentences at a terminal: broken between words, never cut. Elsewhere they stay on one line. Pure. */
import type { Terminal } from "./table.ts"

/** A narrower text is useless. */
const readable = 24

/** A word longer than a line stays whole: an address or an id is copied from here. */
export const wrapped = (text: string, wanted: number): ReadonlyArray<string> => {
  const width = Math.max(readable, wanted)
  const lines: Array<string> = []
  let line: string | undefined
  for (const word of text.match(/\s*\S+/g) ?? []) {
    if (line === undefined) line = word
    else if (line.length + word.length <= width) line += word
    else {
      lines.push(line)
      line = word.trimStart()
    }
  }
  return [...lines, line ?? ""]
}

/** What something is called, and what is said of it: at a terminal the sentence goes on below its own beginning. */
export const besideNames = (
  rows: ReadonlyArray<readonly [name: string, sentence: string]>,
  terminal?: Terminal,
): ReadonlyArray<string> => {
  const names = Math.max(0, ...rows.map(([name]) => name.length)) + 2
  return rows.flatMap(([name, sentence]) => {
    const head = name.padEnd(names)
    if (terminal === undefined) return [`${head}${sentence}`.trimEnd()]
    const indent = terminal.width - names < readable ? 2 : names
    const [first = "", ...rest] = wrapped(sentence, terminal.width - names)
    return [`${head}${first}`.trimEnd(), ...rest.map((line) => " ".repeat(indent) + line)]
  })
}

/** What others wrote stands behind this bar, however often its lines are broken. */
const bar = /^ *\| /

/**
 * Every character of it, in pieces of a width. Outside ASCII a character may take two columns: were a piece wider than
 * the terminal, the rest of it would stand before the bar.
 */
const pieces = (text: string, wanted: number): ReadonlyArray<string> => {
  const width = Math.max(readable, wanted)
  const found: Array<string> = []
  let [piece, columns] = ["", 0]
  for (const sign of text) {
    const wide = sign.codePointAt(0)! > 0x7f ? 2 : 1
    if (columns + wide > width) {
      found.push(piece)
      piece = ""
      columns = 0
    }
    piece += sign
    columns += wide
  }
  return [...found, piece]
}

/** At least as many columns as it takes. */
const columnsOf = (text: string): number =>
  Math.max(
    text.length,
    Array.from(text, (sign) => (sign > "\u007F" ? 2 : 1)).reduce<number>((sum, one) => sum + one, 0),
  )

/** The lines of a text at a terminal: a line goes on below its own beginning. */
export const fittedLines = (text: string, width: number | undefined): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => {
    const head = bar.exec(line)?.[0]
    if (width === undefined || (head === undefined ? line.length : columnsOf(line)) <= width) return [line]
    if (head !== undefined) return pieces(line.slice(head.length), width - head.length).map((one) => head + one)
    const indent = " ".repeat(line.search(/\S|$/) + 2)
    const [first = "", ...rest] = wrapped(line, width)
    return [first, ...wrapped(rest.join(" "), width - indent.length).map((one) => indent + one)].filter(
      (one) => one.trim() !== "",
    )
  })
