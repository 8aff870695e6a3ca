/** Rows of memory as values. */
import {
  type CallId,
  type MemoryId,
  type MemoryMatch,
  type MemoryNamespace,
  MemoryRecord,
  MemoryVersion,
  type MessageId,
  type PrincipalId,
} from "@stoa/contract"
import { DateTime } from "effect"
import { authorsIn, isBy } from "./authorship.ts"

interface Versioned {
  readonly content: string
  readonly mediaType: string
  readonly tags: string
  readonly public: boolean | number
  readonly pinned: boolean | number
  readonly version: number
  readonly principal: PrincipalId
  readonly call: CallId | null
  readonly message: MessageId | null
  readonly expiresAt: string | null
  /** Who wrote its words (`authorship.ts`). */
  readonly authors: string
}

export interface RecordRow extends Versioned {
  readonly id: MemoryId
  readonly owner: PrincipalId
  readonly namespace: MemoryNamespace
  readonly kind: string
  readonly key: string
  readonly slot: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly deletedAt: string | null
  /** What it counts for its owner (`weight.ts`). Null: not counted yet. */
  readonly bytes: number | null
}

export interface VersionRow extends Versioned {
  readonly record: MemoryId
  readonly at: string
}

const moment = (text: string) => DateTime.makeUnsafe(text)
const momentOrNull = (text: string | null) => (text === null ? null : moment(text))
const flag = (value: boolean | number) => value === true || value === 1

/** Who wrote its words, where that is not simply whoever made this version. */
const authorsOf = (row: Versioned) => {
  const authors = authorsIn(row.authors, row.principal)
  return isBy(authors, row.principal) ? {} : { authors }
}

const versionedOf = (row: Versioned) => ({
  content: row.content,
  mediaType: row.mediaType,
  tags: JSON.parse(row.tags) as ReadonlyArray<string>,
  public: flag(row.public),
  pinned: flag(row.pinned),
  version: row.version,
  expiresAt: momentOrNull(row.expiresAt),
  origin: { principal: row.principal, call: row.call, message: row.message },
  ...authorsOf(row),
})

export const recordFrom = (row: RecordRow, match?: MemoryMatch): MemoryRecord =>
  new MemoryRecord({
    id: row.id,
    owner: row.owner,
    namespace: row.namespace,
    kind: row.kind,
    key: row.key,
    ...versionedOf(row),
    createdAt: moment(row.createdAt),
    updatedAt: moment(row.updatedAt),
    deletedAt: momentOrNull(row.deletedAt),
    ...(match === undefined ? {} : { match }),
  })

export const versionFrom = (row: VersionRow): MemoryVersion =>
  new MemoryVersion({ ...versionedOf(row), at: moment(row.at) })
