/** Queries about agents. The feed says when to read again. */
import { useQueries, useQuery } from "@tanstack/react-query"
import { noteSpace } from "../../feed/events/apply.ts"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { LoadedMessages } from "../../feed/messages.logic.ts"
import type { Principal, Space } from "../../feed/types.ts"
import { pairName } from "./agents.logic.ts"

const one = (name: string) => ({ queryKey: [...keys.people, "agent", name], queryFn: () => house.agents.get(name) })

export const useAgent = (name: string) => useQuery(one(name))
export type Agent = NonNullable<ReturnType<typeof useAgent>["data"]>

/** The profile of each; those that cannot be read are left out. */
export const useProfiles = (agents: ReadonlyArray<Principal>) =>
  useQueries({
    queries: agents.map(({ name }) => ({ ...one(name), retry: false })),
    combine: (all) => new Map(all.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data] as const]))),
  })

/** Users who may not see pauses get none. */
export const usePauses = () =>
  useQuery({ queryKey: ["pauses"], queryFn: async () => (await house.pauses.list()).items, retry: false }).data ?? []

/** What each has spent today, in dollars. Days are in UTC, as limits count them. */
export const useSpent = (): ReadonlyMap<string, number> => {
  const { data } = useQuery({
    queryKey: [...keys.runLists, "spend"],
    queryFn: () => house.runs.spend({ days: 1 }),
    retry: false,
  })
  return new Map((data?.items ?? []).map(({ cost, principal }) => [principal, cost]))
}

export const usePrompt = (name: string, may: boolean) =>
  useQuery({
    queryKey: ["memory", "prompt", name],
    queryFn: () => house.agents.prompt(name),
    enabled: may,
    retry: false,
  })

const maxTools = 20

export const useTools = (name: string) =>
  useQuery({
    queryKey: ["tools", "as", name],
    queryFn: async () => {
      const first = await house.tools.list({ as: name, limit: 100 })
      const items = [...first.items]
      let { next } = first
      for (let page = 0; next !== null && page < maxTools; page++) {
        const more = await house.tools.list({ as: name, limit: 100, cursor: next })
        items.push(...more.items)
        next = more.next
      }
      return { items, leftOut: first.leftOut ?? [] }
    },
    retry: false,
  })

export const useModels = () =>
  useQuery({
    queryKey: ["models"],
    queryFn: async () => (await house.models.list()).items.filter(({ purpose }) => purpose === "thinking"),
    retry: false,
  }).data ?? []

export const useRunsOf = (id: string) =>
  useQuery({
    queryKey: [...keys.runLists, "of", id],
    queryFn: async () => (await house.runs.list({ agent: id, limit: 20 })).items,
  })

export const useMemoryOf = (id: string) =>
  useQuery({
    queryKey: ["memory", "of", id],
    queryFn: async () => (await house.memory.list({ owner: id, limit: 50 })).items,
  })

/** The messages of a DM, loaded and followed as on its own screen. */
export const useTalk = (space: Space | undefined) =>
  useQuery({
    queryKey: keys.messages(space?.id ?? ""),
    queryFn: async (): Promise<LoadedMessages> => {
      const page = await house.spaces.messages(space!.id, { limit: 100 })
      return { items: page.items, older: page.next !== null, newer: false }
    },
    enabled: space !== undefined,
  })

export const openPair = async (
  me: Principal,
  agent: { readonly id: string; readonly name: string },
): Promise<Space> => {
  const made = await house.spaces.add({ name: pairName(me.name, agent.name), kind: "dm", members: [agent.id] })
  noteSpace(made)
  return made
}

/** Parents before their children. */
export const useTree = () =>
  useQuery({ queryKey: [...keys.people, "tree"], queryFn: async () => (await house.agents.tree()).items, retry: false })

export const agentsChanged = (): Promise<void> => cache.invalidateQueries({ queryKey: keys.people })
export const pausesChanged = (): Promise<void> => cache.invalidateQueries({ queryKey: ["pauses"] })
