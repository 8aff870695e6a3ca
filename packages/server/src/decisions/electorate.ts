/**
 * Who may answer: pure. A person, never the one who asked. The one the tool names, and the admins where that one cannot;
 * where nobody is named the people of the call's space, and beside them the admins.
 */
import type { PrincipalId } from "@stoa/contract"

export interface Question {
  readonly askedBy: PrincipalId
  /** The one who is named; whoever asked, where the name is nobody's. */
  readonly approver: PrincipalId | null
  /** Whether the one who is named cannot answer: no person, or gone. */
  readonly unable: boolean
  /** The people of the space it was asked in; none where there is no space. */
  readonly company: ReadonlyArray<PrincipalId>
  readonly admins: ReadonlyArray<PrincipalId>
}

export const electorate = ({ admins, approver, askedBy, company, unable }: Question): ReadonlyArray<PrincipalId> => {
  const named = unable || approver === askedBy ? admins : [approver!]
  const all = approver === null ? [...new Set([...company, ...admins])] : named
  return all.filter((one) => one !== askedBy)
}
