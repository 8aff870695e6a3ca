/**
 * One owner's memory as a folder that a person can edit and git can store: one Markdown file per record, with its
 * fields before its text, and the earlier versions in `history.jsonl`. And back again without loss. Pure.
 */
import type { MemoryLine } from "./MemoryLine.ts"

/** A line as it is in a file. */
export type MemoryLineJson = typeof MemoryLine.Encoded

export const historyFile = "history.jsonl"

export const linesOf = (jsonLines: string): ReadonlyArray<MemoryLineJson> =>
  jsonLines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as MemoryLineJson)

export const jsonLinesOf = (lines: ReadonlyArray<MemoryLineJson>): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("")

/** Only letters and digits: no file name leads out of the folder, is hidden, or is special to a system. */
const slug = (text: string, most: number): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, most)
    .replace(/-+$/, "") || "record"

/** The path of a record's file. Its fields are in the file: the name is for people, and unique by the end of the id. */
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

/** A value as people write it: with quotes of either kind, or without. */
const wordOf = (text: string): string => {
  const said = text.trim()
  if (/^'.*'$/s.test(said)) return said.slice(1, -1).replaceAll("''", "'")
  const value = jsonOf(said)
  return typeof value === "string" ? value : said
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const words = (text: string): ReadonlyArray<string> =>
  text
    .replace(/^\[(.*)\]$/s, "$1")
    .split(",")
    .map(wordOf)
    .filter((word) => word !== "")

/** Which fields are not text: `key: 2027` is a key. */
const kinds: Readonly<Record<string, string>> = {
  version: "number",
  current: "boolean",
  public: "boolean",
  pinned: "boolean",
  tags: "object",
  authors: "object",
  shares: "object",
}

const valueOf = (name: string, text: string): unknown => {
  const value = jsonOf(text)
  if (name === "tags") return Array.isArray(value) ? value.map(String) : words(text)
  return typeof value === kinds[name] ? value : wordOf(text)
}

/** The fields before the text, as we write them or as people do: a list may also have one dash line per item. */
const particularsIn = (lines: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  const found: Record<string, unknown> = {}
  let name = ""
  for (const line of lines) {
    const item = /^\s*-\s+(.*)$/s.exec(line)?.[1]
    const at = line.indexOf(":")
    const before = found[name]
    if (item !== undefined)
      found[name] = [...(Array.isArray(before) ? (before as ReadonlyArray<unknown>) : []), wordOf(item)]
    else if (at > 0 && !line.startsWith("#")) {
      name = line.slice(0, at).trim()
      found[name] = valueOf(name, line.slice(at + 1).trim())
    }
  }
  return found
}

/** A file without fields is a note named by its path. Editors and git may have changed its line ends to Windows'. */
const lineIn = (path: string, stored: string): MemoryLineJson => {
  const marked = stored.replace(/^\uFEFF/, "")
  const text = marked.startsWith(`${fence}\r\n`) ? marked.replaceAll("\r\n", "\n") : marked
  const end = text.startsWith(`${fence}\n`) ? `${text}\n`.indexOf(`\n${fence}\n`, fence.length) : -1
  const body = end === -1 ? text : text.slice(end + fence.length + 2)
  const content = body.endsWith("\n") ? body.slice(0, -1) : body
  if (end === -1) return { kind: "note", key: path.replace(/\.md$/, ""), content }
  return { kind: "note", ...particularsIn(text.slice(fence.length + 1, end).split("\n")), content }
}

const inOrder = (one: MemoryLineJson, other: MemoryLineJson): number => {
  const [mine, theirs] = [one.id ?? "", other.id ?? ""]
  return mine === theirs ? (one.version ?? 0) - (other.version ?? 0) : mine < theirs ? -1 : 1
}

/** A line, and its place in the files, for people. */
export interface MemorySource {
  readonly line: MemoryLineJson
  readonly place: string
}

export const sourcesOf = (path: string, jsonLines: string): ReadonlyArray<MemorySource> =>
  linesOf(jsonLines).map((line, at) => ({ line, place: `${path} line ${at + 1}` }))

/** The lines of a folder, each record's versions in order, and the files they are from. */
export const memorySourcesIn = (files: ReadonlyMap<string, string>): ReadonlyArray<MemorySource> =>
  [...files]
    .flatMap(([path, text]) =>
      path === historyFile
        ? sourcesOf(path, text)
        : path.endsWith(".md")
          ? [{ line: lineIn(path, text), place: path }]
          : [],
    )
    .toSorted((one, other) => inOrder(one.line, other.line))

export const memoryLinesIn = (files: ReadonlyMap<string, string>): ReadonlyArray<MemoryLineJson> =>
  memorySourcesIn(files).map(({ line }) => line)

/** Lines in batches that a house accepts. */
export const batchesOf = (
  lines: ReadonlyArray<MemoryLineJson>,
  most: number,
  largest: number,
): ReadonlyArray<ReadonlyArray<MemoryLineJson>> => {
  const batches: Array<Array<MemoryLineJson>> = []
  let size = Infinity
  for (const line of lines) {
    // In bytes: at most three per character.
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
