/** A message that is one word beginning with / so far: which tools it may mean. */
interface Callable {
  readonly name: string
  readonly description: string
}

export const slashOf = (text: string): string | undefined => /^\/(\S*)$/.exec(text)?.[1]

/** First those whose name begins with it, then those whose name contains it, then those whose description does. */
export const matchTools = <A extends Callable>(all: ReadonlyArray<A>, part: string): ReadonlyArray<A> => {
  const asked = part.toLowerCase()
  const rank = ({ description, name }: A) => {
    const at = name.toLowerCase().indexOf(asked)
    return at === 0 ? 0 : at > 0 ? 1 : description.toLowerCase().includes(asked) ? 2 : 3
  }
  return all.filter((one) => rank(one) < 3).toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
}

/** As many as there is room for, including the selected one. */
export const windowAt = (count: number, at: number, most: number): readonly [from: number, to: number] => {
  const from = Math.max(0, Math.min(at - Math.floor(most / 2), count - most))
  return [from, Math.min(count, from + most)]
}
