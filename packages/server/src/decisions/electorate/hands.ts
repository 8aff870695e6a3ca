/** Which person an approval really comes from. Two approvals need two people, whatever tokens and links exist. */
import { Forbidden, type Principal, type TokenId } from "@stoa/contract"
import { Effect } from "effect"
import { Tokens } from "../../access/identity/Tokens.ts"
import { type DecisionRow, makeRows } from "../rows.ts"

export const refused = (id: string, rule: string, instead: string, action = "answer") =>
  new Forbidden({ action, resource: `decisions/${id}`, rule, instead })

export const makeHands = Effect.gen(function* () {
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

  /** A link needs a token that nobody else made for its bearer after the question was asked. */
  const mayLink = Effect.fnUntraced(function* (id: string, by: Principal, token: TokenId | null) {
    const one = yield* rows.byId(id)
    if (one !== undefined) yield* handOf(one, by, token)
    if (one === undefined || (token !== null && (yield* tokens.madeSince(token, one.askedAt)) !== undefined))
      return yield* refused(
        id,
        "only your own token",
        "Somebody else made this token for you after the question was asked, so it cannot make a link to it.",
        "make a link to",
      )
  })

  return { handOf, mayLink }
})
