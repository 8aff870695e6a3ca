/** The messages of a space: the newest at first, more at either end when the reader gets there. */
import { useQuery } from "@tanstack/react-query"
import { useCallback } from "react"
import { cache, keys } from "../../../feed/cache.ts"
import { house } from "../../../feed/house.ts"
import { mergeMessages, type LoadedMessages, maxLoaded, withNewer, withOlder } from "../../../feed/messages.logic.ts"
import type { Message } from "../../../feed/types.ts"

const limit = 100

/** Loaded messages are reloaded from the first one on, so that the reader stays at the same position. */
const load = async (space: string, at: number | undefined): Promise<LoadedMessages> => {
  const known = cache.getQueryData<LoadedMessages>(keys.messages(space))
  const first = known?.items[0]
  if (known !== undefined && first !== undefined && at === undefined) {
    let items: ReadonlyArray<Message> = []
    let after: number | undefined = first.seq - 1
    let more = true
    while (more && items.length < maxLoaded) {
      const page = await house.spaces.messages(space, { limit, after })
      items = mergeMessages(items, page.items)
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

/** Loads more at one end, if there is more and it is not being loaded. */
const loadMore = async (space: string, end: "older" | "newer"): Promise<void> => {
  const key = keys.messages(space)
  const loaded = cache.getQueryData<LoadedMessages>(key)
  const edge = end === "older" ? loaded?.items[0] : loaded?.items.at(-1)
  if (busy.has(space) || loaded?.[end] !== true || edge === undefined) return
  busy.add(space)
  try {
    const page = await house.spaces.messages(
      space,
      end === "older" ? { limit, before: edge.seq } : { limit, after: edge.seq },
    )
    const join = end === "older" ? withOlder : withNewer
    cache.setQueryData<LoadedMessages>(key, (old) => {
      // The reader may have jumped meanwhile: then this page belongs to a list that is gone.
      if (old === undefined || loaded === undefined) return old
      const now = end === "older" ? old.items[0] : old.items.at(-1)
      if (now?.seq === edge.seq) return join(old, page.items, page.next !== null)
      // Or old messages were dropped meanwhile, because much was said: then both must overlap.
      const isPart = loaded.items.some(({ seq }) => seq === now?.seq)
      return isPart
        ? join({ ...old, items: mergeMessages(loaded.items, old.items) }, page.items, page.next !== null)
        : old
    })
  } catch {
    // Requested again when the reader scrolls again.
  } finally {
    busy.delete(space)
  }
}

let jumps = 0

/** To the message with this number, or to the newest. */
const jump = async (space: string, seq: number | undefined): Promise<void> => {
  const mine = ++jumps
  const key = keys.messages(space)
  const loaded = cache.getQueryData<LoadedMessages>(key)
  // The first messages are still loading.
  if (loaded === undefined) return
  const has = seq === undefined ? !loaded.newer : loaded.items.some((one) => one.seq === seq)
  if (has) return
  // A request for another position is under way, and would replace this one.
  await cache.cancelQueries({ queryKey: key })
  const place = await (seq === undefined ? newest(space) : load(space, seq))
  // The reader has jumped elsewhere meanwhile.
  if (mine !== jumps) return
  const isStale = cache.isFetching({ queryKey: key }) > 0
  await cache.cancelQueries({ queryKey: key })
  cache.setQueryData<LoadedMessages>(key, place)
  if (isStale) void cache.invalidateQueries({ queryKey: key })
}

/** The messages around number `at`, or the newest. */
export const useMessages = (space: string, at: number | undefined) => {
  const query = useQuery({
    queryKey: keys.messages(space),
    // Once messages are loaded, the same range is reloaded.
    queryFn: () => load(space, cache.getQueryData(keys.messages(space)) === undefined ? at : undefined),
  })
  const more = useCallback((end: "older" | "newer") => void loadMore(space, end), [space])
  const jumpTo = useCallback((seq: number | undefined) => jump(space, seq), [space])
  return { ...query, more, jumpTo }
}

const newest = async (space: string): Promise<LoadedMessages> => {
  const page = await house.spaces.messages(space, { limit })
  return { items: page.items, older: page.next !== null, newer: false }
}
