/** Ids by their beginnings: what a table shows, and what a person types back. Pure. */

const bareOf = (id: string): string => id.replace(/^[a-z]+_/, "")

/** The shortest beginnings that tell ids apart, eight digits at least. */
export const shortIds = (ids: ReadonlyArray<string>, least = 8): ReadonlyMap<string, string> => {
  const all = ids.map(bareOf)
  return new Map(
    ids.map((id) => {
      const bare = bareOf(id)
      let length = least
      while (length < bare.length && all.filter((one) => one.startsWith(bare.slice(0, length))).length > 1) length++
      return [id, bare.slice(0, length).replace(/-$/, "")]
    }),
  )
}

/** Nothing at all, or a letter or two, is a slip of the hand: what is printed has eight digits. */
export const isLongEnough = (given: string): boolean => bareOf(given).length >= 6

/** Which ids a person means by a beginning, with or without the prefix. */
export const matchingIds = (given: string, ids: ReadonlyArray<string>): ReadonlyArray<string> =>
  ids.filter((id) => id.startsWith(given) || bareOf(id).startsWith(given))
