import { Api, Caller, DecisionLink } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Approvals } from "../../../../decisions/Approvals.ts"
import { Decisions } from "../../../../decisions/Decisions.ts"
import { DecisionLinks } from "../../../../decisions/DecisionLinks.ts"
import { Journal } from "../../../../store/journal/Journal.ts"
import { Upkeep } from "../../../Upkeep.ts"

export const decisionsHandlers = HttpApiBuilder.group(
  Api,
  "decisions",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const decisions = yield* Decisions
    const approvals = yield* Approvals
    const links = yield* DecisionLinks
    const upkeep = yield* Upkeep
    const { transact } = yield* Journal
    const reader = grants.viewer("decisions")
    return handlers.handleAll({
      list: ({ query }) => Effect.flatMap(reader, (who) => decisions.list(who, query)),
      get: ({ params }) => Effect.flatMap(reader, (who) => decisions.get(params.decision, who)),
      answer: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* decisions.show(yield* transact(decisions.answer(params.decision, yield* Caller, payload)))
      }),
      link: Effect.fnUntraced(function* ({ params, payload }) {
        const { principal: me, token } = yield* Caller
        const decision = yield* decisions.mayLink(params.decision, yield* reader, { token, whom: payload.principal })
        const url = `${upkeep.address()}/d/${links.make(decision.id, me.id)}`
        return new DecisionLink({ url, principal: me.id, expiresAt: decision.expiresAt })
      }),
      approvals: ({ query }) => Effect.flatMap(reader, (who) => approvals.list(who, query)),
      revoke: ({ params }) => Effect.flatMap(reader, (who) => transact(approvals.revoke(params.approval, who))),
    })
  }),
)
