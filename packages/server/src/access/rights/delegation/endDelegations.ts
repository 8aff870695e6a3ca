/** Where delegations end before their time: with everything handed on from them, each with its event. */
import { DateTime, Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Journal } from "../../../store/journal/Journal.ts"
import { rightsChanged } from "../Rights.ts"
import { delegationFrom } from "./delegationRows.ts"

export const makeEndDelegations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)
  return Effect.fnUntraced(function* (which: Statement.Fragment) {
    // First: it waits for whoever is lending something right now, so that the next statement sees what they have lent.
    yield* changed
    const now = DateTime.formatIso(yield* DateTime.now)
    const rows = yield* Effect.orDie(
      sql`WITH RECURSIVE chain (id) AS (
        SELECT id FROM delegations WHERE ${which}
        UNION SELECT d.id FROM delegations d JOIN chain ON d.parent = chain.id
      ) UPDATE delegations SET revoked_at = ${now} WHERE id IN (SELECT id FROM chain) AND revoked_at IS NULL RETURNING *`,
    )
    const ended = rows.map(delegationFrom).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    for (const { id, to } of ended)
      yield* journal.append({ kind: "delegation.revoked", body: { delegation: id, principal: to } })
  })
})
