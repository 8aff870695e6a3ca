import { Api, Caller, DecisionLink, Forbidden, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Principals } from "../../../../access/identity/Principals.ts"
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
        const { principal, token } = yield* Caller
        return yield* decisions.show(yield* transact(decisions.answer(params.decision, principal, payload, { token })))
      }),
      link: Effect.fnUntraced(function* ({ params, payload }) {
        const { principal: me, token } = yield* Caller
        const decision = yield* decisions.get(params.decision, yield* reader)
        if (decision.state !== "open") return yield* new WrongState({ detail: `This decision is ${decision.state}.` })
        const whom = payload.principal === undefined ? me : yield* principals.get(payload.principal)
        const refused = (rule: string, instead: string) =>
          new Forbidden({ action: "make a link to", resource: `decisions/${decision.id}`, rule, instead })
        // A link answers as the person it is for, so nobody else gets it.
        if (whom.id !== me.id)
          return yield* refused(
            "only the person themselves",
            `Only ${whom.name} can ask for this link, under their own token; or the house sends it to the notify address in their people entry of the configuration file.`,
          )
        if (me.kind !== "person" || !decision.mayAnswer.includes(me.id))
          return yield* refused("those who may answer", "Who may answer is in mayAnswer of the decision.")
        yield* decisions.mayLink(decision.id, me, token)
        const url = `${upkeep.address()}/d/${links.make(decision.id, me.id)}`
        return new DecisionLink({ url, principal: me.id, expiresAt: decision.expiresAt })
      }),
      approvals: ({ query }) => Effect.flatMap(reader, (who) => approvals.list(who, query)),
      revoke: ({ params }) => Effect.flatMap(reader, (who) => transact(approvals.revoke(params.approval, who))),
    })
  }),
)
