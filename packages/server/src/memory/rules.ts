/** Who may do what with a record, what it may say, and where it stands in its owner's memory. Pure. */
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
  /** What it was shared for with the one who asks, if it was. */
  readonly shared: MemoryRight | null
}

/** Its owner alone may delete it, share it, pin it, or make it public. */
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

/** Why no record says this: what is once in a memory must also come out of it. HTTP is read by the same schemas. */
export const memoryFault = (memory: Partial<NewMemory>): string | undefined => {
  const found = read(memory)
  if (Result.isSuccess(found)) return undefined
  const why = issuesOf(found.failure).map(({ message, path }) => `${path}: ${message}`)
  return `This cannot be kept. ${why.join("; ")}.`
}

/** Chat sessions, and what an agent was told to use from now on: engrams of the house's own making. */
export const ownKinds = { session: "conversation", setting: "setting" } as const

/**
 * A record is found by its slot: within a namespace it is unique. An engram's key is unique whatever its type (S2-12);
 * elsewhere two kinds may have the same key.
 */
export const slotOf = (namespace: MemoryNamespace, kind: string, key: string): string =>
  namespace === "engrams" && !Object.values<string>(ownKinds).includes(kind) ? key : `${kind}:${key}`

/** Records that belong together in order: the key up to its last slash. One without a slash stands alone. */
export const seriesOf = (namespace: MemoryNamespace, key: string): string | null => {
  const at = key.lastIndexOf("/")
  return at <= 0 ? null : `${namespace}:${key.slice(0, at)}`
}
