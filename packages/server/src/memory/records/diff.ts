/** The changes between two texts, line by line: the longest common subsequence stays. Pure. */
import type { MemoryDiff } from "@stoa/contract"

type DiffLine = MemoryDiff["lines"][number]

/** Beyond this many cells the middle counts as replaced, to limit the cost. */
const maxCells = 1_000_000
/** The most lines of an answer: for a text of nothing but line breaks it would be thirty times as large as the text. */
export const maxLines = 5000

const marked = (change: DiffLine["change"], texts: ReadonlyArray<string>): ReadonlyArray<DiffLine> =>
  texts.map((text) => ({ change, text }))

const middle = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<DiffLine> => {
  const [m, n] = [before.length, after.length]
  if (m === 0 || n === 0 || m * n > maxCells) return [...marked("removed", before), ...marked("added", after)]
  const width = n + 1
  const common = new Uint32Array((m + 1) * width)
  for (let i = m - 1; i >= 0; i--)
    for (let j = n - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const lines: Array<DiffLine> = []
  let [i, j] = [0, 0]
  while (i < m && j < n) {
    if (before[i] === after[j]) {
      lines.push({ change: "same", text: before[i]! })
      i++
      j++
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
      lines.push({ change: "removed", text: before[i++]! })
    else lines.push({ change: "added", text: after[j++]! })
  }
  return [...lines, ...marked("removed", before.slice(i)), ...marked("added", after.slice(j))]
}

const allLines = (before: string, after: string): ReadonlyArray<DiffLine> => {
  const [one, other] = [before.split("\n"), after.split("\n")]
  let start = 0
  while (start < one.length && start < other.length && one[start] === other[start]) start++
  let end = 0
  while (
    end < one.length - start &&
    end < other.length - start &&
    one[one.length - 1 - end] === other[other.length - 1 - end]
  )
    end++
  return [
    ...marked("same", one.slice(0, start)),
    ...middle(one.slice(start, one.length - end), other.slice(start, other.length - end)),
    ...marked("same", one.slice(one.length - end)),
  ]
}

/** The changes, up to the most lines, and how many more there are. */
export const diffOf = (before: string, after: string): Pick<MemoryDiff, "lines" | "left"> => {
  const lines = allLines(before, after)
  return lines.length <= maxLines ? { lines } : { lines: lines.slice(0, maxLines), left: lines.length - maxLines }
}
