/** What may be changed about a judgement, and what a rule that fits can be taken back as. */
import { words } from "./words/en.ts"

const grantings = ["allow", "ask", "deny"] as const
export type Way = (typeof grantings)[number] | "lend" | "list" | "unlist"

const hour = 3_600_000
const spans = { hour, day: 24 * hour, week: 168 * hour, month: 720 * hour } as const
export type SpanName = keyof typeof spans | "ever" | "most"

/** A loan lasts a day at most, what is given no longer than the sign-in it is given from; what holds back may stay. */
export const spansOf = (way: Way): ReadonlyArray<SpanName> =>
  way === "lend"
    ? ["hour", "day"]
    : way === "allow"
      ? ["hour", "day", "week", "most"]
      : ["hour", "day", "week", "month", "ever"]

/** How long it is asked for; nothing, where it is to last as long as the house lets it. */
export const askedFor = (way: Way, span: SpanName): number | undefined =>
  span === "ever" || span === "most" || (way === "lend" && span === "day") ? undefined : spans[span]

export interface AllowListGate {
  readonly toolset: string
  readonly context: string
  /** Whether it has this tool by its own name. */
  readonly named: boolean
}

export interface Asked {
  readonly who: string
  readonly action: string
  readonly resource: string
}

export const usualSpan = (way: Way): SpanName => (way === "lend" ? "day" : way === "allow" ? "most" : "ever")

/** A list that has the tool by `*` or with its whole server cannot lose it alone. */
export const waysOf = (isMe: boolean, passes: boolean, list: AllowListGate | undefined): ReadonlyArray<Way> => [
  ...grantings,
  ...(isMe ? [] : (["lend"] as const)),
  ...(list === undefined ? [] : !passes ? (["list"] as const) : list.named ? (["unlist"] as const) : []),
]

export const effectOf = (way: Way, { action, resource, who }: Asked, span: SpanName, list?: AllowListGate): string => {
  const until = words.until[span]
  const named = `${list?.toolset ?? ""}/${list?.context ?? ""}`
  switch (way) {
    case "lend":
      return words.effects.lend(who, action, resource, until)
    case "list":
    case "unlist":
      return words.effects[way](resource.replace(/^tools\//, ""), named, list?.context ?? "")
    default:
      return words.effects[way](who, action, resource, until)
  }
}

/** A rule that somebody made here, by what it is taken back as. */
export const madeBy = (name: string): { readonly kind: "grant" | "delegation"; readonly id: string } | undefined => {
  const [, kind, id] = /^(grant|delegation):(.+)$/.exec(name) ?? []
  return id === undefined ? undefined : { kind: kind as "grant" | "delegation", id }
}
