/** Who must approve a call, and until when: as the tool says, unless a policy that asks says otherwise. */
import {
  type ApprovalRule,
  type Caller,
  furthestReach,
  type Judgement,
  type PrincipalId,
  type Reach,
  reachesFurther,
  type Role,
} from "@stoa/contract"
import { Effect } from "effect"
import { Principals } from "../../access/identity/Principals.ts"
import { type ApprovalFor, Rules } from "../../access/rights/Rules.ts"
import type { NewDecision } from "../../decisions/NewDecision.ts"
import type { CatalogueTool } from "../catalogue/Traits.ts"

export const makeApprovalRule = Effect.gen(function* () {
  const rules = yield* Rules
  const principals = yield* Principals

  // Policies change only with the epoch, so they are cached for one epoch.
  let known: { readonly epoch: number; readonly approvalFor: ApprovalFor } | undefined
  const rulesAt = (epoch: number): Effect.Effect<ApprovalFor> =>
    known?.epoch === epoch
      ? Effect.succeed(known.approvalFor)
      : Effect.map(rules.approvals, (approvalFor) => {
          known = { epoch, approvalFor }
          return approvalFor
        })

  const of = Effect.fnUntraced(function* ({ approval, tool }: CatalogueTool, { epoch, principal }: Caller["Service"]) {
    const stated = (yield* rulesAt(epoch))(principal, `tools/${tool.definition.name}`)
    if (stated === undefined) return approval ?? {}
    const { approver: _one, approvers: _several, ...rest } = approval ?? {}
    const named = stated.approver !== undefined || stated.approvers !== undefined
    const both = { ...(named ? rest : approval), ...stated }
    // Neither of the two lets an approval reach further than the other allows.
    const reach = [approval?.reach, stated.reach].filter((one) => one !== undefined)
    return reach.length === 2 ? { ...both, reach: reachesFurther(reach[0]!, reach[1]!) ? reach[1]! : reach[0]! } : both
  })

  /** How far one approval of a call reaches now. */
  const reachOf = ({ tool }: CatalogueTool, rule: ApprovalRule): Reach => furthestReach(rule, tool.definition.riskLevel)

  /** Names as principals. A name that no principal has is left out: it lets nobody in. */
  const principalsOf = (names: ReadonlyArray<string>) =>
    Effect.map(
      Effect.forEach(names, (name) => Effect.option(principals.get(name))),
      (found) => found.flatMap((one) => (one._tag === "Some" ? [one.value.id] : [])),
    )

  /** The settings of a question under such a rule. */
  const asked = Effect.fnUntraced(function* (
    rule: ApprovalRule,
  ): Effect.fn.Return<Pick<NewDecision, "named" | "escalation">> {
    const { approver, approvers, escalation } = rule
    const names = [...(approver === undefined ? [] : [approver]), ...(approvers ?? [])]
    const ids: ReadonlyArray<PrincipalId> = yield* principalsOf([...new Set(names)])
    const named = names.length === 0 ? {} : { named: ids }
    if (escalation === undefined) return named
    const roles = escalation.to.filter((one): one is `role:${Role}` => one.startsWith("role:"))
    const people: ReadonlyArray<PrincipalId> = yield* principalsOf(
      escalation.to.filter((one) => !one.startsWith("role:")),
    )
    return { ...named, escalation: { milliseconds: escalation.afterSeconds * 1000, to: [...people, ...roles] } }
  })

  /** Why a person is asked: because of a rule, the tool, or its risk. */
  const whyAsked = (found: CatalogueTool, { verdict, rule }: Judgement): string => {
    const { requiresApproval, riskLevel } = found.tool.definition
    return verdict === "ask" ? rule : requiresApproval ? "tool" : `risk:${riskLevel}`
  }

  return { of, reachOf, asked, whyAsked }
})
