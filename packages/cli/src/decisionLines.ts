/** A decision as a person reads it before answering: the whole question, the whole input, who may answer, and how. Pure. */
import { inputIn, questionIn, visibleJson } from "@stoa/contract"
import type { Stoa } from "@stoa/sdk"
import { fieldsOf, wordsOf } from "./form.ts"
import { nameOf, type Names } from "./names.ts"

/** As the house sends it. */
export type Decision = Awaited<ReturnType<Stoa["decisions"]["get"]>>

/** Texts of others stand behind a bar: none of their lines can look like one of the house's. */
const barred = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => `  | ${line}`)

/** The shortest prefixes that distinguish the ids, eight digits at least. */
export const shortIds = (ids: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(
    ids.map((id) => {
      const bare = id.replace(/^dcs_/, "")
      let length = 8
      while (length < bare.length && ids.filter((one) => one.slice(4).startsWith(bare.slice(0, length))).length > 1)
        length++
      return [id, bare.slice(0, length).replace(/-$/, "")]
    }),
  )

/** Which decisions a person means by the beginning of an id, with or without its prefix. */
export const meant = (given: string, ids: ReadonlyArray<string>): ReadonlyArray<string> =>
  ids.filter((id) => id.startsWith(given) || id.startsWith(`dcs_${given}`))

export const nobody =
  "Nobody may answer it: the caller cannot, and there is nobody else. Without an answer it is refused. Add a second admin with: stoa people add NAME --role admin; then make the call again."

const howTo = (decision: Decision, id: string): ReadonlyArray<string> => {
  if (decision.kind === "approval") {
    const edit = decision.people > 1 ? "" : " (or --approve --input JSON to run it with other input)"
    return [`stoa decide ${id} --approve${edit}`, `stoa decide ${id} --deny --note TEXT`]
  }
  const fields = fieldsOf(decision.schema)
  return [
    ...(fields.length === 0
      ? []
      : [`stoa decide ${id} ${fields.map(({ name }) => `--field ${visibleJson(name)}=…`).join(" ")}`]),
    `stoa decide ${id} --value JSON`,
    `stoa decide ${id} --deny`,
  ]
}

export const decisionLines = (decision: Decision, known: Names, id: string): ReadonlyArray<string> => {
  const { approvals, escalatedAt, escalatesAt, kind, mayAnswer, people, schema, state } = decision
  const question = questionIn(decision)
  const input = inputIn(decision)
  const fields = kind === "approval" ? [] : fieldsOf(schema)
  const names = (ids: ReadonlyArray<string>) => ids.map((one) => nameOf(one, known)).join(", ")
  return [
    `${decision.id}  ${kind}  ${state}  until ${decision.expiresAt}`,
    ...(question.heading === null
      ? question.lines.map((line) => `  ${line}`)
      : [`  ${question.heading}`, ...barred(question.lines)]),
    ...(input === null ? [] : [`  ${input.heading}`, ...barred(input.lines)]),
    ...fields.map((field) => `  field ${visibleJson(field.name)}: ${wordsOf(field)}`),
    ...(schema === undefined ? [] : [`  ${kind === "approval" ? "an edited input" : "the value"} must fit:`]),
    ...(schema === undefined ? [] : barred(visibleJson(schema, 2).split("\n"))),
    ...(people > 1 ? [`  needs ${people} people; approved by ${names(approvals) || "nobody yet"}`] : []),
    ...(escalatesAt === null || state !== "open"
      ? []
      : [escalatedAt === null ? `  goes to others at ${escalatesAt}` : `  went to others at ${escalatedAt}`]),
    ...(state !== "open" ? [] : mayAnswer.length === 0 ? [`  ${nobody}`] : [`  may answer: ${names(mayAnswer)}`]),
    ...(state !== "open" || mayAnswer.length === 0 ? [] : howTo(decision, id).map((line) => `  answer: ${line}`)),
  ]
}
