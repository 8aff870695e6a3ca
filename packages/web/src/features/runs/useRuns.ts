/** Queries about runs. The feed says when to read again. */
import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Run } from "../../feed/types.ts"
import type { WholeRun } from "./run.logic.ts"

export interface RunFilter {
  readonly state?: string
  readonly agent?: string
}

const limit = 50

type Query = NonNullable<Parameters<typeof house.runs.list>[0]>

const asked = ({ agent, state }: RunFilter): Query => ({
  limit,
  ...(agent === undefined ? {} : { agent }),
  ...(state === undefined ? {} : { state: state as NonNullable<Query["state"]> }),
})

export const useRunList = (filter: RunFilter) =>
  useInfiniteQuery({
    queryKey: [...keys.runLists, "pages", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      house.runs.list({ ...asked(filter), ...(pageParam === undefined ? {} : { cursor: pageParam }) }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })

/** All items of a list, page by page. */
const whole = async <A>(
  page: (cursor: { cursor?: string }) => Promise<{ items: ReadonlyArray<A>; next: string | null }>,
) => {
  const items: Array<A> = []
  for (let next: string | null | undefined = undefined; next !== null;) {
    const some = await page(next === undefined ? {} : { cursor: next })
    items.push(...some.items)
    next = some.next
  }
  return items
}
const stepsOf = (id: string) => whole((at) => house.runs.steps(id, at))

const doneCount = async (id: string): Promise<WholeRun> => {
  // Most runs are the root of their tree: then everything is requested at once.
  const below = (root: string) => house.runs.list({ root, limit: 100 })
  const [run, steps, own] = await Promise.all([house.runs.get(id), stepsOf(id), below(id)])
  const children = run.root === id ? own : await below(run.root)
  return { run, steps, children: children.items.filter((one) => one.id !== id) }
}

const taken = (id: string) => ({ queryKey: keys.run(id), queryFn: () => doneCount(id) })

export const useRun = (id: string) => useQuery(taken(id))

/** The expanded runs within it. */
export const useInside = (ids: ReadonlyArray<string>): ReadonlyMap<string, WholeRun> =>
  useQueries({
    queries: ids.map(taken),
    combine: (all) => new Map(all.flatMap(({ data }) => (data === undefined ? [] : [[data.run.id, data] as const]))),
  })

/** What the model was told and said; requested on demand. */
export const useRunMessages = (id: string, wanted: boolean) =>
  useQuery({
    queryKey: [...keys.run(id), "messages"],
    queryFn: () => whole((at) => house.runs.messages(id, at)),
    enabled: wanted,
  })

/** The message that woke it, to link to. */
export const useTrigger = (run: Run | undefined) => {
  const message = run?.trigger.message
  return useQuery({
    queryKey: ["message", message ?? ""],
    queryFn: () => house.messages.get(message!),
    enabled: message !== undefined,
    retry: false,
  })
}

/** Who waits for whose answer; not requested if nothing waits. */
export const useWaits = (run: Run) =>
  useQuery({
    queryKey: [...keys.run(run.id), "waits"],
    queryFn: async () => (await house.waits.list()).items,
    enabled: run.state === "waiting_reply" || run.state === "waiting_tool",
    select: (all) => all.filter((one) => one.run === run.id && one.state === "open"),
  })

/** All open waits, as far as the user sees their runs. */
export const useAllWaits = () =>
  useQuery({
    queryKey: [...keys.runLists, "waits"],
    queryFn: async () => (await house.waits.list()).items,
    retry: false,
  }).data ?? []

export const readAgain = async (id: string): Promise<void> => {
  await Promise.all([
    cache.invalidateQueries({ queryKey: keys.run(id) }),
    cache.invalidateQueries({ queryKey: [...keys.runLists, "waits"] }),
  ])
}
