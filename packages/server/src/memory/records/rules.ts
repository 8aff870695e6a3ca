/** What a record may contain, which rooms write some of them, and a record's place in its owner's memory. Pure. */
import {
  type HouseKind,
  houseKindOf,
  issuesOf,
  MemoryContent,
  MemoryKey,
  MemoryKind,
  type MemoryNamespace,
  MemoryTags,
  type NewMemory,
} from "@stoa/contract"
import { Result, Schema } from "effect"
import type { RecordField } from "./changing.ts"

const read = Schema.decodeUnknownResult(
  Schema.Struct({
    kind: Schema.optionalKey(MemoryKind),
    key: Schema.optionalKey(MemoryKey),
    content: Schema.optionalKey(MemoryContent),
    tags: Schema.optionalKey(MemoryTags),
  }),
)

/** Why a record cannot be stored: everything stored must also be readable again. HTTP uses the same schemas. */
export const memoryFault = (memory: Partial<NewMemory>): string | undefined => {
  const found = read(memory)
  if (Result.isSuccess(found)) return undefined
  const why = issuesOf(found.failure).map(({ message, path }) => `${path}: ${message}`)
  return `This cannot be kept. ${why.join("; ")}.`
}

/** Content that says it is JSON is JSON, so that every reader can rely on its media type (S2-11). */
export const jsonFault = (content: string, mediaType: string): string | undefined =>
  mediaType !== "application/json" || Result.isSuccess(Result.try((): unknown => JSON.parse(content)))
    ? undefined
    : 'This record holds JSON (application/json), and the content is not JSON. Send a string that holds JSON, such as "{\\"level\\": \\"medium\\"}". Over HTTP, other text is sent with the mediaType text/plain.'

/** A room that writes records into the memory of others, and alone changes and deletes them. */
export type WritingRoom = "sessions"

const written: Readonly<Record<HouseKind, { readonly room: WritingRoom; readonly instead: string }>> = {
  session: {
    room: "sessions",
    instead:
      "This record is a chat session, and only the session's own tools change it. Start, change or delete the session instead: POST, PATCH or DELETE /api/v1/chat-sessions, or hecate_new_session and hecate_delete_session.",
  },
  setting: {
    room: "sessions",
    instead:
      'This record is a setting of an agent, and only what sets it changes it. Choose a model with hecate_set_model or moros_set_model (default takes the choice back), or the current chat session with PATCH /api/v1/chat-sessions/:id {"current": true}.',
  },
}

/**
 * Why somebody may not write or delete this record, although they may use it: a room of the house writes it. Pinning
 * changes nothing that the room relies on, so it is the owner's (S2-45); and so is restoring, which no room does.
 */
export const roomFault = (
  record: { readonly kind: string; readonly namespace: MemoryNamespace },
  room: WritingRoom | undefined,
  fields?: ReadonlyArray<RecordField>,
): string | undefined => {
  const what = houseKindOf(record)
  if (what === undefined || written[what].room === room || fields?.every((field) => field === "pinned") === true)
    return undefined
  return written[what].instead
}

/**
 * The slot identifies a record within its owner's namespace. An engram's key is unique across types (S2-12); elsewhere
 * two kinds may have the same key.
 */
export const slotOf = (namespace: MemoryNamespace, kind: string, key: string): string =>
  namespace === "engrams" && houseKindOf({ namespace, kind }) === undefined ? key : `${kind}:${key}`

/** Why a write by key cannot be the next version of the record in its slot: that is of another type. */
export const kindFault = (there: { readonly kind: string; readonly key: string }, kind: string): string | undefined =>
  there.kind === kind
    ? undefined
    : `"${there.key}" is an engram of type ${there.kind}, and the type of an engram cannot change. Write it as ${there.kind}, use another key, or delete it first.`

/** Records of a series share the key up to its last slash. A key without a slash is in no series. */
export const seriesOf = (namespace: MemoryNamespace, key: string): string | null => {
  const at = key.lastIndexOf("/")
  return at <= 0 ? null : `${namespace}:${key.slice(0, at)}`
}
