/** The states of a decision as a total table: a new state or action does not compile until every cell is filled. */
import type { DecisionState } from "@stoa/contract"

/**
 * `approve`: the first of two people says yes. `answer`: an answer closes it. `escalate`: others may answer, too.
 * `expire`: nobody answered. `cancel`: its subject is gone.
 */
export type Act = "approve" | "answer" | "escalate" | "expire" | "cancel"

type Row = Record<Act, DecisionState | null>

const closed: Row = { approve: null, answer: null, escalate: null, expire: null, cancel: null }

/** null: refused. A closed decision never changes. */
export const next: Record<DecisionState, Row> = {
  open: { approve: "open", answer: "answered", escalate: "open", expire: "expired", cancel: "canceled" },
  answered: closed,
  expired: closed,
  canceled: closed,
}

/** The state of a decision that was just asked. */
export const first = "open" satisfies DecisionState

const states = Object.keys(next) as ReadonlyArray<DecisionState>

/** The states in which an act is possible: the condition of an UPDATE. */
export const from = (act: Act): ReadonlyArray<DecisionState> => states.filter((state) => next[state][act] !== null)

/** Where an act leads: always to the same state, which a test verifies. */
export const leadsTo = (act: Act): DecisionState => next[from(act)[0]!][act]!

export const isOpen = (state: DecisionState): boolean => next[state] !== closed
