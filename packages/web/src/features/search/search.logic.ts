/** Which named things match a query. Pure. */
export interface Named {
  readonly name: string
  readonly more?: string
}

const plain = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase()

/** Every word of the query occurs in it; names that begin with the first word come first, otherwise in their order. */
export const searchByName = <A extends Named>(items: ReadonlyArray<A>, q: string, most: number): ReadonlyArray<A> => {
  const words = plain(q).split(/\s+/).filter(Boolean)
  const [first] = words
  if (first === undefined) return []
  const found = items.filter(({ more = "", name }) => {
    const text = plain(`${name} ${more}`)
    return words.every((word) => text.includes(word))
  })
  const begins = (one: A) => plain(one.name).startsWith(first)
  return [...found.filter(begins), ...found.filter((one) => !begins(one))].slice(0, most)
}

/** A text without markup, for a line of a list. */
export const plainOf = (text: string): string => text.replaceAll(/(\*\*|__|`+|^#+ |^> )/gm, "")
