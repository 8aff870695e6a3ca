/**
 * Reloads what an event has made stale. One request per key at a time: however fast events come, each answer is
 * awaited.
 */
import type { QueryClient } from "@tanstack/react-query"

export const makeRefresher = (cache: QueryClient) => {
  /** Keys that are being reloaded, and whether they became stale again meanwhile. */
  const reading = new Map<string, boolean>()

  /** A first load is not restarted while it is under way, but its answer may be older than the event. */
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
