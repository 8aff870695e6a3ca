/** What the page begins with, and the feed that goes on from there. */
import { useQuery } from "@tanstack/react-query"
import { useCallback } from "react"
import { cache, keys } from "./cache.ts"
import { closeFeed, openFeed } from "./Feed.ts"
import { house } from "./house.ts"
import type { Principal, Start } from "./types.ts"

/** Leaves for the door; set by the frame, which knows the routes. */
let leave: () => Promise<void> = () => Promise.resolve()
export const onSignedOut = (go: () => Promise<void>): void => {
  leave = go
}

const restart = (): void => {
  cache.removeQueries({ type: "inactive", predicate: ({ queryKey }) => queryKey[0] !== "start" })
  void cache.invalidateQueries()
}

let followed: string | undefined

/** Asked once: what follows comes by the feed. */
const loadStart = async (): Promise<Start> => {
  const start = await house.page.start()
  // The feed of somebody else would not be told; of the same person it goes on.
  if (followed !== start.me.id) {
    followed = start.me.id
    openFeed({ me: start.me.id, after: start.cursor, restart, signedOut: () => void forget() })
  }
  return start
}

/** Nothing of who was here stays. The cache goes last: until the door is shown, the screen before it reads from it. */
export const forget = async (): Promise<void> => {
  followed = undefined
  closeFeed()
  await leave()
  cache.clear()
}

export const startQuery = { queryKey: keys.start, queryFn: loadStart }

/** For screens behind the door: there it is known. */
export const useStart = (): Start => {
  const { data } = useQuery(startQuery)
  if (data === undefined) throw new Error("the page has not begun")
  return data
}

const mostPeople = 1000
const nobody: ReadonlyArray<Principal> = []

/** Everybody the person may see; a guest sees nobody else, and that is no fault. */
export const usePeople = (): ReadonlyArray<Principal> => {
  const { data } = useQuery({
    queryKey: keys.people,
    queryFn: async () => {
      const all: Array<Principal> = []
      let cursor: string | null | undefined
      do {
        const page = await house.principals.list({ limit: 100, ...(cursor == null ? {} : { cursor }) })
        all.push(...page.items)
        cursor = page.next
      } while (cursor !== null && all.length < mostPeople)
      return all
    },
    retry: false,
  })
  return data ?? nobody
}

/** Agents' work that has not ended, as far as this person sees it; a guest sees none. */
export const useLiveRuns = () =>
  useQuery({
    queryKey: keys.liveRuns,
    queryFn: async () => (await house.runs.list({ state: "live", limit: 100 })).items,
    retry: false,
  })

/** How many tools wait for somebody to look at how they changed; those who may not see servers see none. */
export const useHeld = (): number => {
  const { me } = useStart()
  const { data } = useQuery({
    queryKey: ["servers"],
    queryFn: () => house.mcpServers.list(),
    enabled: me.roles.includes("admin"),
    retry: false,
  })
  return data?.items.reduce((sum, { held }) => sum + held.length, 0) ?? 0
}

/** Names by id, from everywhere a name is known. */
export const useNames = (): ((id: string | null) => string) => {
  const { me, spaces } = useStart()
  const people = usePeople()
  // The same function as long as nobody new is known, so that rows that are given it are drawn once.
  return useCallback(
    (id) => {
      if (id === null) return "the house"
      if (id === me.id) return me.name
      const known =
        people.find((one) => one.id === id) ?? spaces.flatMap(({ members }) => members).find((one) => one.id === id)
      return known?.name ?? id.slice(0, 12)
    },
    [me, people, spaces],
  )
}
