/** Every cell of the table of a decision's life, done for real on both databases: what it allows happens, the rest changes nothing. */
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { DecisionState } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { houseViewer } from "../../src/access/rights/Viewer.ts"
import { Decisions } from "../../src/decisions/Decisions.ts"
import { type Act, first, from, isOpen, leadsTo, next } from "../../src/decisions/lifecycle.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { callsHouse, callTool, configure, eventsOf, room, stores, told } from "../calls/callsKit.ts"
import { callerOf, someone, type Someone } from "../spaces/spacesGuests.ts"

const acts: ReadonlyArray<Act> = ["approve", "answer", "escalate", "expire", "cancel"]
const eventOf: Record<Act, string> = {
  approve: "decision.approved",
  answer: "decision.answered",
  escalate: "decision.escalated",
  expire: "decision.expired",
  cancel: "decision.canceled",
}

describe("the table of a decision's life", () => {
  plain("G-13 is total, leads each act to one state, and never out of a closed one", () => {
    assert.deepStrictEqual(Object.keys(next).toSorted(), [...DecisionState.literals].toSorted())
    assert.isTrue(isOpen(first))
    for (const state of DecisionState.literals) {
      assert.deepStrictEqual(Object.keys(next[state]).toSorted(), acts.toSorted())
      assert.strictEqual(isOpen(state), state === "open")
      for (const act of acts) {
        if (state !== "open") assert.isNull(next[state][act], `${state} ${act}`)
        if (next[state][act] !== null) assert.strictEqual(next[state][act], leadsTo(act))
        assert.strictEqual(from(act).includes(state), next[state][act] !== null)
      }
    }
  })
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `states of decisions on ${store}`,
    (it) => {
      /** A question of two people, in an open state, with whom it would escalate to. */
      const asked = Effect.gen(function* () {
        const [bot, pam, jim, eve] = [yield* someone("agent"), yield* someone(), yield* someone(), yield* someone()]
        const space = yield* room(pam, jim, bot)
        const escalation = { afterSeconds: 3000, to: [eve.id] }
        const { name } = yield* configure({ requiresApproval: true, approval: { people: 2, escalation } })
        const answer = yield* callTool(bot, name, { space })
        return { id: told(answer).on!.id, pam, jim }
      })

      const doAct = Effect.fnUntraced(function* (id: string, act: Act, pam: Someone, jim: Someone) {
        const decisions = yield* Decisions
        const { transact } = yield* Journal
        const [one, other] = [yield* callerOf(pam), yield* callerOf(jim)]
        const byAct: Record<Act, Effect.Effect<unknown, { readonly _tag: string }>> = {
          approve: transact(decisions.answer(id, one, { verdict: "approve" })),
          answer: transact(decisions.answer(id, other, { verdict: "deny" })),
          escalate: transact(decisions.escalate(id)),
          expire: transact(decisions.expire(id)),
          cancel: transact(decisions.cancel(id, "gone")),
        }
        return yield* Effect.exit(byAct[act])
      })

      const into: Record<DecisionState, Act | null> = {
        open: null,
        answered: "answer",
        expired: "expire",
        canceled: "cancel",
      }

      it.effect("G-13 G-22 each act in each state does what its cell says, with its event, and nothing else", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const rowOf = (id: string) => Effect.map(sql`SELECT * FROM decisions WHERE id = ${id}`, (rows) => rows[0]!)
          for (const state of DecisionState.literals)
            for (const act of acts) {
              const cell = `${act} in ${state}`
              const { id, jim, pam } = yield* asked
              const way = into[state]
              if (way !== null) yield* doAct(id, way, pam, jim)
              const before = yield* rowOf(id)
              assert.strictEqual(before["state"], state, cell)
              const told = (yield* eventsOf(id)).filter((kind) => kind.startsWith("decision."))
              const exit = yield* doAct(id, act, pam, jim)
              const after = yield* rowOf(id)
              const more = (yield* eventsOf(id)).filter((kind) => kind.startsWith("decision.")).slice(told.length)
              const leads = next[state][act]
              assert.strictEqual(after["state"], leads ?? state, cell)
              assert.deepStrictEqual(more, leads === null ? [] : [eventOf[act]], cell)
              if (leads === null) assert.deepStrictEqual(after, before, cell)
              // Who answers is told; what the house does by itself is silent.
              const refused = exit._tag === "Failure"
              assert.strictEqual(refused, leads === null && (act === "answer" || act === "approve"), cell)
              // What is closed leaves no timer, and what is open keeps its own.
              const timers = yield* sql`SELECT key FROM timers WHERE key LIKE ${`${id}%`}`
              assert.strictEqual(timers.length > 0, isOpen(after["state"] as DecisionState), cell)
            }
        }),
      )

      it.effect("G-08 it escalates once, however often its timer fires", () =>
        Effect.gen(function* () {
          const { id, jim, pam } = yield* asked
          for (let n = 0; n < 3; n++) yield* doAct(id, "escalate", pam, jim)
          assert.lengthOf(
            (yield* eventsOf(id)).filter((kind) => kind === "decision.escalated"),
            1,
          )
          const decisions = yield* Decisions
          const shown = yield* decisions.get(id, houseViewer(pam.principal))
          assert.isTrue(shown.escalatedAt !== null && DateTime.isLessThan(shown.escalatedAt, shown.escalatesAt!))
        }),
      )
    },
  )
