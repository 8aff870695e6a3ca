/** Queries about memory. The feed says when to read again. */
import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useOffersWaiting } from "../../feed/start.ts"

export interface MemoryFilter {
  readonly owner?: string
  readonly q?: string
}

const limit = 100

export const useRecords = ({ owner, q }: MemoryFilter) =>
  useInfiniteQuery({
    queryKey: ["memory", "list", owner ?? "", q ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      house.memory.list({
        limit,
        ...(owner === undefined ? {} : { owner }),
        ...(q === undefined ? {} : { q }),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })

const offersAtOnce = 20

/** What waits for an answer, to the user or to an agent, and how many there are as the house counts them. */
export const useOffers = (agent?: string) => {
  const counts = useOffersWaiting()
  const list = useInfiniteQuery({
    queryKey: ["memory", "offers", agent ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      house.memory.offers({
        limit: offersAtOnce,
        text: "true",
        ...(agent === undefined ? {} : { for: agent }),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      }),
    getNextPageParam: ({ next }) => next ?? undefined,
    retry: false,
  })
  const waiting = agent === undefined ? counts?.own : counts?.agents.find(({ name }) => name === agent)?.waiting
  return { ...list, waiting }
}

export const useRecord = (id: string) =>
  useQuery({ queryKey: ["memory", "one", id], queryFn: () => house.memory.get(id) })

export const useHistory = (id: string) =>
  useQuery({
    queryKey: ["memory", "one", id, "history"],
    queryFn: async () => (await house.memory.history(id, { limit })).items,
  })

/** Whoever may read a record may know whom it is shared with. */
export const useShares = (id: string) =>
  useQuery({
    queryKey: ["memory", "one", id, "shares"],
    queryFn: async () => (await house.memory.shares(id)).items,
    enabled: id !== "",
    retry: false,
  })

/** The agents whose prompts may contain it, with the prompts that may be viewed. */
export const usePrompts = (agents: ReadonlyArray<string>) =>
  useQueries({
    queries: agents.map((name) => ({
      queryKey: ["memory", "prompt", name],
      queryFn: () => house.agents.prompt(name),
      retry: false,
    })),
    combine: (all) => all.flatMap(({ data }, at) => (data === undefined ? [] : [{ agent: agents[at]!, prompt: data }])),
  })

export const memoryChanged = (): Promise<void> => cache.invalidateQueries({ queryKey: ["memory"] })

/** Every line of the user's memory, as a file. */
export const exportMemory = async (): Promise<string> => {
  const lines: Array<string> = []
  let cursor: string | null | undefined
  do {
    const page = await house.memory.export({ limit, ...(cursor == null ? {} : { cursor }) })
    lines.push(...page.items.map((line) => JSON.stringify(line)))
    cursor = page.next
  } while (cursor !== null)
  return lines.map((line) => `${line}\n`).join("")
}
