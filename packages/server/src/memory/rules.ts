/** Who may do what with a record, and where it stands in its owner's memory. Pure. */
import type { MemoryNamespace, MemoryRight, PrincipalId } from "@stoa/contract"

export interface Standing {
  readonly owner: PrincipalId
  readonly public: boolean
  /** What it was shared for with the one who asks, if it was. */
  readonly shared: MemoryRight | null
}

/** Its owner alone may delete it, share it, pin it, or make it public. */
export type MemoryAct = "read" | "write" | "own"

export const mayUse = (act: MemoryAct, who: PrincipalId, { owner, public: open, shared }: Standing): boolean => {
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
