/**
 * Expiry of records: a timer for each that has an end. An expired record is hidden at once, and soon deleted
 * permanently.
 */
import type { MemoryId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { Transaction } from "../../store/journal/Journal.ts"
import type { Timers } from "../../store/journal/Timers.ts"
import { type RecordRow, recordFrom } from "../records/rows.ts"

export const purpose = "memory-end"

export const endKey = (id: MemoryId): string => `${purpose} ${id}`

export const hasEnded = (row: RecordRow, now: string): boolean =>
  row.expiresAt !== null && row.expiresAt <= now && !recordFrom(row).pinned

/** Set with every version: a pin or a later end moves it. */
export const setEnd = (timers: Timers["Service"], row: RecordRow): Effect.Effect<void, never, Transaction> =>
  row.expiresAt === null || recordFrom(row).pinned
    ? row.version === 1
      ? Effect.void
      : timers.cancelKeys([endKey(row.id)])
    : Effect.asVoid(
        timers.set({
          purpose,
          key: endKey(row.id),
          dueAt: DateTime.makeUnsafe(row.expiresAt),
          payload: { record: row.id },
        }),
      )
