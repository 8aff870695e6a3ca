/** Who may do what with a record, what it may contain, and its place in its owner's memory. Pure. */
import {
  issuesOf,
  MemoryContent,
  MemoryKey,
  MemoryKind,
  type MemoryNamespace,
  type MemoryRight,
  MemoryTags,
  type NewMemory,
  type PrincipalId,
} from "@stoa/contract"
import { Result, Schema } from "effect"

export interface RecordAccess {
  readonly owner: PrincipalId
  readonly public: boolean
  /** The caller's right by sharing, if there is one. */
  readonly shared: MemoryRight | null
}

/** Only its owner may delete, share or pin it, or make it public. */
export type MemoryAct = "read" | "write" | "own"

export const mayUse = (act: MemoryAct, who: PrincipalId, { owner, public: open, shared }: RecordAccess): boolean => {
  if (who === owner) return true
  switch (act) {
    case "read":
      return open || shared !== null
    case "write":
      return shared === "write"
    case "own":
      return false
  }
}

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

/** Kinds of engrams that the house itself writes: chat sessions, and an agent's settings. */
export const ownKinds = { session: "conversation", setting: "setting" } as const

/**
 * The slot identifies a record within its owner's namespace. An engram's key is unique across types (S2-12); elsewhere
 * two kinds may have the same key.
 */
export const slotOf = (namespace: MemoryNamespace, kind: string, key: string): string =>
  namespace === "engrams" && !Object.values<string>(ownKinds).includes(kind) ? key : `${kind}:${key}`

/** Records of a series share the key up to its last slash. A key without a slash is in no series. */
export const seriesOf = (namespace: MemoryNamespace, key: string): string | null => {
  const at = key.lastIndexOf("/")
  return at <= 0 ? null : `${namespace}:${key.slice(0, at)}`
}
