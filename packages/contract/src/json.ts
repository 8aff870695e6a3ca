/** For reading foreign JSON: what is an object, and whether it can be walked at all. */

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Own keys only: `constructor` is an ordinary name. */
export const own = (value: JsonObject, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

/** Deeper than `most`, or circular. Iterative, because deep values exhaust the stack. */
export const isTooDeep = (value: unknown, most: number): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  let seen = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    const next: Array<unknown> = []
    for (const one of level)
      if (typeof one === "object" && one !== null) for (const child of Object.values(one)) next.push(child)
    // A value that shares a part many times is small in memory and endless to walk.
    seen += next.length
    if (seen > 5_000_000) return true
    level = next
  }
  return false
}
