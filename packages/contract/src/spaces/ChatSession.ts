/**
 * A lasting conversation with one agent: a memory record (title, count, pin) that names a private space
 * with the messages. Not a session of MCP, of the page, or of a provider.
 */
import { Schema } from "effect"
import { ChatSessionId, MemoryId, Moment, PrincipalId, SpaceId } from "../Ids.ts"
import { PrincipalRef } from "../access/identity/Principal.ts"

const ChatTitle = Schema.String.check(
  Schema.isPattern(/\S/, { message: "must be a title that says something" }),
  Schema.isMaxLength(200),
  Schema.makeFilter((text) => (text.isWellFormed() && !/\p{Cc}/u.test(text)) || "must be well-formed text in one line"),
)

export class ChatSession extends Schema.Class<ChatSession>("ChatSession")({
  id: ChatSessionId,
  /** The agent's name. */
  agent: Schema.String,
  owner: PrincipalId,
  title: Schema.String,
  /** The space of its messages. */
  space: SpaceId,
  /** Its record in the owner's memory. */
  memory: MemoryId,
  messageCount: Schema.Int,
  /** A pinned one is neither deleted nor cleaned up. */
  pinned: Schema.Boolean,
  /** The one its owner and this agent continue. */
  current: Schema.Boolean,
  createdAt: Moment,
  updatedAt: Moment,
}) {}

export const NewChatSession = Schema.Struct({
  agent: PrincipalRef,
  /** By default the beginning of its owner's first message. */
  title: Schema.optionalKey(ChatTitle),
}).annotate({ identifier: "NewChatSession" })
export type NewChatSession = typeof NewChatSession.Type

export const ChatSessionChange = Schema.Struct({
  title: Schema.optionalKey(ChatTitle),
  pinned: Schema.optionalKey(Schema.Boolean),
  /** Resumes it: the next message to the agent continues here. */
  current: Schema.optionalKey(Schema.Literal(true)),
}).annotate({ identifier: "ChatSessionChange" })
export type ChatSessionChange = typeof ChatSessionChange.Type
