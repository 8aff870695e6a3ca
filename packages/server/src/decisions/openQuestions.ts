/** Limits the open questions per principal, so that one cannot flood those who answer. */
import { type PrincipalId, TooManyRequests } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../access/limits/Limits.ts"
import { lockName } from "../store/database/dialect/Locks.ts"
import { inState } from "../store/database/dialect/States.ts"
import { from } from "./lifecycle.ts"
import type { NewDecision } from "./NewDecision.ts"

/** The name of the limit. */
const openQuestions = "questions/open"

export const makeOpenQuestions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const limits = yield* Limits

  /** Principals whose last question exceeded the limit: for them the count comes before any write. */
  const full = new Set<PrincipalId>()
  const room = Effect.fnUntraced(function* ({ askedBy: principal, policy: epoch }: NewDecision, isWritten: boolean) {
    const most = yield* limits.most({ principal, epoch }, openQuestions)
    // Without the lock, concurrent questions would each find room for the last one.
    if (isWritten) yield* Effect.orDie(lockName(sql, openQuestions, principal.id))
    const [count] = yield* Effect.orDie(
      sql<{ n: number }>`SELECT count(*) AS n FROM decisions
        WHERE asked_by = ${principal.id} AND ${inState(sql, from("answer"))}`,
    )
    full.delete(principal.id)
    if (count!.n + (isWritten ? 0 : 1) <= most) return
    full.add(principal.id)
    return yield* new TooManyRequests({
      resource: openQuestions,
      limit: `${most} questions open at a time`,
      retryAfter: 60,
    })
  })

  return {
    /** Whoever has exceeded the limit is counted before anything is written. */
    before: (wanted: NewDecision) => (full.has(wanted.askedBy.id) ? room(wanted, false) : Effect.void),
    /** Called last: on Postgres the principal's other questions wait from here until the commit. */
    after: (wanted: NewDecision) => room(wanted, true),
  }
})
