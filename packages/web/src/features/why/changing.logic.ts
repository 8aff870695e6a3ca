/** What can be changed about a judgement, and how a matching rule can be revoked. */
import { words } from "./words/en.ts"

const grantings = ["allow", "ask", "deny"] as const
export type Way = (typeof grantings)[number] | "lend" | "list" | "unlist"

const hour = 3_600_000
const spans = { hour, day: 24 * hour, week: 168 * hour, month: 720 * hour } as const
export type SpanName = keyof typeof spans | "ever" | "most"

/** A delegation lasts a day at most, a grant no longer than the sign-in that gives it; a restriction may stay. */
export const spansOf = (way: Way): ReadonlyArray<SpanName> =>
  way === "lend"
    ? ["hour", "day"]
    : way === "allow"
      ? ["hour", "day", "week", "most"]
      : ["hour", "day", "week", "month", "ever"]

/** The requested duration; undefined if it should last as long as the house allows. */
export const askedFor = (way: Way, span: SpanName): number | undefined =>
  span === "ever" || span === "most" || (way === "lend" && span === "day") ? undefined : spans[span]

export interface AllowListGate {
  readonly toolset: string
  readonly context: string
  /** Whether the list names this tool itself. */
  readonly named: boolean
}

export interface AccessQuestion {
  readonly who: string
  readonly action: string
  readonly resource: string
}

export const usualSpan = (way: Way): SpanName => (way === "lend" ? "day" : way === "allow" ? "most" : "ever")

/** A list that contains the tool by `*` or with its whole server cannot lose it alone. */
export const waysOf = (isMe: boolean, passes: boolean, list: AllowListGate | undefined): ReadonlyArray<Way> => [
  ...grantings,
  ...(isMe ? [] : (["lend"] as const)),
  ...(list === undefined ? [] : !passes ? (["list"] as const) : list.named ? (["unlist"] as const) : []),
]

export const effectOf = (
  way: Way,
  { action, resource, who }: AccessQuestion,
  span: SpanName,
  list?: AllowListGate,
): string => {
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

/** A rule made in this house, by how it can be revoked. */
export const madeBy = (name: string): { readonly kind: "grant" | "delegation"; readonly id: string } | undefined => {
  const [, kind, id] = /^(grant|delegation):(.+)$/.exec(name) ?? []
  return id === undefined ? undefined : { kind: kind as "grant" | "delegation", id }
}
