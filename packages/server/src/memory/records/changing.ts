/** What a change would make of a record, and which of its fields would differ. Pure. */
import type { MemoryChange } from "@stoa/contract"
import { DateTime } from "effect"
import { type RecordRow, recordFrom } from "./rows.ts"

export const momentText = (at: DateTime.Utc | null): string | null => (at === null ? null : DateTime.formatIso(at))

export const changeOf = (row: RecordRow, change: MemoryChange) => {
  const { pinned, public: open, tags } = recordFrom(row)
  const before = {
    content: row.content,
    mediaType: row.mediaType,
    tags: JSON.stringify(tags),
    public: open,
    pinned,
    expiresAt: row.expiresAt,
  }
  const after: typeof before = {
    content: change.content ?? before.content,
    mediaType: change.mediaType ?? before.mediaType,
    tags: JSON.stringify([...new Set(change.tags ?? tags)]),
    public: change.public ?? open,
    pinned: change.pinned ?? pinned,
    expiresAt: change.expiresAt === undefined ? row.expiresAt : momentText(change.expiresAt),
  }
  const fields = (Object.keys(after) as ReadonlyArray<keyof typeof after>).filter(
    (name) => after[name] !== before[name],
  )
  return { after, fields }
}

export type RecordField = ReturnType<typeof changeOf>["fields"][number]
