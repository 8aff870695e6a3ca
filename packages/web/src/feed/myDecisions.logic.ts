/** Whose turn a decision is. The house says who may answer; nothing on the page decides it. */
import type { Decision } from "./types.ts"

/** Decisions that this person may answer now and has not approved already. */
export const isMine = (decision: Decision, me: string): boolean =>
  decision.state === "open" && decision.mayAnswer.includes(me) && !decision.approvals.includes(me)
