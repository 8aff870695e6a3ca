/** What can be changed about a judgement, and how a matching rule can be revoked. */
import { type Verdict, verdicts } from "@stoa/contract"
import { lendingPeriods, longestLendingPeriod, millisOf, type Period } from "../../parts/form/periods.logic.ts"
import { words } from "./words/en.ts"

export type AccessChange = Verdict | "lend" | "list" | "unlist"

export type RulePeriod = Period | "ever" | "most"

/** A delegation ends soon, a grant no later than the sign-in that gives it; a restriction may stay. */
export const periodsFor = (way: AccessChange): ReadonlyArray<RulePeriod> =>
  way === "lend"
    ? lendingPeriods
    : way === "allow"
      ? ["hour", "day", "week", "most"]
      : ["hour", "day", "week", "month", "ever"]

/** The requested duration; undefined if it should last as long as the house allows. */
export const millisAskedFor = (way: AccessChange, span: RulePeriod): number | undefined =>
  span === "ever" || span === "most" || (way === "lend" && span === longestLendingPeriod) ? undefined : millisOf(span)

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

export const defaultPeriod = (way: AccessChange): RulePeriod =>
  way === "lend" ? longestLendingPeriod : way === "allow" ? "most" : "ever"

/** A list that contains the tool by `*` or with its whole server cannot lose it alone. */
export const changesFor = (
  isMe: boolean,
  passes: boolean,
  list: AllowListGate | undefined,
): ReadonlyArray<AccessChange> => [
  ...verdicts,
  ...(isMe ? [] : (["lend"] as const)),
  ...(list === undefined ? [] : !passes ? (["list"] as const) : list.named ? (["unlist"] as const) : []),
]

export const effectOf = (
  way: AccessChange,
  { action, resource, who }: AccessQuestion,
  span: RulePeriod,
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
export const revocableRule = (
  name: string,
): { readonly kind: "grant" | "delegation"; readonly id: string } | undefined => {
  const [, kind, id] = /^(grant|delegation):(.+)$/.exec(name) ?? []
  return id === undefined ? undefined : { kind: kind as "grant" | "delegation", id }
}
