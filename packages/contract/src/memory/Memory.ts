/**
 * What outlives a conversation: versioned records, each with one owner. Blocks, passages, engrams, goals and plans are
 * kinds of records.
 */
import { Schema } from "effect"
import { CallId, MemoryId, MessageId, Moment, MomentOrNull, PrincipalId } from "../Ids.ts"

/** Each family of tools has its own: the same key in three of them means three records. */
export const MemoryNamespace = Schema.Literals(["stoa", "office", "gateway", "engrams"])
export type MemoryNamespace = typeof MemoryNamespace.Type

/** The largest content of a record, in bytes. */
export const largestMemory = 256 * 1024
const maxTags = 64

/** Text that both databases can hold. */
const text = (most: number) =>
  Schema.String.check(
    Schema.isMaxLength(most),
    Schema.makeFilter(
      (value) => (value.isWellFormed() && !value.includes("\0")) || "must be well-formed text without NUL",
    ),
  )

export const MemoryKind = Schema.String.check(
  Schema.isPattern(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u, {
    message: "must be a word of at most 64 letters, digits or . _ -, such as note or fact",
  }),
)
/** Any text without line breaks; a \`/\` makes a series: \`trip/03\` follows \`trip/02\`. */
export const MemoryKey = text(512).check(
  Schema.isPattern(/^[^\p{Cc}]+$/u, { message: "must be a key of 1 to 512 characters without control characters" }),
)
export const MemoryTag = text(128).check(
  Schema.isPattern(/^[^\p{Cc}]+$/u, { message: "must be a tag of 1 to 128 characters without control characters" }),
)
export const MemoryTags = Schema.Array(MemoryTag).check(Schema.isMaxLength(maxTags))
export const MemoryContent = text(largestMemory)
export const MemoryMediaType = Schema.String.check(
  Schema.isPattern(/^[a-z]+\/[a-z0-9.+-]{1,80}$/, { message: "must be a media type such as text/plain" }),
)

/** Who made this version, and in which call or message. */
export const MemoryOrigin = Schema.Struct({
  principal: PrincipalId,
  call: Schema.NullOr(CallId),
  message: Schema.NullOr(MessageId),
})
export type MemoryOrigin = typeof MemoryOrigin.Type

/** Who wrote the words of a version, the newest first: whoever makes a version need not have written them. */
const writers = Schema.Array(PrincipalId).check(Schema.isMaxLength(8))
export const MemoryAuthors = Schema.Struct({ content: writers, tags: writers })
export type MemoryAuthors = typeof MemoryAuthors.Type

/** Why a search found it: its own words, those of its neighbours, those of its label, and corrected words. */
export const MemoryMatch = Schema.Struct({
  score: Schema.Finite,
  words: Schema.Array(Schema.String),
  near: Schema.Array(Schema.String),
  label: Schema.Array(Schema.String),
  fixed: Schema.Record(Schema.String, Schema.String),
  /** With an embedding model: its rank among the nearest in meaning, if it has one; or why only words were searched. */
  vector: Schema.optionalKey(
    Schema.Struct({ place: Schema.NullOr(Schema.Int), problem: Schema.optionalKey(Schema.String) }),
  ),
  /** For a long text, the part with the words. */
  passage: Schema.optionalKey(Schema.String),
})
export type MemoryMatch = typeof MemoryMatch.Type

export class MemoryRecord extends Schema.Class<MemoryRecord>("MemoryRecord")({
  id: MemoryId,
  owner: PrincipalId,
  namespace: MemoryNamespace,
  kind: Schema.String,
  key: Schema.String,
  content: Schema.String,
  mediaType: Schema.String,
  tags: Schema.Array(Schema.String),
  public: Schema.Boolean,
  /** A pinned record is neither deleted nor cleaned up, and does not expire. */
  pinned: Schema.Boolean,
  version: Schema.Int,
  origin: MemoryOrigin,
  /** Absent if whoever made this version wrote all of it. */
  authors: Schema.optionalKey(MemoryAuthors),
  createdAt: Moment,
  updatedAt: Moment,
  expiresAt: MomentOrNull,
  deletedAt: MomentOrNull,
  match: Schema.optionalKey(MemoryMatch),
}) {}

