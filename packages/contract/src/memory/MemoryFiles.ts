/**
 * One owner's memory as a folder that a person can edit and git can hold: a Markdown file a record, its particulars before
 * its text, and the earlier versions in `history.jsonl`. And back again, losing nothing. Pure.
 */
import type { MemoryLine } from "./MemoryLine.ts"

/** A line as it stands in a file. */
export type MemoryLineJson = typeof MemoryLine.Encoded

export const historyFile = "history.jsonl"

export const linesOf = (jsonLines: string): ReadonlyArray<MemoryLineJson> =>
  jsonLines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as MemoryLineJson)

export const jsonLinesOf = (lines: ReadonlyArray<MemoryLineJson>): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("")

/** Letters and digits alone: no name of a file leads out of the folder, hides, or means something to a system. */
const slug = (text: string, most: number): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, most)
    .replace(/-+$/, "") || "record"

/** Where a record's file lies. Its particulars are in the file: the name is for people, and unique by the id's end. */
const pathOf = ({ id = "", key = "", kind, namespace = "stoa" }: MemoryLineJson): string =>
  `${namespace}/${slug(kind, 40)}/${key === id ? "record" : slug(key, 80)}--${id.slice(-12)}.md`

const fence = "---"

const fileOf = ({ content, ...particulars }: MemoryLineJson): string =>
  [
    fence,
    ...Object.entries(particulars).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    fence,
    `${content}\n`,
  ].join("\n")

export const memoryFilesOf = (lines: ReadonlyArray<MemoryLineJson>): ReadonlyMap<string, string> => {
  const files = new Map<string, string>()
  const history = lines.filter(({ current }) => current === false)
  if (history.length > 0) files.set(historyFile, jsonLinesOf(history))
  for (const line of lines) if (line.current !== false) files.set(pathOf(line), fileOf(line))
  return files
}

/** What a person wrote by hand needs no quotes. */
const valueOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text.trim()
  }
}

/** A file without particulars is a note by its path. */
const lineIn = (path: string, text: string): MemoryLineJson => {
  const end = text.startsWith(`${fence}\n`) ? text.indexOf(`\n${fence}\n`, fence.length) : -1
  const body = end === -1 ? text : text.slice(end + fence.length + 2)
  const content = body.endsWith("\n") ? body.slice(0, -1) : body
  if (end === -1) return { kind: "note", key: path.replace(/\.md$/, ""), content }
  const particulars = text
    .slice(fence.length + 1, end)
    .split("\n")
    .filter((line) => line.includes(":"))
    .map((line) => [line.slice(0, line.indexOf(":")).trim(), valueOf(line.slice(line.indexOf(":") + 1))] as const)
  return { kind: "note", ...Object.fromEntries(particulars), content }
}

const inOrder = (one: MemoryLineJson, other: MemoryLineJson): number => {
  const [mine, theirs] = [one.id ?? "", other.id ?? ""]
  return mine === theirs ? (one.version ?? 0) - (other.version ?? 0) : mine < theirs ? -1 : 1
}

/** The lines of a folder, each record's versions in order. */
export const memoryLinesIn = (files: ReadonlyMap<string, string>): ReadonlyArray<MemoryLineJson> =>
  [...files]
    .flatMap(([path, text]) =>
      path === historyFile ? linesOf(text) : path.endsWith(".md") ? [lineIn(path, text)] : [],
    )
    .toSorted(inOrder)

/** Lines in parts that a house takes at once. */
export const batchesOf = (
  lines: ReadonlyArray<MemoryLineJson>,
  most: number,
  largest: number,
): ReadonlyArray<ReadonlyArray<MemoryLineJson>> => {
  const batches: Array<Array<MemoryLineJson>> = []
  let size = Infinity
  for (const line of lines) {
    // In bytes: three for a character at most.
    const own = JSON.stringify(line).length * 3
    if (size + own > largest || (batches.at(-1)?.length ?? 0) >= most) {
      batches.push([])
      size = 0
    }
    batches.at(-1)!.push(line)
    size += own
  }
  return batches
}
