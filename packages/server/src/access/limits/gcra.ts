/** The rate limit algorithm (GCRA), with one number per bucket. */
import type { Limit } from "@stoa/contract"

/** A bucket that fills evenly: the time at which it would be empty again (GCRA). */
export const take = (
  emptyAt: number,
  limit: Limit,
  now: number,
  amount = 1,
): { readonly emptyAt: number; readonly wait: number } => {
  const window = limit.seconds * 1000
  const next = Math.max(emptyAt, now) + (amount * window) / limit.count
  return next - now > window ? { emptyAt, wait: next - now - window } : { emptyAt: next, wait: 0 }
}
