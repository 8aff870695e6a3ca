/** A decision as a person reads it before answering: the whole question, the whole input, who may answer, and how. Pure. */
import { inputIn, nobodyMayAnswer, questionIn, reachWords, visibleJson, visibleLines } from "@stoa/contract"
import type { Stoa } from "@stoa/sdk"
import { fieldsOf, wordsOf } from "../input/form.ts"
import { nameOf, type Names } from "./names.ts"

/** As the house sends it. */
export type Decision = Awaited<ReturnType<Stoa["decisions"]["get"]>>

/** Texts of others stand behind a bar: none of their lines can look like one of the house's. */
const barred = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => `  | ${line}`)

const addAdmin = "stoa people add NAME --role admin"

/** The list of an approval is fixed when it is asked; a form is for those who are there when it is answered. */
export const nobody = ({ kind, space }: Pick<Decision, "kind" | "space">): string =>
  kind === "approval"
    ? `${nobodyMayAnswer} Add one with: ${addAdmin}.`
    : `Nobody may answer it: the caller cannot, and there is nobody else. Without an answer it expires. An admin whom you add now can answer it${
        space === null ? "" : ", and so can a person whom you add to its space"
      }: ${addAdmin}.`

const howTo = (decision: Decision, id: string): ReadonlyArray<string> => {
  if (decision.kind === "approval") {
    const edit = decision.options?.edit === true ? " (or --approve --input JSON to run it with other input)" : ""
    const further = (decision.options?.reaches ?? []).filter((reach) => reach !== "once")
    return [
      `stoa decide ${id} --approve${edit}`,
      ...further.map(
        (reach) => `stoa decide ${id} --approve --reach ${reach} (approves ${reachWords(decision, reach)})`,
      ),
      `stoa decide ${id} --deny --note TEXT`,
    ]
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

/** The house names so many who may answer; there may be more. */
const maxNamed = 100

/** Whether this caller may answer it; where that is not known, perhaps. */
const mayPerhaps = ({ mayAnswer }: Decision, me: string | undefined): boolean =>
  me === undefined || mayAnswer.length >= maxNamed || mayAnswer.some((one) => one === me)

/** Why this caller cannot answer an open decision, if that is known. */
export const unanswerable = (decision: Decision, me: string | undefined): string | undefined =>
  decision.mayAnswer.length === 0
    ? nobody(decision)
    : mayPerhaps(decision, me)
      ? undefined
      : "You may not answer it: ask one of them."

/** How it ended, in a few words. */
export const endOf = ({ answeredBy, state, verdict }: Decision, known: Names): string =>
  verdict === null ? state : `${state} (${verdict} by ${nameOf(answeredBy, known) ?? "the house"})`

/** `me`: who reads it, if that is known. */
export const decisionLines = (decision: Decision, known: Names, id: string, me?: string): ReadonlyArray<string> => {
  const { answeredAt, approvals, escalatedAt, escalatesAt, kind, mayAnswer, note, options, people, state } = decision
  const isOpen = state === "open"
  const cannot = unanswerable(decision, me)
  const editable = isOpen && cannot === undefined && options?.edit === true
  const schema = kind !== "approval" || editable ? decision.schema : undefined
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
    ...(input?.diffs ?? []).flatMap((diff) => [`  ${diff.heading}`, ...barred(diff.lines.map(({ text }) => text))]),
    ...fields.map((field) => `  field ${visibleJson(field.name)}: ${wordsOf(field)}`),
    ...(schema === undefined ? [] : [`  ${kind === "approval" ? "an edited input" : "the value"} must fit:`]),
    ...(schema === undefined ? [] : barred(visibleJson(schema, 2).split("\n"))),
    ...(people > 1 ? [`  needs ${people} people; approved by ${names(approvals) || "nobody yet"}`] : []),
    ...(escalatesAt === null || !isOpen
      ? []
      : [escalatedAt === null ? `  goes to others at ${escalatesAt}` : `  went to others at ${escalatedAt}`]),
    ...(isOpen && mayAnswer.length > 0 ? [`  may answer: ${names(mayAnswer)}`] : []),
    ...(!isOpen ? [] : cannot === undefined ? howTo(decision, id).map((line) => `  answer: ${line}`) : [`  ${cannot}`]),
    ...(isOpen ? [] : [`  ${endOf(decision, known)}${answeredAt === null ? "" : ` at ${answeredAt}`}`]),
    ...(isOpen || note === null ? [] : ["  note:", ...barred(visibleLines(note))]),
  ]
}
