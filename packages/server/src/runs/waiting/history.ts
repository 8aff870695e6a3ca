/** Waits for display: who waits for whom now, and whose answers a run has waited for, from when to when. */
import { type CallId, type PrincipalId, type RunId, RunWait, type SpaceId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { noCall } from "./teamRequests.ts"
import { type Party, findWaitCycles, type WaitState } from "./waitRules.ts"

export interface WaitRow {
  readonly id: string
  readonly run: string | null
  readonly agent: PrincipalId
  readonly call: string
  readonly space: SpaceId
  readonly message: string
  readonly mode: string
  readonly needed: number
  readonly state: WaitState
  readonly deadlineAt: string | null
  readonly openedAt: string
  readonly closedAt: string | null
  readonly outcome: string | null
}

interface PartyRow extends Party {
  readonly wait: string
  readonly message: string | null
}

const moment = (text: string | null) => (text === null ? null : DateTime.makeUnsafe(text))

export const makeHistory = (sql: SqlClient.SqlClient) => {
  const partiesOf = (waits: ReadonlyArray<string>) =>
    waits.length === 0
      ? Effect.succeed([])
      : Effect.orDie(sql<PartyRow>`SELECT * FROM wait_parties WHERE ${sql.in("wait", waits)} ORDER BY principal`)

  const shown = Effect.fnUntraced(function* (rows: ReadonlyArray<WaitRow>) {
    const parties = yield* partiesOf(rows.map(({ id }) => id))
    const of = (wait: string) => parties.filter((one) => one.wait === wait)
    // Only open waits can form a ring.
    const rings = findWaitCycles(
      rows
        .filter(({ state }) => state === "open")
        .flatMap(({ agent, id }) =>
          of(id)
            .filter(({ state }) => state === "awaited")
            .map(({ principal }) => [agent, principal] as const),
        ),
    )
    return rows.map(
      (row) =>
        new RunWait({
          id: row.id,
          run: row.run as RunId | null,
          ...(row.call === noCall ? {} : { call: row.call as CallId }),
          agent: row.agent,
          space: row.space,
          message: row.message as never,
          state: row.state,
          needed: row.needed,
          for: of(row.id).map(({ principal, state }) => ({ id: principal as PrincipalId, state })),
          ring: row.state === "open" && rings.has(row.agent),
          since: DateTime.makeUnsafe(row.openedAt),
          until: moment(row.deadlineAt),
          endedAt: moment(row.closedAt),
        }),
    )
  })

  /** All waits of one run, oldest first; for steps taken over from an earlier run, those of that run. */
  const ofRun = Effect.fnUntraced(function* (run: RunId) {
    const own = yield* Effect.orDie(sql<WaitRow>`SELECT * FROM waits WHERE run = ${run}`)
    const taken = yield* Effect.orDie(
      sql<WaitRow & { readonly copy: string }>`SELECT w.*, c.id AS copy FROM calls c JOIN waits w ON w.call = c.copy_of
        WHERE c.run = ${run} AND c.copy_of IS NOT NULL`,
    )
    const all = [...own, ...taken.map(({ copy, ...row }) => ({ ...row, call: copy }))]
    if (all.length === 0) return []
    // Rings can only be found among all open waits.
    const others = all.some(({ state }) => state === "open")
      ? yield* Effect.orDie(sql<WaitRow>`SELECT * FROM waits WHERE state = 'open' AND (run IS NULL OR run <> ${run})`)
      : []
    const ids = new Set(all.map(({ id }) => id))
    return (yield* shown([...all, ...others]))
      .filter(({ id }) => ids.has(id))
      .toSorted((a, b) => DateTime.toEpochMillis(a.since) - DateTime.toEpochMillis(b.since))
  })

  return { partiesOf, shown, ofRun }
}
