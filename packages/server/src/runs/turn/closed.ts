/**
 * The outcome of a wait that belongs to a run, with names: who has answered what, as far as the agent may see it now, and
 * who will not.
 */
import { nearNameOf } from "../../access/identity/Agents.ts"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Viewer } from "../../access/rights/Viewer.ts"
import { makeMessageReads } from "../../spaces/MessageReads.ts"
import type { nameInMail, ClosedRequest } from "./mail.ts"

export interface ClosedRow {
  readonly id: string
  readonly message: string
  readonly state: string
  readonly outcome: string | null
  readonly told: number | null
}

const reasons: Readonly<Record<string, string>> = {
  silent: "It ended its turn without an answer.",
  gone: "It failed, was stopped, or has left.",
  awaited: "It has not answered in time.",
}

interface PartyRow {
  readonly wait: string
  readonly principal: string
  readonly name: string
  readonly kind: string
  readonly state: string
}

export const closedOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<ClosedRow>,
  viewer: Viewer,
  called: ReturnType<typeof nameInMail>,
) {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const parties = yield* Effect.orDie(
    sql<PartyRow>`SELECT w.wait, w.principal, w.state, ${nearNameOf(sql, sql`p.id`, sql`p.name`)} AS name,
      p.kind FROM wait_parties w JOIN principals p ON p.id = w.principal
      WHERE ${sql.in("w.wait", ids)} ORDER BY p.name`,
  )
  const links = sql`SELECT wait AS link, message FROM wait_replies WHERE ${sql.in("wait", ids)}`
  const replies = yield* makeMessageReads(sql).repliesOf(viewer, links)
  return rows.map((row): ClosedRequest => {
    const said = replies.filter(({ link }) => link === row.id)
    const missing = parties.filter((one) => one.wait === row.id && one.state !== "replied")
    const released = row.state === "released" ? "The wait was ended by an operator." : undefined
    return {
      message: row.message,
      state: row.state,
      replies: said.map(({ author, authorKind: kind, authorName, text }) => {
        const name = parties.find(({ principal }) => principal === author)?.name ?? authorName
        return { from: called({ kind, name }), text }
      }),
      // Enough have answered: nobody is missing.
      missing:
        row.state === "resolved"
          ? []
          : missing.map((one) => ({
              name: called(one),
              why: released ?? reasons[one.state] ?? "It has not answered.",
            })),
    }
  })
})
