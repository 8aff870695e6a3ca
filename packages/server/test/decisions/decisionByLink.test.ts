/** What the bearer of a link may see of its decision, as the room decides it for the page and for notifications. */
import { assert, layer } from "@effect/vitest"
import type { DecisionId } from "@stoa/contract"
import { Effect } from "effect"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Decisions } from "../../src/decisions/Decisions.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { callsHouse, callTool, configure, room, stores, told } from "../calls/callsKit.ts"
import { callerOf, someone, type Someone } from "../spaces/spacesGuests.ts"

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `decisions by link on ${store}`,
    (it) => {
      it.effect("G-08 a link shows a decision to whom it asks, while it asks them, and to nobody else", () =>
        Effect.gen(function* () {
          const decisions = yield* Decisions
          const { transact } = yield* Journal
          const [bot, pam, jim, eve] = [yield* someone("agent"), yield* someone(), yield* someone(), yield* someone()]
          const space = yield* room(pam, jim, bot)
          const { name } = yield* configure({ requiresApproval: true, approval: { people: 2 } })
          const id = told(yield* callTool(bot, name, { space })).on!.id as DecisionId
          const by = ({ principal }: Someone, action: "read" | "answer" = "read", decision = id) =>
            Effect.match(decisions.byLink({ decision, principal }, action), {
              onSuccess: (found) => found.is,
              onFailure: ({ action: what, resource, rule }) => `${what} ${resource} ${rule}`,
            })
          assert.strictEqual(yield* by(pam), "asked")
          assert.strictEqual(yield* by(jim), "asked")
          for (const action of ["read", "answer"] as const)
            for (const other of [eve, bot])
              assert.strictEqual(yield* by(other, action), `${action} decisions/${id} not asked`)
          const none = "dcs_01a1de7e-9c83-7000-a0b5-000000000000" as DecisionId
          assert.strictEqual(yield* by(pam, "read", none), `read decisions/${none} not asked`)
          yield* transact(decisions.answer(id, yield* callerOf(pam), { verdict: "approve" }, "link"))
          // It waits for a second person, and the first has done their part.
          assert.deepStrictEqual([yield* by(pam), yield* by(jim)], ["over", "asked"])
          yield* transact(decisions.answer(id, yield* callerOf(jim), { verdict: "deny" }, "link"))
          assert.deepStrictEqual([yield* by(pam), yield* by(jim)], ["over", "over"])
        }),
      )

      it.effect("G-08 a link carries one verdict on one call, whatever its person may do under their own token", () =>
        Effect.gen(function* () {
          const decisions = yield* Decisions
          const [bot, pam] = [yield* someone("agent"), yield* someone()]
          const { name } = yield* configure({ requiresApproval: true })
          const id = told(yield* callTool(bot, name, { space: yield* room(pam, bot) })).on!.id as DecisionId
          const own = yield* decisions.get(id, yield* (yield* Grants).viewerOf(yield* callerOf(pam), "decisions"))
          assert.isTrue(own.options?.edit)
          const linked = yield* decisions.byLink({ decision: id, principal: pam.principal }, "read")
          assert.deepStrictEqual(linked.is === "asked" && [linked.decision.id, linked.decision.options], [
            id,
            { edit: false, reaches: ["once"] },
          ])
        }),
      )
    },
  )
