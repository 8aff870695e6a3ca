/** What can be changed about a judgement, and how a matching rule can be revoked. */
import { type Verdict, verdicts } from "@stoa/contract"
import { lendingPeriods, longestLendingPeriod, millisOf, type Period } from "../../parts/form/periods.logic.ts"
import { words } from "./words/en.ts"

export type ChangeKind = Verdict | "lend" | "list" | "unlist"

export type RulePeriod = Period | "ever" | "most"

/** A delegation ends soon, a grant no later than the sign-in that gives it; a restriction may stay. */
export const periodsFor = (kind: ChangeKind): ReadonlyArray<RulePeriod> =>
  kind === "lend"
    ? lendingPeriods
    : kind === "allow"
      ? ["hour", "day", "week", "most"]
      : ["hour", "day", "week", "month", "ever"]

/** The requested duration; undefined if it should last as long as the house allows. */
export const millisAskedFor = (kind: ChangeKind, period: RulePeriod): number | undefined =>
  period === "ever" || period === "most" || (kind === "lend" && period === longestLendingPeriod)
    ? undefined
    : millisOf(period)

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

export const defaultPeriod = (kind: ChangeKind): RulePeriod =>
  kind === "lend" ? longestLendingPeriod : kind === "allow" ? "most" : "ever"

/** A list that contains the tool by `*` or with its whole server cannot lose it alone. */
export const changeKindsFor = (
  isMe: boolean,
  passes: boolean,
  list: AllowListGate | undefined,
): ReadonlyArray<ChangeKind> => [
  ...verdicts,
  ...(isMe ? [] : (["lend"] as const)),
  ...(list === undefined ? [] : !passes ? (["list"] as const) : list.named ? (["unlist"] as const) : []),
]

export const effectOf = (
  kind: ChangeKind,
  { action, resource, who }: AccessQuestion,
  period: RulePeriod,
  list?: AllowListGate,
): string => {
  const until = words.until[period]
  const named = `${list?.toolset ?? ""}/${list?.context ?? ""}`
  switch (kind) {
    case "lend":
      return words.effects.lend(who, action, resource, until)
    case "list":
    case "unlist":
      return words.effects[kind](resource.replace(/^tools\//, ""), named, list?.context ?? "")
    default:
      return words.effects[kind](who, action, resource, until)
  }
}

/** A rule made in this house, by how it can be revoked. */
export const revocableRule = (
  name: string,
): { readonly kind: "grant" | "delegation"; readonly id: string } | undefined => {
  const [, kind, id] = /^(grant|delegation):(.+)$/.exec(name) ?? []
  return id === undefined ? undefined : { kind: kind as "grant" | "delegation", id }
}
