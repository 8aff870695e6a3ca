/** Whether an answer fits its question. Pure, except for checking the schema. */
import { BadInput, type Decision, type JsonSchema, type NewAnswer, Reach, reachesFurther } from "@stoa/contract"
import { checkValue, faultsIn, faultText } from "@stoa/tools"
import { Effect } from "effect"
import { type FullRow, inputDigestOf, isOfPerson } from "./rows.ts"

type Issue = BadInput["issues"][number]
const bad = (path: string, message: string): Issue => ({ path, message })

/** What is wrong with an answer, apart from its value. */
const fault = (one: FullRow, answer: NewAnswer, byLink: boolean): Issue | undefined => {
  const { input, inputDigest, reach, value, verdict } = answer
  if (one.kind === "approval" && verdict === "submit")
    return bad("verdict", "must be approve or deny: this is an approval")
  if (one.kind !== "approval" && verdict === "approve")
    return bad("verdict", "must be submit, with a value, or deny: this is a form")
  if (verdict === "submit" && value === undefined) return bad("value", "is required with the verdict submit")
  if (verdict !== "submit" && value !== undefined) return bad("value", "is only for forms; edit an approval with input")
  if (input !== undefined && verdict !== "approve") return bad("input", 'is only allowed with the verdict "approve"')
  if (input !== undefined && one.call === null) return bad("input", "is only allowed if the decision is about a call")
  // What a person does is in their name: whoever approves cannot make it something else.
  if (input !== undefined && isOfPerson(one))
    return bad(
      "input",
      "cannot be changed: the call runs in a person's name; approve it as it is, or deny it and say what to change",
    )
  if (reach === "run" && one.run === null) return bad("reach", "no run asks for this call; use once or always")
  // A stolen link must allow no more than yes or no to this one call.
  if (byLink && reach !== undefined && reach !== "once")
    return bad("reach", "a link carries one verdict on one call; approve from now on under your own token")
  if (byLink && input !== undefined)
    return bad("input", "a link cannot change the input; use your own token to edit it")
  const reaches = reach === "always" || reach === "run"
  if (reaches && (verdict !== "approve" || one.fingerprint === null))
    return bad("reach", "only an approval of a tool can reach beyond one call")
  if (reaches && one.people > 1)
    return bad("reach", "must be once: a tool that needs two people is approved call by call")
  if (reach !== undefined && reachesFurther(reach, one.maxReach))
    return bad(
      "reach",
      one.maxReach === "once"
        ? `must be once: ${one.tool} is approved call by call, because its input is what you approve`
        : `must be once or ${one.maxReach}: an approval of ${one.tool} reaches no further`,
    )
  if (inputDigest !== undefined && (one.input === null || inputDigest !== inputDigestOf(one.input)))
    return bad("inputDigest", "is not that of this input, so something else was shown: read the decision again")
  if (input !== undefined && one.people > 1)
    return bad("input", "cannot be changed if two people must approve; approve it as it is, or deny it")
  return undefined
}

/**
 * What an approval may contain besides its verdict. `mayAlways`: by somebody who may give a standing approval.
 * `mayCall`: by somebody who may call the tool.
 */
export const optionsOf = (
  one: FullRow,
  may: { readonly byLink: boolean; readonly mayAlways: boolean; readonly mayCall: boolean },
): NonNullable<Decision["options"]> => {
  const fits = (more: Partial<NewAnswer>) => fault(one, { verdict: "approve", ...more }, may.byLink) === undefined
  return {
    edit: may.mayCall && fits({ input: {} }),
    reaches: Reach.literals.filter((reach) => fits({ reach }) && (reach !== "always" || may.mayAlways)),
  }
}

export const checkAnswer = Effect.fnUntraced(function* (one: FullRow, answer: NewAnswer, byLink: boolean) {
  const found = fault(one, answer, byLink)
  if (found !== undefined) return yield* new BadInput({ issues: [found] })
  const given = answer.verdict === "submit" ? answer.value : answer.input
  if (one.schema === null || given === undefined) return
  const path = answer.verdict === "submit" ? "value" : "input"
  const misfit = yield* checkValue(JSON.parse(one.schema) as JsonSchema, given)
  if (misfit === undefined) return
  return yield* new BadInput({
    issues: faultsIn(misfit).map((one) => bad(one.path === "" ? path : `${path}.${one.path}`, faultText(one))),
  })
})
