/**
 * Who may answer: pure. A person, never the one who asked. The one the tool names; otherwise the people of the call's
 * space; otherwise, and beside them, the admins.
 */
import type { PrincipalId } from "@stoa/contract"

export interface Question {
  readonly askedBy: PrincipalId
  readonly approver: PrincipalId | null
  /** The people of the space it was asked in; none where there is no space. */
  readonly company: ReadonlyArray<PrincipalId>
  readonly admins: ReadonlyArray<PrincipalId>
}

export const electorate = ({ admins, approver, askedBy, company }: Question): ReadonlyArray<PrincipalId> => {
  const all = approver === null ? [...new Set([...company, ...admins])] : [approver]
  return all.filter((one) => one !== askedBy)
}
