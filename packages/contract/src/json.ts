/** What reading somebody else's JSON needs: what is an object, and whether it can be walked at all. */

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Own keys only: `constructor` is a name like any other. */
export const own = (value: JsonObject, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

/** Deeper than `most`, or in a circle. Walks with a list of its own, because the stack is what deep values exhaust. */
export const isTooDeep = (value: unknown, most: number): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  let seen = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    const next: Array<unknown> = []
    for (const one of level)
      if (typeof one === "object" && one !== null) for (const child of Object.values(one)) next.push(child)
    // A value shared many times over is small to hold and endless to walk.
    seen += next.length
    if (seen > 5_000_000) return true
    level = next
  }
  return false
}
