/** The subject of a row of the trail: ids with a known name are shown by it, others are cut in the middle. Pure. */

export interface SubjectPart {
  readonly text: string
  /** The complete id behind it. */
  readonly id?: string
}

const ids = /([a-z]{2,5}_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/

export const cutId = (id: string): string => (id.length <= 17 ? id : `${id.slice(0, 12)}…${id.slice(-4)}`)

/** `nameOf`: the name of an id; undefined if unknown. */
export const subjectPartsOf = (
  resource: string,
  nameOf: (id: string) => string | undefined,
): ReadonlyArray<SubjectPart> =>
  resource
    .split(ids)
    .filter((text) => text !== "")
    .map((text) => (ids.test(text) ? { text: nameOf(text) ?? cutId(text), id: text } : { text }))
