/** Whether a decision waits for a person, and what the bearer of that person's link may see of it. */
import { type Decision, type DecisionId, Forbidden, type Principal } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { isOpen } from "../lifecycle.ts"
import { type FullRow, makeRows } from "../rows.ts"
import type { makeEligibility } from "./eligibility.ts"

/** What a link that we signed says: for which decision it is valid, and whom it stands for. */
export interface LinkSubject {
  readonly decision: DecisionId
  readonly principal: Principal
}

/** While the person is asked, the decision; afterwards nothing but that it is over. */
export type LinkedDecision = { readonly is: "asked"; readonly decision: Decision } | { readonly is: "over" }

export const makeLinkedDecisions = Effect.fnUntraced(function* (
  eligibility: Effect.Success<typeof makeEligibility>,
  showByLink: (one: FullRow, principal: Principal) => Effect.Effect<Decision>,
) {
  const rows = yield* makeRows

  const mayAnswer = (one: FullRow) => Effect.map(eligibility.mayAnswer([one]), (all) => all.get(one.id) ?? [])

  /** `over`: it is closed or late, or this person has approved it already. `none`: it was never theirs. */
  const standing = Effect.fnUntraced(function* (one: FullRow | undefined, principal: Principal) {
    if (one === undefined || principal.kind !== "person") return "none"
    const given = (yield* rows.approvers([one])).get(one.id) ?? []
    const late = one.expiresAt <= DateTime.formatIso(yield* DateTime.now)
    if (!isOpen(one.state) || late || given.some((it) => it.principal === principal.id)) return "over"
    return (yield* mayAnswer(one)).includes(principal.id) ? "asked" : "none"
  })

  const byLink = Effect.fn("Decisions.byLink")(function* (
    { decision, principal }: LinkSubject,
    action: "read" | "answer",
  ): Effect.fn.Return<LinkedDecision, Forbidden> {
    const one = yield* rows.fullById(decision)
    const is = yield* standing(one, principal)
    if (one === undefined || is === "none")
      return yield* new Forbidden({ action, resource: `decisions/${decision}`, rule: "not asked" })
    return is === "over" ? { is } : { is, decision: yield* showByLink(one, principal) }
  })

  const isAnswerable = Effect.fnUntraced(function* (id: string) {
    const one = yield* rows.fullById(id)
    return one === undefined || !isOpen(one.state) || (yield* mayAnswer(one)).length > 0
  })

  return { mayAnswer, byLink, isAnswerable }
})
