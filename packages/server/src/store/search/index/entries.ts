/** What is stored of a searchable text: its rows, their terms and their tokens. Pure. */
import { hash } from "node:crypto"
import { speakerOf, termsOf } from "../text/terms.ts"

export interface Entry {
  /** What one search covers, such as `memory:<owner>` or `space:<id>`. */
  readonly scope: string
  /** What is found: the id of a record or a message. */
  readonly ref: string
  /** Entries of a series score with the words of their neighbours. Null: it stands alone. */
  readonly series: string | null
  /** Its order in the series, such as `012`; without one, it goes to the end. */
  readonly order?: string
  /** Its name or its author: words in it count separately. */
  readonly label: string
  readonly text: string
  /** What a search can be limited to, such as `kind:note` or `tag:travel`. */
  readonly filters?: ReadonlyArray<string>
}

export interface Part {
  readonly terms: ReadonlyArray<string>
  readonly labels: ReadonlyArray<string>
  readonly tokens: ReadonlyArray<string>
}

/** Longer texts are split into passages; the score of a text is that of its best passage. */
const whole = 250
const passage = 200
/** The most passages of one text, which covers the largest record; the rest is stored and shown, but not searched. */
const most = 250

/** No term can be equal to this token: terms have no `_`. */
export const filterToken = (filter: string): string => `_f${hash("sha256", filter, "hex").slice(0, 16)}`
export const scopeToken = (scope: number): string => `_${scope}`
/** The first part of a scope's name, such as `space`: all scopes of one noun. */
export const nounToken = (scope: string): string => `_n${scope.slice(0, scope.indexOf(":"))}`

const passages = (terms: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  terms.length <= whole
    ? [terms]
    : Array.from({ length: Math.min(most, Math.ceil(terms.length / passage)) }, (_, at) =>
        terms.slice(at * passage, (at + 1) * passage),
      )

/** How many rows a text has. */
export const passagesIn = (text: string): number => passages(termsOf(speakerOf(text).rest)).length

/** Without the token of its scope, whose number only the database knows. */
export const partsOf = (entry: Entry): ReadonlyArray<Part> => {
  const { name, rest } = speakerOf(entry.text)
  const labels = [...new Set(termsOf(`${entry.label} ${name}`))]
  const fixed = [nounToken(entry.scope), ...(entry.filters ?? []).map(filterToken)]
  return passages(termsOf(rest)).map((terms) => ({
    terms,
    labels,
    tokens: [...new Set([...fixed, ...labels, ...terms])].toSorted(),
  }))
}
