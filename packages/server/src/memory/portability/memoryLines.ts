/** Versions as lines, and the house's seal on them. Pure except for the key. */
import type { MemoryId, MemoryLine, MemoryNamespace, MemoryRight, PrincipalId } from "@stoa/contract"
import { DateTime, type Redacted } from "effect"
import { isMacOf, macOf, shortestMac, type SignedText, signedText } from "../../access/secrets/SignedText.ts"
import { authorsText } from "../records/authorship.ts"
import { type RecordRow, recordFrom, type VersionRow } from "../records/rows.ts"

export interface LineRow extends VersionRow {
  readonly namespace: MemoryNamespace
  readonly kind: string
  readonly key: string
  readonly createdAt: string
  readonly deletedAt: string | null
  readonly newest: number
  readonly owner: PrincipalId
}

export interface ShareRow {
  readonly record: MemoryId
  readonly principal: PrincipalId
  readonly access: MemoryRight
}

const momentOf = (text: string) => DateTime.makeUnsafe(text)
const textOf = (at: DateTime.Utc | undefined): string | null => (at === undefined ? null : DateTime.formatIso(at))

const signedTextOf = (owner: PrincipalId, line: MemoryLine): SignedText => {
  const { at, createdAt, deletedAt, expiresAt, seal: _seal, shares, ...rest } = line
  return signedText.memoryLine(owner, [
    Object.entries(rest).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    [createdAt, at, expiresAt, deletedAt].map(textOf),
    (shares ?? []).map(({ principal, right }) => [principal, right]),
  ])
}

export const sealed = (key: Redacted.Redacted, owner: PrincipalId, line: MemoryLine): MemoryLine => ({
  ...line,
  seal: macOf(key, signedTextOf(owner, line)).slice(0, shortestMac),
})

/** Whether this house wrote the line for this owner, unchanged since. */
export const isSealed = (key: Redacted.Redacted, owner: PrincipalId, line: MemoryLine): boolean => {
  if (line.seal === undefined || !/^[0-9a-f]{40}$/.test(line.seal)) return false
  return isMacOf(key, signedTextOf(owner, line), line.seal)
}

/** Leaves out defaults: people read and edit the file. */
export const lineOf = (row: LineRow, shares: ReadonlyArray<ShareRow>): MemoryLine => {
  const {
    authors,
    public: open,
    pinned,
    tags,
  } = recordFrom({ ...row, id: row.record, slot: "", updatedAt: row.at, bytes: null })
  const current = row.version === row.newest
  const own = current ? shares.filter(({ record }) => record === row.record) : []
  return {
    id: row.record,
    namespace: row.namespace,
    kind: row.kind,
    key: row.key,
    version: row.version,
    current,
    content: row.content,
    mediaType: row.mediaType,
    tags,
    public: open,
    pinned,
    createdAt: momentOf(row.createdAt),
    at: momentOf(row.at),
    ...(row.expiresAt === null ? {} : { expiresAt: momentOf(row.expiresAt) }),
    ...(row.deletedAt === null ? {} : { deletedAt: momentOf(row.deletedAt) }),
    ...(row.principal === row.owner ? {} : { by: row.principal }),
    ...(authors === undefined ? {} : { authors }),
    ...(row.call === null ? {} : { call: row.call }),
    ...(row.message === null ? {} : { message: row.message }),
    ...(own.length === 0 ? {} : { shares: own.map(({ access, principal }) => ({ principal, right: access })) }),
  }
}

/** A sealed line as the original row. */
export const rowOf = (line: MemoryLine, owner: PrincipalId, slot: string): RecordRow => ({
  id: line.id!,
  owner,
  namespace: line.namespace!,
  kind: line.kind,
  key: line.key!,
  slot,
  content: line.content,
  mediaType: line.mediaType!,
  tags: JSON.stringify(line.tags),
  public: line.public!,
  pinned: line.pinned!,
  version: line.version!,
  principal: line.by ?? owner,
  authors: line.authors === undefined ? "{}" : authorsText(line.authors),
  call: line.call ?? null,
  message: line.message ?? null,
  createdAt: textOf(line.createdAt)!,
  updatedAt: textOf(line.at)!,
  expiresAt: textOf(line.expiresAt),
  deletedAt: textOf(line.deletedAt),
  bytes: null,
})
