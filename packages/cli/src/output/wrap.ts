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

/** Every character of it, in pieces of a width. */
const pieces = (text: string, width: number): ReadonlyArray<string> =>
  text.match(new RegExp(`.{1,${Math.max(readable, width)}}`, "gsu")) ?? [""]

/** The lines of a text at a terminal: a line goes on below its own beginning. */
export const fittedLines = (text: string, width: number | undefined): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => {
    if (width === undefined || line.length <= width) return [line]
    const head = bar.exec(line)?.[0]
    if (head !== undefined) return pieces(line.slice(head.length), width - head.length).map((one) => head + one)
    const indent = " ".repeat(line.search(/\S|$/) + 2)
    const [first = "", ...rest] = wrapped(line, width)
    return [first, ...wrapped(rest.join(" "), width - indent.length).map((one) => indent + one)].filter(
      (one) => one.trim() !== "",
    )
  })
