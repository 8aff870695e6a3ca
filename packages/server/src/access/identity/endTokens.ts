/**
 * Where tokens end, and with them what was lent with them. Each is in the journal, so the audit shows of every token when
 * it stopped and who ended it.
 */
import type { PrincipalId, TokenId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Journal } from "../../store/journal/Journal.ts"
import { makeEndDelegations } from "../rights/delegation/endDelegations.ts"

interface Ended {
  readonly id: TokenId
  readonly principal: PrincipalId
}

export const makeEndTokens = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const endDelegations = yield* makeEndDelegations
  return Effect.fnUntraced(function* (which: Statement.Fragment) {
    const now = DateTime.formatIso(yield* DateTime.now)
    const ended = yield* Effect.orDie(
      sql<Ended>`UPDATE tokens SET revoked_at = ${now} WHERE revoked_at IS NULL AND ${which} RETURNING id, principal`,
    )
    if (ended.length === 0) return ended
    // It also raises the epoch, without which the tokens would go on.
    yield* endDelegations(
      sql.in(
        "token",
        ended.map(({ id }) => id),
      ),
    )
    for (const { id, principal } of ended.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
      yield* journal.append({ kind: "token.revoked", body: { token: id, principal } })
    return ended
  })
})
