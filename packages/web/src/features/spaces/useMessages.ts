/** The messages of a space: the newest at first, more at either end when the reader comes there. */
import { useQuery } from "@tanstack/react-query"
import { useCallback } from "react"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { joined, type Loaded, most, withNewer, withOlder } from "../../feed/messages.logic.ts"
import type { Message } from "../../feed/types.ts"

const limit = 100

/** What was loaded is read again from its first message on, so that the reader stays where they are. */
const load = async (space: string, at: number | undefined): Promise<Loaded> => {
  const known = cache.getQueryData<Loaded>(keys.messages(space))
  const first = known?.items[0]
  if (known !== undefined && first !== undefined && at === undefined) {
    let items: ReadonlyArray<Message> = []
    let after: number | undefined = first.seq - 1
    let more = true
    while (more && items.length < most) {
      const page = await house.spaces.messages(space, { limit, after })
      items = joined(items, page.items)
      after = items.at(-1)?.seq ?? after
      more = page.next !== null
    }
    return { items, older: known.older, newer: more }
  }
  const page = await house.spaces.messages(space, { limit, ...(at === undefined ? {} : { before: at + limit / 2 }) })
  const newer =
    at === undefined
      ? false
      : (await house.spaces.messages(space, { limit: 1, after: page.items.at(-1)?.seq ?? 0 })).items.length > 0
  return { items: page.items, older: page.next !== null, newer }
}

const busy = new Set<string>()

/** More at one end, if there is more and it is not on its way. */
const loadMore = async (space: string, end: "older" | "newer"): Promise<void> => {
  const key = keys.messages(space)
  const loaded = cache.getQueryData<Loaded>(key)
  const edge = end === "older" ? loaded?.items[0] : loaded?.items.at(-1)
  if (busy.has(space) || loaded?.[end] !== true || edge === undefined) return
  busy.add(space)
  try {
    const page = await house.spaces.messages(
      space,
      end === "older" ? { limit, before: edge.seq } : { limit, after: edge.seq },
    )
    const join = end === "older" ? withOlder : withNewer
    cache.setQueryData<Loaded>(key, (old) => {
      // The reader may have jumped meanwhile: then this belongs to what is no longer there.
      if (old === undefined || loaded === undefined) return old
      const now = end === "older" ? old.items[0] : old.items.at(-1)
      if (now?.seq === edge.seq) return join(old, page.items, page.next !== null)
      // Or the far end was let go of meanwhile, because much is said: then both are parts of one.
      const isPart = loaded.items.some(({ seq }) => seq === now?.seq)
      return isPart ? join({ ...old, items: joined(loaded.items, old.items) }, page.items, page.next !== null) : old
    })
  } catch {
    // Asked again when the reader scrolls again.
  } finally {
    busy.delete(space)
  }
}

let jumps = 0

/** To the message with this number, or to the newest. */
const jump = async (space: string, seq: number | undefined): Promise<void> => {
  const mine = ++jumps
  const key = keys.messages(space)
  const loaded = cache.getQueryData<Loaded>(key)
  // The first of all are on their way.
  if (loaded === undefined) return
  const has = seq === undefined ? !loaded.newer : loaded.items.some((one) => one.seq === seq)
  if (has) return
  // What is being read is of another place, and would come in its stead.
  await cache.cancelQueries({ queryKey: key })
  const place = await (seq === undefined ? newest(space) : load(space, seq))
  // Somebody has jumped elsewhere meanwhile.
  if (mine !== jumps) return
  const isStale = cache.isFetching({ queryKey: key }) > 0
  await cache.cancelQueries({ queryKey: key })
  cache.setQueryData<Loaded>(key, place)
  if (isStale) void cache.invalidateQueries({ queryKey: key })
}

/** Those around the message with the number `at`, or the newest. */
export const useMessages = (space: string, at: number | undefined) => {
  const query = useQuery({
    queryKey: keys.messages(space),
    // Once something is there, it is read again as it lies.
    queryFn: () => load(space, cache.getQueryData(keys.messages(space)) === undefined ? at : undefined),
  })
  const more = useCallback((end: "older" | "newer") => void loadMore(space, end), [space])
  const jumpTo = useCallback((seq: number | undefined) => jump(space, seq), [space])
  return { ...query, more, jumpTo }
}

const newest = async (space: string): Promise<Loaded> => {
  const page = await house.spaces.messages(space, { limit })
  return { items: page.items, older: page.next !== null, newer: false }
}
