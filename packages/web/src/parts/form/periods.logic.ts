/** For how long a right can be given. */
import { longestDelegationHours } from "@stoa/contract"

const hours = { hour: 1, day: 24, week: 168, month: 720 } as const
export type Period = keyof typeof hours

/** A right is lent for no longer than the house allows. */
export const lendingPeriods = (["hour", "day", "week", "month"] as const).filter(
  (period) => hours[period] <= longestDelegationHours,
)
/** The end that the house sets if none is given. */
export const longestLendingPeriod: Period = lendingPeriods.at(-1)!

export const millisOf = (period: Period): number => hours[period] * 3_600_000
