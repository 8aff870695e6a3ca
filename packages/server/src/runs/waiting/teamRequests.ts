/** Waits that belong to a run and not to a call: a team's requests. Who waits for whom, and since when. */
import type { MessageId, PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { makeMessageReads } from "../../spaces/MessageReads.ts"
import { lockName } from "../../store/database/dialect/Locks.ts"
import { findWaitPath } from "./waitRules.ts"

/** Instead of a call id: the wait belongs to its run. */
export const noCall = ""
/** The mode of a wait for the replies to a broadcast. */
export const gathers = "gather"

export const makeTeamRequests = (sql: SqlClient.SqlClient) => {
  /** A principal that has answered owes nothing more, even if the reader has not processed the answer yet. */
  const owed = sql`p.state = 'awaited'
    AND NOT ${makeMessageReads(sql).hasAnswered(sql`p.principal`, sql`w.message`)}`

  const oldest = (waiting: PrincipalId, awaited: PrincipalId) =>
    Effect.map(
      Effect.orDie(
        sql<{ message: MessageId }>`SELECT w.message FROM waits w JOIN wait_parties p ON p.wait = w.id
          WHERE w.state = 'open' AND w.agent = ${waiting} AND w.call = ${noCall} AND w.mode <> ${gathers}
          AND p.principal = ${awaited} AND ${owed} ORDER BY w.opened_at, w.id LIMIT 1`,
      ),
      (rows) => rows[0]?.message,
    )

  const isAwaited = (message: string) =>
    Effect.map(
      Effect.orDie(sql`SELECT id FROM waits WHERE state = 'open' AND message = ${message}`),
      (rows) => rows.length > 0,
    )

  const isWaiting = (run: string) =>
    Effect.map(
      Effect.orDie(sql`SELECT id FROM waits WHERE state = 'open' AND run = ${run} AND call = ${noCall}`),
      (rows) => rows.length > 0,
    )

  const ring = Effect.fnUntraced(function* (waiting: PrincipalId, awaited: ReadonlyArray<PrincipalId>, without = "") {
    // Two principals that ask each other at the same moment would both find no ring.
    yield* Effect.orDie(lockName(sql, "waits", "ring"))
    const edges = yield* Effect.orDie(
      sql<{ agent: PrincipalId; principal: PrincipalId }>`SELECT w.agent, p.principal FROM waits w
        JOIN wait_parties p ON p.wait = w.id
        WHERE w.state = 'open' AND w.call = ${noCall} AND w.run IS NOT NULL AND ${owed}
        AND NOT (w.message = ${without} AND (p.principal = ${waiting}
          OR w.needed <= 1 + (SELECT count(*) FROM wait_replies r WHERE r.wait = w.id)))`,
    )
    return findWaitPath(
      edges.map(({ agent, principal }) => [agent, principal] as const),
      waiting,
      awaited,
    )
  })

  return { oldest, isWaiting, isAwaited, ring }
}
