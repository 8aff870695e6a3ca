/** A record that somebody names, if they may do with it what they want to. */
import {
  Forbidden,
  mayUse,
  type MemoryAct,
  type MemoryId,
  type MemoryRight,
  Missing,
  type PrincipalId,
} from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { hasEnded } from "../upkeep/expiry.ts"
import type { MemoryActor } from "./recordReads.ts"
import { type RecordRow, recordFrom } from "./rows.ts"

export interface ShareRow {
  readonly principal: PrincipalId
  readonly access: MemoryRight
  /** An offer is pending until its receiver takes or declines it. */
  readonly state: "pending" | "taken" | "declined"
  readonly createdAt: string
}

/** What a share allows: an offer may be looked at, so that it can be answered; what was declined is not there. */
export const allowedBy = (share: Pick<ShareRow, "access" | "state"> | undefined): MemoryRight | null =>
  share === undefined || share.state === "declined" ? null : share.state === "taken" ? share.access : "read"

export const makeReach = (sql: SqlClient.SqlClient) => {
  /** The row is locked until the end of the transaction. */
  const held = sql.literal(sql.onDialectOrElse({ pg: () => "FOR UPDATE", orElse: () => "" }))

  const shareOf = (id: MemoryId, principal: PrincipalId) =>
    Effect.map(
      Effect.orDie(sql<ShareRow>`SELECT * FROM memory_shares WHERE record = ${id} AND principal = ${principal}`),
      (rows) => rows[0],
    )

  const insteadOf = (act: MemoryAct, share: ShareRow | undefined): string =>
    act === "own"
      ? "Only the owner may do this."
      : share?.state === "pending" && share.access === "write"
        ? "It is offered to you: take it first (PUT /api/v1/memory/:id/offer)."
        : "Ask its owner to do it, or to let you write to it."

  /** One that the caller may not see, or that has expired, is missing. */
  const reach = Effect.fnUntraced(function* (by: MemoryActor, id: MemoryId, act: MemoryAct, deleted = false) {
    const missing = new Missing({ noun: "memory", ref: id })
    const rows = yield* Effect.orDie(
      sql<RecordRow>`SELECT * FROM memory_records WHERE id = ${id} ${act === "read" ? sql`` : held}`,
    )
    const row = rows[0]
    if (row === undefined || (row.deletedAt !== null) !== deleted) return yield* missing
    if (hasEnded(row, DateTime.formatIso(yield* DateTime.now))) return yield* missing
    const share = row.owner === by.id ? undefined : yield* shareOf(id, by.id)
    const standing = { owner: row.owner, public: recordFrom(row).public, shared: allowedBy(share) }
    if (!mayUse("read", by.id, standing)) return yield* missing
    if (!mayUse(act, by.id, standing))
      return yield* new Forbidden({
        action: act === "own" ? "manage" : act,
        resource: `memory/${id}`,
        rule: "only the owner",
        instead: insteadOf(act, share),
      })
    return row
  })

  return { held, reach, shareOf }
}
