/** The page's initial data, and the feed that continues from there. */
import { useQuery } from "@tanstack/react-query"
import { useCallback } from "react"
import { cache, keys } from "./cache.ts"
import { closeFeed, openFeed } from "./events/Feed.ts"
import { house } from "./house.ts"
import type { Principal, Start } from "./types.ts"

/** Goes to the sign-in page; set by the layout, which knows the routes. */
let leave: () => Promise<void> = () => Promise.resolve()
export const onSignedOut = (go: () => Promise<void>): void => {
  leave = go
}

const restart = (): void => {
  cache.removeQueries({ type: "inactive", predicate: ({ queryKey }) => queryKey[0] !== "start" })
  void cache.invalidateQueries()
}

let followed: string | undefined

/** Requested once: changes come by the feed. */
const loadStart = async (): Promise<Start> => {
  const start = await house.page.start()
  // Another user needs a new feed; for the same user it continues.
  if (followed !== start.me.id) {
    followed = start.me.id
    openFeed({ me: start.me.id, after: start.cursor, restart, signedOut: () => void forget() })
  }
  return start
}

/**
 * Removes all data of the previous user. The cache goes last: until the sign-in page is shown, the old screen reads
 * from it.
 */
export const forget = async (): Promise<void> => {
  followed = undefined
  closeFeed()
  await leave()
  cache.clear()
}

export const startQuery = { queryKey: keys.start, queryFn: loadStart }

/** For screens behind the sign-in, where it is always loaded. */
export const useStart = (): Start => {
  const { data } = useQuery(startQuery)
  if (data === undefined) throw new Error("the page has not begun")
  return data
}

const maxPeople = 1000
const nobody: ReadonlyArray<Principal> = []

/** Everybody the user may see; a guest sees nobody else, which is no error. */
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
      } while (cursor !== null && all.length < maxPeople)
      return all
    },
    retry: false,
  })
  return data ?? nobody
}

/** Agents' live runs, as far as the user sees them; a guest sees none. */
export const useLiveRuns = () =>
  useQuery({
    queryKey: keys.liveRuns,
    queryFn: async () => (await house.runs.list({ state: "live", limit: 100 })).items,
    retry: false,
  })

/** How many held tools need a review; users who may not see servers get none. */
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

/** How many offers of memory wait for an answer of the user's, to them and to agents; a guest gets none. */
export const useOffersWaiting = () =>
  useQuery({ queryKey: keys.offersWaiting, queryFn: () => house.memory.waiting(), retry: false }).data

/** Names by id, from everywhere a name is known. */
export const useNames = (): ((id: string | null) => string) => {
  const { me, spaces } = useStart()
  const people = usePeople()
  // The same function until a new name is known, so that rows are not redrawn.
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
