/** A chat session as a record in its owner's memory (S2-40), and its title. Pure. */
import { ChatSession, ChatSessionId, type MemoryRecord, MessageId, SpaceId, withoutPrefix } from "@stoa/contract"
import { Option, Schema } from "effect"

export const untitled = "New conversation"
const longestTitle = 50

const Content = Schema.Struct({
  session_id: ChatSessionId,
  agent: Schema.String,
  title: Schema.String,
  space: SpaceId,
  message_count: Schema.Int,
  last_message: Schema.NullOr(MessageId),
})
export type Content = typeof Content.Type
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Content))
export const contentText = Schema.encodeSync(Schema.fromJsonString(Content))

/** A session and its space have the same uuid: each leads to the other, whatever a record says. */
export const spaceOf = (id: ChatSessionId): SpaceId => `spc_${withoutPrefix(id)}` as SpaceId
export const sessionOf = (space: string): ChatSessionId => sessionIdOf(withoutPrefix(space))
export const keyOf = (id: ChatSessionId): string => `chat.session.${withoutPrefix(id)}`
/** As a tool gets it: with or without its prefix. */
export const sessionIdOf = (given: string): ChatSessionId => `ses_${given.replace(/^ses_/, "")}` as ChatSessionId

/** Undefined for a record that is not a session's, such as one written by hand. */
export const contentOf = (record: MemoryRecord): Content | undefined => {
  const content = Option.getOrUndefined(decode(record.content))
  return content !== undefined && record.key === keyOf(content.session_id) ? content : undefined
}

export const sessionFrom = (
  record: MemoryRecord,
  content: Content,
  now: { readonly current: ChatSessionId | undefined; readonly count: number },
): ChatSession =>
  new ChatSession({
    id: content.session_id,
    agent: content.agent,
    owner: record.owner,
    title: content.title,
    space: spaceOf(content.session_id),
    memory: record.id,
    messageCount: now.count,
    pinned: record.pinned,
    current: content.session_id === now.current,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  })

const characters = new Intl.Segmenter("en", { granularity: "grapheme" })

/** The beginning of the first message, in whole characters: an emoji of several parts is one (S2-41). */
export const titleFrom = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim()
  const whole = [...characters.segment(line)].map(({ segment }) => segment)
  return whole.slice(0, longestTitle).join("").trim() || untitled
}
