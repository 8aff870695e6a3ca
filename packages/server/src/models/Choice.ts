/** Which model somebody means by a few words. Pure. */

export interface Choosable {
  readonly name: string
  /** The provider's own name for it. */
  readonly model: string | null
  readonly keywords: ReadonlyArray<string>
}

export interface Choice<M> {
  readonly chosen: M
  /** Other candidates, the most likely first. */
  readonly alternatives: ReadonlyArray<M>
}

const folded = (text: string): string => text.normalize("NFKC").trim().toLowerCase()

/** Exact match, prefix, or substring (S2-55). */
const fit = (word: string, query: string): number =>
  word === query ? 1 : word.startsWith(query) ? 0.9 : word.includes(query) ? 0.7 : 0

const maxAlternatives = 3

/**
 * The best score wins; ties go to the model whose own name matches best, then to the first by name, so that the result
 * is always the same.
 */
export const chooseModel = <M extends Choosable>(query: string, models: ReadonlyArray<M>): Choice<M> | undefined => {
  const wanted = folded(query)
  if (wanted === "") return undefined
  const ranked = models
    .map((one) => {
      const own = fit(folded(one.name), wanted)
      const others = [one.model ?? "", ...one.keywords].map((word) => fit(folded(word), wanted))
      return { one, own, score: Math.max(own, ...others) }
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || b.own - a.own || (a.one.name < b.one.name ? -1 : 1))
    .map(({ one }) => one)
  const [chosen, ...rest] = ranked
  return chosen === undefined ? undefined : { chosen, alternatives: rest.slice(0, maxAlternatives) }
}
