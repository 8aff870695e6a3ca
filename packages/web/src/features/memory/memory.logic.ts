/** Records in display order, why a search found one, and what is imported. */
import { houseKindOf, type MemoryRight, mayUse } from "@stoa/contract"
import type { MemoryRecord } from "../../feed/types.ts"
import { words } from "./words/en.ts"

export type Group = "block" | "record" | "goal" | "session"

export const groupOf = ({ kind }: { readonly kind: string }): Group => {
  if (/block|persona|core/i.test(kind)) return "block"
  if (/goal|plan/i.test(kind)) return "goal"
  return /conversation|session/i.test(kind) ? "session" : "record"
}

/**
 * What a person can do with a record that they can read, by the house's own rule: `write` its content and tags, `own` it
 * (pin, share and restore it), `rule` it (publish it, let it expire, delete it). What the house writes, only the house
 * changes.
 */
export const rightsOf = (
  record: Pick<MemoryRecord, "deletedAt" | "kind" | "namespace" | "owner" | "public">,
  me: string,
  shares: ReadonlyArray<{ readonly principal: string; readonly right: MemoryRight }>,
) => {
  const shared = shares.find(({ principal }) => principal === me)?.right ?? null
  const may = (act: "write" | "own") => mayUse(act, me, { ...record, shared })
  const isOpen = record.deletedAt === null && houseKindOf(record) === undefined
  return { write: isOpen && may("write"), own: may("own"), rule: isOpen && may("own") }
}

const icons: Readonly<Record<Group, string>> = {
  block: "layers",
  record: "file-text",
  goal: "target",
  session: "message-square",
}

export const iconOf = (record: { readonly kind: string; readonly pinned: boolean }): string =>
  record.pinned ? "pin" : /plan/i.test(record.kind) ? "calendar-clock" : icons[groupOf(record)]

const order: ReadonlyArray<Group> = ["block", "record", "goal", "session"]

/** By kind; search results stay in their order. */
export const groupsOf = (
  records: ReadonlyArray<MemoryRecord>,
): ReadonlyArray<{ readonly group: Group; readonly records: ReadonlyArray<MemoryRecord> }> =>
  order
    .map((group) => ({ group, records: records.filter((one) => groupOf(one) === group) }))
    .filter((one) => one.records.length > 0)

/** In the order of the list. */
export const inOrder = (records: ReadonlyArray<MemoryRecord>): ReadonlyArray<MemoryRecord> =>
  groupsOf(records).flatMap((one) => one.records)

/** In words: which parts of the query are in it, near it, or in its name. */
export const whyOf = ({ match }: Pick<MemoryRecord, "match">): string => {
  if (match === undefined) return ""
  const place = match.vector?.place ?? null
  return [
    match.words.length === 0 ? "" : words.why.words(match.words),
    match.label.length === 0 ? "" : words.why.label(match.label),
    match.near.length === 0 ? "" : words.why.near(match.near),
    ...Object.entries(match.fixed).map(([from, to]) => words.why.fixed(from, to)),
    place === null ? "" : words.why.meaning(place),
  ]
    .filter((part) => part !== "")
    .join(" · ")
}

/** What every prompt contains: blocks, goals and memories of the namespaces that have them. */
export const isInEveryPrompt = ({ kind, namespace }: Pick<MemoryRecord, "kind" | "namespace">): boolean =>
  namespace === "office" ? kind === "block" : namespace === "gateway" && (kind === "goal" || kind === "memory")

interface Section {
  readonly name: string
  readonly text: string
  readonly tokens: number
}

/** A section of a prompt that contains a text, in two halves around it. */
export interface Excerpt {
  readonly name: string
  readonly tokens: number
  readonly before: string
  readonly after: string
}

/** Where a text is in a prompt, with the edited text in its place; undefined if it is not there. */
export const excerptOf = (
  sections: ReadonlyArray<Section>,
  { content, key }: Pick<MemoryRecord, "content" | "key">,
): Excerpt | undefined => {
  const has = ({ text }: Section) => content !== "" && text.includes(content)
  const found = sections.find((one) => one.name === key && has(one)) ?? sections.find(has)
  if (found === undefined) return undefined
  const at = found.text.indexOf(content)
  const { name, tokens } = found
  return { name, tokens, before: found.text.slice(0, at), after: found.text.slice(at + content.length) }
}

export const firstLine = (text: string): string =>
  text
    .trimStart()
    .split("\n")[0]!
    .replaceAll(/[#*_`>]/g, "")
    .slice(0, 160)

export const tagsFrom = (text: string): ReadonlyArray<string> => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
  ),
]

type Line = Readonly<Record<string, unknown>> & { readonly kind: string }

/** The lines of an exported file, or the number of the one that is not JSON. */
export const linesIn = (text: string): { readonly lines: ReadonlyArray<Line> } | { readonly bad: number } => {
  const lines: Array<Line> = []
  for (const [at, one] of text.split("\n").entries()) {
    if (one.trim() === "") continue
    const read = jsonIn(one)
    if (read === undefined) return { bad: at + 1 }
    lines.push(read)
  }
  return { lines }
}

const jsonIn = (text: string): Line | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && typeof (value as Line).kind === "string"
      ? (value as Line)
      : undefined
  } catch {
    return undefined
  }
}

export const kindsIn = (lines: ReadonlyArray<{ readonly kind: string }>): string => {
  const counts = new Map<string, number>()
  for (const { kind } of lines) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ")
}

/** Chunks of this size. */
export const chunksOf = <A>(list: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size))
