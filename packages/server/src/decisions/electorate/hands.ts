/** Which person an approval really comes from. Two approvals need two people, whatever tokens and links exist. */
import { type Decision, Forbidden, type Missing, type Principal, type TokenId, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { Principals } from "../../access/identity/Principals.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import type { Reader } from "../../access/rights/Viewer.ts"
import type { makeEligibility } from "./eligibility.ts"
import { type DecisionRow, makeRows } from "../rows.ts"

export const refused = (id: string, rule: string, instead: string, action = "answer") =>
  new Forbidden({ action, resource: `decisions/${id}`, rule, instead })

/** `get`: the decision as its reader sees it. */
export const makeHands = Effect.fnUntraced(function* (
  eligibility: Effect.Success<typeof makeEligibility>,
  get: (id: string, reader: Reader) => Effect.Effect<Decision, Missing>,
) {
  const principals = yield* Principals
  const tokens = yield* Tokens
  const rows = yield* makeRows

  /**
   * Which person really gives an approval: the bearer, or the one who made the token for them after the question was
   * asked. The asker must not be that person, and two approvals need two such people.
   */
  const handOf = Effect.fnUntraced(function* (one: DecisionRow, by: Principal, token: TokenId | null | undefined) {
    if (one.kind !== "approval") return by.id
    const maker = token === undefined || token === null ? undefined : yield* tokens.madeSince(token, one.askedAt)
    const hand = maker ?? by.id
    const own = "Answer it with a token from before, or by the link that the house sends to your notify address."
    if (hand === one.askedBy)
      return yield* refused(
        one.id,
        "not by whoever asked",
        `The one who asked made this token for you afterwards. ${own}`,
      )
    const others = ((yield* rows.approvers([one])).get(one.id) ?? []).filter((it) => it.principal !== by.id)
    if (others.some((it) => [it.hand, it.principal].includes(hand) || it.hand === by.id))
      return yield* refused(
        one.id,
        "two people are two",
        `The other approval and this one are of one hand: one of them was given under a token that the other person made since it was asked. ${own}`,
      )
    return hand
  })

  /**
   * A link answers as the person it is for: only that person gets it, while they may answer, and by a token that nobody
   * else made for them after the question was asked.
   */
  const mayLink = Effect.fnUntraced(function* (
    id: string,
    reader: Reader,
    { token, whom }: { readonly token: TokenId | null; readonly whom: string | undefined },
  ) {
    const me = reader.principal
    const decision = yield* get(id, reader)
    if (decision.state !== "open") return yield* new WrongState({ detail: `This decision is ${decision.state}.` })
    const unlinked = (rule: string, instead: string) => refused(decision.id, rule, instead, "make a link to")
    const bearer = whom === undefined ? me : yield* principals.get(whom)
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
    if (one !== undefined) yield* handOf(one, me, token)
    if (one === undefined || (token !== null && (yield* tokens.madeSince(token, one.askedAt)) !== undefined))
      return yield* unlinked(
        "only your own token",
        "Somebody else made this token for you after the question was asked, so it cannot make a link to it.",
      )
    return decision
  })

  return { handOf, mayLink }
})
