/** Whose words a record has, for rooms that show them to somebody. Pure. */
import type { MemoryRecord, PrincipalId } from "@stoa/contract"

type Written = Pick<MemoryRecord, "origin" | "authors" | "owner">

/** Everybody who wrote some of its words. */
const authorsOf = ({ authors, origin }: Written): ReadonlyArray<PrincipalId> =>
  authors === undefined ? [origin.principal] : [...new Set([...authors.content, ...authors.tags])]

/** Those of them who are not its owner. */
export const otherAuthorsOf = (record: Written): ReadonlyArray<PrincipalId> =>
  authorsOf(record).filter((author) => author !== record.owner)

/** The one it is said to be by: another before its owner, so that nobody speaks as the owner. */
export const writerOf = (record: Written): PrincipalId => otherAuthorsOf(record)[0] ?? record.owner
