/** The states of a decision as a total table: a new state or action does not compile until every cell is filled. */
import type { DecisionState } from "@stoa/contract"

/**
 * `approve`: the first of two people says yes. `answer`: an answer closes it. `escalate`: others may answer, too.
 * `expire`: nobody answered. `cancel`: what it was about is gone.
 */
export type Act = "approve" | "answer" | "escalate" | "expire" | "cancel"

type Row = Record<Act, DecisionState | null>

const closed: Row = { approve: null, answer: null, escalate: null, expire: null, cancel: null }

/** null: refused. What is closed stays as it is. */
export const next: Record<DecisionState, Row> = {
  open: { approve: "open", answer: "answered", escalate: "open", expire: "expired", cancel: "canceled" },
  answered: closed,
  expired: closed,
  canceled: closed,
}

const states = Object.keys(next) as ReadonlyArray<DecisionState>

/** The states in which an act is possible: what an UPDATE asks for. */
export const from = (act: Act): ReadonlyArray<DecisionState> => states.filter((state) => next[state][act] !== null)

/** Where an act leads. It leads to one state, from wherever it is possible: a test holds the table to that. */
export const leadsTo = (act: Act): DecisionState => next[from(act)[0]!][act]!

export const isOpen = (state: DecisionState): boolean => next[state] !== closed
