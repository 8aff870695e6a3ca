/**
 * Who may do what with a record of memory. The house decides by it, and the page offers by it, without loading a schema.
 */
import type { MemoryNamespace, MemoryRight } from "./Memory.ts"

export interface MemoryAccess {
  readonly owner: string
  readonly public: boolean
  /** The reader's right by sharing, if there is one. */
  readonly shared: MemoryRight | null
}

/** Only its owner may delete, share or pin it, or make it public. */
export type MemoryAct = "read" | "write" | "own"

export const mayUse = (act: MemoryAct, who: string, { owner, public: open, shared }: MemoryAccess): boolean => {
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

/** Kinds of engrams that the house itself writes: chat sessions, and an agent's settings. */
export const houseKinds = { session: "conversation", setting: "setting" } as const
export type HouseKind = keyof typeof houseKinds

/**
 * What the house keeps in this record, if it writes it. Nobody else changes or deletes it. Pinning changes nothing that
 * the house relies on, so it stays its owner's (S2-45); and so do sharing and restoring.
 */
export const houseKindOf = (record: {
  readonly kind: string
  readonly namespace: MemoryNamespace
}): HouseKind | undefined =>
  record.namespace !== "engrams"
    ? undefined
    : record.kind === houseKinds.session
      ? "session"
      : record.kind === houseKinds.setting
        ? "setting"
        : undefined
