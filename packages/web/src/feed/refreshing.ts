/** Reads again what an event has made stale. One reading of a key at a time: however fast events come, an answer is waited for. */
import type { QueryClient } from "@tanstack/react-query"

export const refreshing = (cache: QueryClient) => {
  /** Keys that are being read again, and whether they became stale once more meanwhile. */
  const reading = new Map<string, boolean>()

  /** A first reading is not begun anew while it is under way, and may have been answered before what happened. */
  const firstReadings = (key: ReadonlyArray<string>) =>
    cache
      .getQueryCache()
      .findAll({ queryKey: key, fetchStatus: "fetching" })
      .filter(({ state }) => state.data === undefined)
      .flatMap(({ promise }) => (promise === undefined ? [] : [promise]))

  const refresh = async (key: ReadonlyArray<string>): Promise<void> => {
    const name = key.join(" ")
    if (reading.has(name)) return void reading.set(name, true)
    reading.set(name, false)
    await Promise.allSettled(firstReadings(key))
    await cache.invalidateQueries({ queryKey: key })
    const again = reading.get(name) === true
    reading.delete(name)
    if (again) await refresh(key)
  }
  return refresh
}
