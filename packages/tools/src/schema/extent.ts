/** How big a value is, roughly and without recursion: asked of every call, before anything that recurses sees it. */

export interface Extent {
  /** Deeper than anybody needs, and deep enough to break what walks it. */
  readonly tooDeep: boolean
  readonly large: boolean
}

export const deepest = 200
const largest = 64 * 1024

export const extentOf = (value: unknown): Extent => {
  let size = 0
  let level: Array<unknown> = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return { tooDeep: true, large: true }
    const next: Array<unknown> = []
    for (const one of level) {
      if (typeof one === "string") size += one.length
      else if (typeof one === "object" && one !== null)
        for (const [key, inner] of Object.entries(one)) {
          size += key.length + 2
          next.push(inner)
        }
      else size += 4
    }
    // A value of a million items has answered the question long before it has been walked.
    if (size > 64 * largest) return { tooDeep: false, large: true }
    level = next
  }
  return { tooDeep: false, large: size > largest }
}

/** Deeper than anything that recurses should be given. */
export const isTooDeep = (value: unknown): boolean => extentOf(value).tooDeep
