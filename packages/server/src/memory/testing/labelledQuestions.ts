/**
 * Our own labelled questions: records of eight invented conversations, and which records answer what. For tests and the
 * bench.
 */
import { readFileSync } from "node:fs"

export interface LabelledRecord {
  readonly key: string
  readonly content: string
}
export interface LabelledQuestion {
  readonly sort: string
  readonly question: string
  readonly answers: ReadonlyArray<string>
}

const lines = readFileSync(new URL("questions.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as LabelledRecord | LabelledQuestion)

export const records = lines.filter((line): line is LabelledRecord => "key" in line)
export const questions = lines.filter((line): line is LabelledQuestion => "sort" in line)

/** The share of the right records among the first ten results, by the sort of question. */
export const recallBySort = (found: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyMap<string, number> => {
  const sorts = new Map<string, Array<number>>()
  for (const { answers, question, sort } of questions) {
    const first = (found.get(question) ?? []).slice(0, 10)
    const share = answers.filter((key) => first.includes(key)).length / answers.length
    sorts.set(sort, [...(sorts.get(sort) ?? []), share])
  }
  return new Map([...sorts].map(([sort, shares]) => [sort, shares.reduce((sum, one) => sum + one, 0) / shares.length]))
}
