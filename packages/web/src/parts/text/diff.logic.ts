/** Two texts as removed, added and unchanged lines, with the differing words marked. */
import { diffLines, diffWordsWithSpace } from "diff"

interface Mark {
  readonly text: string
  readonly marked: boolean
}
export interface DiffLine {
  readonly kind: "same" | "del" | "ins"
  readonly parts: ReadonlyArray<Mark>
}

const linesIn = (text: string): ReadonlyArray<string> => text.replace(/\n$/, "").split("\n")
const plain = (kind: DiffLine["kind"], lines: ReadonlyArray<string>): ReadonlyArray<DiffLine> =>
  lines.map((line) => ({ kind, parts: [{ text: line, marked: false }] }))

const pair = (before: string, after: string): ReadonlyArray<DiffLine> => {
  const words = diffWordsWithSpace(before, after)
  const side = (kind: "del" | "ins"): DiffLine => ({
    kind,
    parts: words
      .filter(({ added, removed }) => (kind === "del" ? !added : !removed))
      .map(({ added, removed, value }) => ({ text: value, marked: added || removed })),
  })
  return [side("del"), side("ins")]
}

export const diffOf = (before: string, after: string): ReadonlyArray<DiffLine> => {
  const changes = diffLines(before, after)
  const lines: Array<DiffLine> = []
  for (let at = 0; at < changes.length; at++) {
    const { added, removed, value } = changes[at]!
    const next = changes[at + 1]
    if (removed && next?.added === true) {
      const [gone, came] = [linesIn(value), linesIn(next.value)]
      const both = Math.min(gone.length, came.length)
      for (let line = 0; line < both; line++) lines.push(...pair(gone[line]!, came[line]!))
      lines.push(...plain("del", gone.slice(both)), ...plain("ins", came.slice(both)))
      at++
    } else lines.push(...plain(added ? "ins" : removed ? "del" : "same", linesIn(value)))
  }
  return lines
}

export interface DiffRow {
  readonly left: DiffLine | undefined
  readonly right: DiffLine | undefined
}

/** The same lines in two columns: unchanged lines in both, added lines beside the removed ones. */
export const sideBySide = (lines: ReadonlyArray<DiffLine>): ReadonlyArray<DiffRow> => {
  const rows: Array<DiffRow> = []
  let open = 0
  for (const line of lines) {
    if (line.kind === "del") rows.push({ left: line, right: undefined })
    else if (line.kind === "same") {
      rows.push({ left: line, right: line })
      open = rows.length
    } else if (open < rows.length) {
      rows[open] = { left: rows[open]!.left, right: line }
      open++
    } else {
      rows.push({ left: undefined, right: line })
      open = rows.length
    }
  }
  return rows
}
