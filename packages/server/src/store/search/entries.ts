/** What is stored of a text that can be found: its rows, their terms and their tokens. Pure. */
import { hash } from "node:crypto"
import { speakerOf, termsOf } from "./terms.ts"

export interface Entry {
  /** What one search covers, such as `memory:<owner>` or `space:<id>`. */
  readonly scope: string
  /** What is found: the id of a record or of a message. */
  readonly ref: string
  /** Entries that belong together in order lend each other their words. Null: it stands alone. */
  readonly series: string | null
  /** Where it stands in its series, such as `012`; without one, behind those that are there. */
  readonly order?: string
  /** What it is called or who said it: a word in it counts apart. */
  readonly label: string
  readonly text: string
  /** What a search can be narrowed to, such as `kind:note` or `tag:travel`. */
  readonly filters?: ReadonlyArray<string>
}

export interface Part {
  readonly terms: ReadonlyArray<string>
  readonly labels: ReadonlyArray<string>
  readonly tokens: ReadonlyArray<string>
}

/** Longer texts are cut into passages; a text's score is its best passage's. */
const whole = 250
const passage = 200
/** So much of one text is found by its words, which is all of the largest record; the rest is kept and shown, not searched. */
const most = 250

/** A token no term can be: terms have no `_`. */
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
