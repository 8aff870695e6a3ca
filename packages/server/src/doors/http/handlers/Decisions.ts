import { Api, Caller, DecisionLink, Forbidden, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../access/rights/Grants.ts"
import { Principals } from "../../../access/identity/Principals.ts"
import { Approvals } from "../../../decisions/Approvals.ts"
import { Decisions } from "../../../decisions/Decisions.ts"
import { DecisionLinks } from "../../../decisions/DecisionLinks.ts"
import { Journal } from "../../../store/journal/Journal.ts"
import { Upkeep } from "../../Upkeep.ts"

export const decisionsHandlers = HttpApiBuilder.group(
  Api,
  "decisions",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const principals = yield* Principals
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
        const { principal } = yield* Caller
        return yield* transact(decisions.answer(params.decision, principal, payload))
      }),
      link: Effect.fnUntraced(function* ({ params, payload }) {
        const who = yield* reader
        const decision = yield* decisions.get(params.decision, who)
        if (decision.state !== "open") return yield* new WrongState({ detail: `This decision is ${decision.state}.` })
        const whom = payload.principal === undefined ? who.principal : yield* principals.get(payload.principal)
        // A link acts as whoever it is for: one may make one for oneself, and an admin for those who may answer.
        if ((whom.id !== who.principal.id && !who.all) || !decision.mayAnswer.includes(whom.id))
          return yield* new Forbidden({
            action: "make a link to",
            resource: `decisions/${decision.id}`,
            rule: "those who may answer",
            instead: "One makes a link for oneself, and an admin one for somebody in mayAnswer.",
          })
        const url = `${upkeep.address()}/d/${links.make(decision.id, whom.id)}`
        return new DecisionLink({ url, principal: whom.id, expiresAt: decision.expiresAt })
      }),
      approvals: ({ query }) => Effect.flatMap(reader, (who) => approvals.list(who, query)),
      revoke: ({ params }) => Effect.flatMap(reader, (who) => transact(approvals.revoke(params.approval, who))),
    })
  }),
)
