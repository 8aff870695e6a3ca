/**
 * How often somebody wakes agents: counted for whoever is at the beginning of a chain, because all that follows is their
 * doing, however many agents are between.
 */
import { type PrincipalId, TooManyRequests } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../access/identity/Principals.ts"
import { Limits } from "../../access/limits/Limits.ts"
import { rightsEpoch } from "../../access/rights/Rights.ts"
import { makeRunRecorder, type NewRun } from "../record/record.ts"

export const makeAdmission = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const record = yield* makeRunRecorder
  const principals = yield* Principals
  const limits = yield* Limits
  const epochNow = yield* rightsEpoch

  /** Counts one more wake. What the house itself does is not counted. */
  const admit = Effect.fnUntraced(function* (causer: PrincipalId | null) {
    if (causer === null) return
    const principal = yield* Effect.orDie(principals.get(causer))
    yield* Effect.mapError(
      limits.take({ principal, epoch: yield* epochNow() }, "wakes"),
      (error) => new TooManyRequests({ ...error, resource: `agents woken by ${principal.name} ("wakes")` }),
    )
  })

  /** The same where nobody waits for an answer: a run says so, once a minute. */
  const isRefused = Effect.fnUntraced(function* (wanted: NewRun) {
    const admitted = yield* Effect.result(admit(wanted.causer))
    if (admitted._tag === "Success") return false
    const since = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { minutes: 1 }))
    const told = yield* Effect.orDie(
      sql`SELECT id FROM runs WHERE agent = ${wanted.agent} AND causer = ${wanted.causer} AND stop = 'budget_spent'
        AND started_at IS NULL AND ended_at > ${since} LIMIT 1`,
    )
    if (told.length > 0) return true
    yield* record.enqueue(wanted)
    yield* record.stop(wanted.id, { stop: "budget_spent", failure: admitted.failure.message })
    return true
  })

  return { admit, isRefused }
})
