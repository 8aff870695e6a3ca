/** The one cache. The feed writes into it, screens read from it, and nothing else stores data of the house. */
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
  /** The user's own catalogue, or another principal's. */
  tools: (as = "") => ["tools", as],
  tool: (name: string) => ["tools", "one", name],
  /** Counts, not lists: how many offers of memory wait. */
  offersWaiting: ["memory", "waiting"],
  /** Lists of runs, each by its query; one run; and the parts of it that are loaded on demand. */
  runLists: ["runs", "list"],
  liveRuns: ["runs", "list", "live"],
  run: (id: string) => ["runs", "one", id],
} as const

/** A refusal will be repeated; a missing answer may not. */
const again = (failures: number, error: unknown) => !(error instanceof StoaError && error.status < 500) && failures < 2

export const cache = new QueryClient({
  defaultOptions: {
    // The feed reports changes: nothing is requested again because a window got the focus.
    queries: { staleTime: Infinity, gcTime: 10 * 60_000, retry: again, refetchOnWindowFocus: false },
    mutations: { retry: false },
  },
})
// The feed changes these one message at a time: the rest of a list is already the same objects.
cache.setQueryDefaults(["messages"], { structuralSharing: false })
