/**
 * The next number of a space, for whoever may post there now. Others may archive the space, or remove the author, after
 * the space was loaded: this waits for them, or they wait for it.
 */
import { type PrincipalId, type Space, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { Viewer } from "../../access/rights/Viewer.ts"
import { holdRead } from "../../store/database/dialect/Locks.ts"
import { Spaces } from "../Spaces.ts"

/** Whether somebody is a member. The row is held until the end of the transaction, so that nobody deletes it. */
export const isHeldMember = (sql: SqlClient.SqlClient, space: string, principal: PrincipalId): Statement.Fragment =>
  sql`EXISTS (SELECT 1 FROM members m WHERE m.space = ${space} AND m.principal = ${principal} ${holdRead(sql, "m")})`

/** In public spaces everybody speaks, in others their members. */
const speaks = (
  sql: SqlClient.SqlClient,
  { id, kind }: Pick<Space, "id" | "kind">,
  principal: PrincipalId,
): Statement.Fragment => (kind === "public" ? sql`1 = 1` : isHeldMember(sql, id, principal))

export const makeNumbering = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const spaces = yield* Spaces

  return Effect.fnUntraced(function* (space: Space, by: Viewer) {
    const rows = yield* Effect.orDie(
      sql<{ lastSeq: number }>`UPDATE spaces SET last_seq = last_seq + 1
        WHERE id = ${space.id} AND archived_at IS NULL AND ${speaks(sql, space, by.principal.id)} RETURNING last_seq`,
    )
    if (rows[0] !== undefined) return rows[0].lastSeq
    // What has changed since it was loaded, in the words of its refusal.
    const now = yield* Effect.catchTag(spaces.get(space.id, by), "Ambiguous", Effect.die)
    yield* spaces.require("post", now, by)
    return yield* new WrongState({ detail: `${space.name} was archived for a moment. Try again.` })
  })
})
