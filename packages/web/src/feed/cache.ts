/** The one cache. The feed writes into it, screens read from it, and nothing else keeps what the house said. */
import { QueryClient } from "@tanstack/react-query"
import { StoaError } from "@stoa/sdk"

export const keys = {
  start: ["start"],
  messages: (space: string) => ["messages", space],
  thread: (root: string) => ["thread", root],
  decision: (id: string) => ["decision", id],
  answered: ["decisions", "answered"],
  approvals: ["approvals"],
  people: ["people"],
  /** The catalogue of whoever is here, or as somebody else gets it. */
  tools: (as = "") => ["tools", as],
  /** Lists of runs, each by what it asks for; one run; what of it is read by whoever looks at it. */
  runLists: ["runs", "list"],
  liveRuns: ["runs", "list", "live"],
  run: (id: string) => ["runs", "one", id],
} as const

/** What was refused will be refused again; what was not answered may be. */
const again = (failures: number, error: unknown) => !(error instanceof StoaError && error.status < 500) && failures < 2

export const cache = new QueryClient({
  defaultOptions: {
    // The feed says what has changed: nothing is asked again because a window was looked at.
    queries: { staleTime: Infinity, gcTime: 10 * 60_000, retry: again, refetchOnWindowFocus: false },
    mutations: { retry: false },
  },
})
// Those are changed by the feed, one message at a time: the rest of a list is the same objects already.
cache.setQueryDefaults(["messages"], { structuralSharing: false })
