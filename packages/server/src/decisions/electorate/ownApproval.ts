/** People approve only with their own tokens and links (docs/decisions/0135-an-approval-is-a-persons-own.md). */
import { type Decision, Forbidden, type Missing, type Principal, type TokenId, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { Principals } from "../../access/identity/Principals.ts"
import { demandsOf, findVisible } from "../../access/rights/FindIfPermitted.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import type { makeEligibility } from "./eligibility.ts"
import type { DecisionReader } from "../decisionReads.ts"
import { type DecisionRow, makeRows } from "../rows.ts"

export const refused = (id: string, rule: string, instead: string, action = "answer") =>
  new Forbidden({ action, resource: `decisions/${id}`, rule, instead })

/** `get`: the decision as its viewer sees it. */
export const makeOwnApproval = Effect.fnUntraced(function* (
  eligibility: Effect.Success<typeof makeEligibility>,
  get: (id: string, viewer: DecisionReader) => Effect.Effect<Decision, Missing>,
) {
  const principals = yield* Principals
  const tokens = yield* Tokens
  const rows = yield* makeRows

  /**
   * Fails unless a person gives an approval themselves: by a token that nobody else has made for them, or renewed, since
   * the question was asked. Whoever made it has it too, and could approve as two people, or what they asked for.
   */
  const requireOwn = Effect.fnUntraced(function* (
    one: DecisionRow,
    by: Principal,
    token: TokenId | null,
    action = "answer",
  ) {
    if (one.kind !== "approval") return
    // Whoever stands in for a request without a token may be any program of the machine, also the one that asked.
    if (token === null)
      return yield* refused(
        one.id,
        "only your own token",
        "A request without a token cannot approve. Answer with your own token, or by the link that the house sends to your notify address.",
        action,
      )
    const maker = yield* tokens.madeSince(token, one.askedAfter)
    if (maker === undefined || maker === by.id) return
    const [rule, who] =
      maker === one.askedBy ? ["not by whoever asked", "The one who asked"] : ["only your own token", "Somebody else"]
    return yield* refused(
      one.id,
      rule,
      `${who} made this token for you after the question was asked. Answer with an older token, or by the link that the house sends to your notify address.`,
      action,
    )
  })

  /**
   * A link answers as the person it is for: only that person gets it, while they may answer, and by a token that nobody
   * else made for them after the question was asked.
   */
  const mayLink = Effect.fnUntraced(function* (
    id: string,
    viewer: DecisionReader,
    { token, whom }: { readonly token: TokenId | null; readonly whom: string | undefined },
  ) {
    const me = viewer.principal
    const decision = yield* get(id, viewer)
    if (decision.state !== "open") return yield* new WrongState({ detail: `This decision is ${decision.state}.` })
    const unlinked = (rule: string, instead: string) => refused(decision.id, rule, instead, "make a link to")
    const bearer =
      whom === undefined ? me : yield* findVisible(demandsOf(viewer), principals.get(whom), { ref: whom, self: me.id })
    if (bearer.id !== me.id)
      return yield* unlinked(
        "only the person themselves",
        `Only ${bearer.name} can ask for this link, under their own token; or the house sends it to the notify address in their people entry of the configuration file.`,
      )
    const one = yield* rows.fullById(decision.id)
    // Not the list of the decision, which names a hundred at most.
    const able = one === undefined ? [] : ((yield* eligibility.mayAnswer([one])).get(one.id) ?? [])
    if (me.kind !== "person" || !able.includes(me.id))
      return yield* unlinked("those who may answer", "Who may answer is in mayAnswer of the decision.")
    if (one !== undefined) yield* requireOwn(one, me, token, "make a link to")
    return decision
  })

  return { requireOwn, mayLink }
})
