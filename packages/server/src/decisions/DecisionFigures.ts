/** How many questions were asked and answered when, how many are open, and how long people took. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { momentOf, pointAt, quantile, type TimeSpan, zeros } from "../store/TimeSpan.ts"
import type { DecisionReader } from "./decisionReads.ts"
import { makeEligibility } from "./electorate/eligibility.ts"
import { from } from "./lifecycle.ts"
import { inState } from "../store/database/dialect/States.ts"

/** At most this many are read, newest first: more answers than this are not expected. */
const maxRead = 20_000

interface Walked {
  readonly createdAt: string
  readonly answeredAt: string | null
}

export const makeDecisionFigures = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const eligibility = yield* makeEligibility

  return Effect.fn("DecisionFigures")(function* (viewer: DecisionReader, span: TimeSpan) {
    const may = viewer.all ? sql`1 = 1` : yield* eligibility.seen(viewer)
    const since = momentOf(span.from)
    const made = yield* sql<Walked>`SELECT created_at, answered_at FROM decisions
      WHERE created_at >= ${since} AND ${may} ORDER BY created_at DESC LIMIT ${maxRead}`
    const closed = yield* sql<Walked>`SELECT created_at, answered_at FROM decisions
      WHERE answered_at >= ${since} AND ${may} ORDER BY answered_at DESC LIMIT ${maxRead}`
    const open = yield* sql<{ n: number }>`SELECT count(*) AS n FROM decisions
      WHERE ${inState(sql, from("answer"))} AND ${may}`
    const [asked, answered] = [zeros(span), zeros(span)]
    for (const { createdAt } of made) {
      const point = pointAt(span, createdAt)
      if (point !== undefined) asked[point]!++
    }
    const took: Array<number> = []
    for (const { answeredAt, createdAt } of closed) {
      const point = pointAt(span, answeredAt!)
      if (point === undefined) continue
      answered[point]!++
      took.push(Date.parse(answeredAt!) - Date.parse(createdAt))
    }
    return { asked, answered, open: open[0]!.n, median: quantile(took, 0.5) }
  }, Effect.orDie)
})
