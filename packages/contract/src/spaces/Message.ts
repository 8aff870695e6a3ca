/** What was said and done in a space: texts, and tool calls that keep their data as data. */
import { Schema } from "effect"
import { CallRun, CallState } from "../tools/Call.ts"
import { DecisionId, MessageId, MessageRef, Moment, MomentOrNull, PrincipalId, SpaceId } from "../Ids.ts"
import { MemoryMatch } from "../memory/Memory.ts"
import { PrincipalKind } from "../access/identity/Principal.ts"
import { Provenance } from "../access/Provenance.ts"

/** The largest text of a message, in bytes. */
export const largestText = 64 * 1024

const Author = Schema.Struct({ id: PrincipalId, name: Schema.String, kind: PrincipalKind })

/**
 * A visible tool call: shown, streamed and stored like a message, but it cannot be replied to, and mentions in it do
 * not count.
 */
export const MessageCall = Schema.Struct({
  id: Schema.String,
  tool: Schema.String,
  input: Schema.Json,
  output: Schema.optionalKey(Schema.Json),
  error: Schema.optionalKey(Schema.Json),
  customUI: Schema.optionalKey(Schema.String),
  /** Its state, for those who see it here and may not read the call itself; absent in messages of older houses. */
  state: Schema.optionalKey(CallState),
  /** The rule that allowed or refused it. */
  rule: Schema.optionalKey(Schema.String),
  /** Present when it has ended. */
  durationMs: Schema.optionalKey(Schema.Int),
  run: Schema.optionalKey(CallRun),
  /** The question it waits for, or waited for last. */
  decision: Schema.optionalKey(DecisionId),
})
export type MessageCall = typeof MessageCall.Type

const Reaction = Schema.Struct({ emoji: Schema.String, by: Schema.Array(PrincipalId) })

export class Message extends Schema.Class<Message>("Message")({
  id: MessageId,
  space: SpaceId,
  seq: Schema.Int,
  author: Author,
  text: Schema.String,
  call: Schema.NullOr(MessageCall),
  replyTo: Schema.NullOr(MessageId),
  mentions: Schema.Array(PrincipalId),
  reactions: Schema.Array(Reaction),
  provenance: Provenance,
  /** Where the author was when it wrote this, if not here: filled in by runs. */
  origin: Schema.NullOr(Schema.Json),
  pinned: Schema.Boolean,
  createdAt: Moment,
  editedAt: MomentOrNull,
  deletedAt: MomentOrNull,
}) {}

/** A message that a search has found, and why. */
export class FoundMessage extends Message.extend<FoundMessage>("FoundMessage")({ match: MemoryMatch }) {}

/** Neither database can store lone surrogates and NUL, and a text of blanks is empty. */
export const MessageText = Schema.String.check(
  Schema.isPattern(/\S/, { message: "must be a text that says something" }),
  Schema.makeFilter((text) => (text.isWellFormed() && !text.includes("\0")) || "must be well-formed text"),
)

export const NewMessage = Schema.Struct({
  text: MessageText,
  replyTo: Schema.optionalKey(MessageRef),
})
export type NewMessage = typeof NewMessage.Type
