import { keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Decision } from "../../feed/types.ts"

const limit = 50
const endOf = (one: Decision) => Date.parse(one.answeredAt ?? one.expiresAt)

/** Closed decisions, the latest first. */
export const answeredQuery = {
  queryKey: keys.answered,
  queryFn: async (): Promise<ReadonlyArray<Decision>> => {
    const pages = await Promise.all(
      (["answered", "expired", "canceled"] as const).map((state) => house.decisions.list({ state, limit })),
    )
    return pages.flatMap(({ items }) => items).toSorted((a, b) => endOf(b) - endOf(a))
  },
}
