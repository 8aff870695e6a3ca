/**
 * One version of a record for export and import: a line of a JSON Lines file. It does not name its owner: imported
 * records belong to the caller.
 */
import { Schema } from "effect"
import { CallId, MemoryId, MessageId, Moment, PrincipalId } from "../Ids.ts"
import {
  MemoryAuthors,
  MemoryContent,
  MemoryKey,
  MemoryKind,
  MemoryMediaType,
  MemoryNamespace,
  MemoryRight,
  MemoryTags,
} from "./Memory.ts"

const version = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

export const MemoryLine = Schema.Struct({
  id: Schema.optionalKey(MemoryId),
  namespace: Schema.optionalKey(MemoryNamespace),
  kind: MemoryKind,
  key: Schema.optionalKey(MemoryKey),
  version: Schema.optionalKey(version),
  /** Earlier versions are history: they are restored unchanged, or not at all. */
  current: Schema.optionalKey(Schema.Boolean),
  content: MemoryContent,
  mediaType: Schema.optionalKey(MemoryMediaType),
  tags: Schema.optionalKey(MemoryTags),
  public: Schema.optionalKey(Schema.Boolean),
  pinned: Schema.optionalKey(Schema.Boolean),
  createdAt: Schema.optionalKey(Moment),
  at: Schema.optionalKey(Moment),
  expiresAt: Schema.optionalKey(Moment),
  deletedAt: Schema.optionalKey(Moment),
  /** Who made this version, if not its owner, and in which call or message. */
  by: Schema.optionalKey(PrincipalId),
  /** Who wrote its words, if not simply whoever made this version. */
  authors: Schema.optionalKey(MemoryAuthors),
  call: Schema.optionalKey(CallId),
  message: Schema.optionalKey(MessageId),
  shares: Schema.optionalKey(
    Schema.Array(Schema.Struct({ principal: PrincipalId, right: MemoryRight })).check(Schema.isMaxLength(1000)),
  ),
  /** The house's proof that it wrote this line for its owner: only then do ids, times and authors count. */
  seal: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(100))),
}).annotate({ identifier: "MemoryLine" })
export type MemoryLine = typeof MemoryLine.Type

/** How many lines are imported at once, all of them or none. */
export const maxLines = 200

export const MemoryImported = Schema.Struct({
  /** Lines that created a version. */
  written: Schema.Int,
  /** Lines that changed nothing. */
  unchanged: Schema.Int,
})
export type MemoryImported = typeof MemoryImported.Type

/** What changed between two versions of a record. */
export const MemoryDiff = Schema.Struct({
  from: Schema.Int,
  to: Schema.Int,
  lines: Schema.Array(Schema.Struct({ change: Schema.Literals(["same", "added", "removed"]), text: Schema.String })),
  /** How many more lines there are; absent if these are all. */
  left: Schema.optionalKey(Schema.Int),
  tags: Schema.Struct({ added: Schema.Array(Schema.String), removed: Schema.Array(Schema.String) }),
})
export type MemoryDiff = typeof MemoryDiff.Type