const changeable = {
  mediaType: Schema.optionalKey(MemoryMediaType),
  tags: Schema.optionalKey(MemoryTags),
  public: Schema.optionalKey(Schema.Boolean),
  pinned: Schema.optionalKey(Schema.Boolean),
  expiresAt: Schema.optionalKey(MomentOrNull),
  /** Refuses the write if somebody else wrote meanwhile. 0: only if there is no record yet. */
  expectedVersion: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
}

/** A write by key: creates the record, or its next version. Without a key it always creates one. */
export const NewMemory = Schema.Struct({
  namespace: Schema.optionalKey(MemoryNamespace),
  kind: MemoryKind,
  key: Schema.optionalKey(MemoryKey),
  content: MemoryContent,
  ...changeable,
}).annotate({ identifier: "NewMemory" })
export type NewMemory = typeof NewMemory.Type

export const MemoryChange = Schema.Struct({
  content: Schema.optionalKey(MemoryContent),
  ...changeable,
}).annotate({ identifier: "MemoryChange" })
export type MemoryChange = typeof MemoryChange.Type

export class MemoryVersion extends Schema.Class<MemoryVersion>("MemoryVersion")({
  version: Schema.Int,
  content: Schema.String,
  mediaType: Schema.String,
  tags: Schema.Array(Schema.String),
  public: Schema.Boolean,
  pinned: Schema.Boolean,
  expiresAt: MomentOrNull,
  origin: MemoryOrigin,
  /** Absent if whoever made this version wrote all of it. */
  authors: Schema.optionalKey(MemoryAuthors),
  at: Moment,
}) {}

export const MemoryRight = Schema.Literals(["read", "write"])
export type MemoryRight = typeof MemoryRight.Type

/** A share is an offer until its receiver takes it; one that was declined is not there for them. */
export const OfferState = Schema.Literals(["pending", "taken", "declined"])
export type OfferState = typeof OfferState.Type

export class MemoryShare extends Schema.Class<MemoryShare>("MemoryShare")({
  principal: PrincipalId,
  right: MemoryRight,
  state: OfferState,
  createdAt: Moment,
}) {}

/** What somebody shares with a receiver; the beginning of what it says only for whoever asks for it. */
export class MemoryOffer extends Schema.Class<MemoryOffer>("MemoryOffer")({
  /** The record's. */
  id: MemoryId,
  owner: PrincipalId,
  namespace: MemoryNamespace,
  kind: Schema.String,
  key: Schema.String,
  /** How many characters it has. */
  size: Schema.Int,
  right: MemoryRight,
  state: OfferState,
  offeredAt: Moment,
  updatedAt: Moment,
  /** How it begins. */
  text: Schema.optionalKey(Schema.String),
}) {}

/** How many offers wait for an answer that the caller can give. */
export class OffersWaiting extends Schema.Class<OffersWaiting>("OffersWaiting")({
  all: Schema.Int,
  /** Those to the caller. */
  own: Schema.Int,
  /** Those to agents, the caller's own first; the first hundred agents. */
  agents: Schema.Array(Schema.Struct({ id: PrincipalId, name: Schema.String, waiting: Schema.Int })),
}) {}

/** How many of the caller's records are embedded; until all are, search uses words. */
export class MemoryEmbedding extends Schema.Class<MemoryEmbedding>("MemoryEmbedding")({
  /** `off`: no embedding model is declared. `failing`: the model does not answer, and is tried again. */
  state: Schema.Literals(["off", "working", "ready", "failing"]),
  /** Its name in the configuration file. */
  model: Schema.NullOr(Schema.String),
  /** The caller's own records, and how many of them have vectors of this model. */
  records: Schema.Int,
  embedded: Schema.Int,
  /** Records that the model refused: they are found only by their words. */
  refused: Schema.Int,
  problem: Schema.optionalKey(Schema.String),
}) {}
