/**
 * The states of a call as a total table: a new state or step does not compile until every cell is filled. Every change
 * of state uses it: an INSERT takes the state that follows `received`, an UPDATE the states a step may start from.
 */
import type { CallState } from "@stoa/contract"

/**
 * `wait`: it waits for something. `start`: it runs. `takeOver`: it continues in another process because its own is
 * dead. The others settle it.
 */
export type Step = "wait" | "start" | "takeOver" | Settling
export type Settling = "finish" | "fail" | "refuse" | "cancel" | "expire"

type Row = Record<Step, CallState | null>

const over: Row = {
  wait: null,
  start: null,
  takeOver: null,
  finish: null,
  fail: null,
  refuse: null,
  cancel: null,
  expire: null,
}

/** null: refused. A settled call never changes. */
export const next: Record<CallState, Row> = {
  received: {
    wait: "waiting",
    start: "running",
    takeOver: null,
    finish: "done",
    fail: "failed",
    refuse: "refused",
    cancel: "canceled",
    expire: null,
  },
  waiting: {
    wait: null,
    start: "running",
    takeOver: null,
    finish: "done",
    fail: "failed",
    refuse: "refused",
    cancel: "canceled",
    expire: "expired",
  },
  running: {
    wait: "waiting",
    start: null,
    takeOver: "running",
    finish: "done",
    fail: "failed",
    refuse: null,
    cancel: "canceled",
    expire: null,
  },
  done: over,
  failed: over,
  refused: over,
  canceled: over,
  expired: over,
}

const states = Object.keys(next) as ReadonlyArray<CallState>
export const steps = Object.keys(over) as ReadonlyArray<Step>

/** The states that a step may start from: the condition of an UPDATE. */
export const from = (step: Step): ReadonlyArray<CallState> => states.filter((state) => next[state][step] !== null)

/** Where a step leads: every step has exactly one target state. */
const ends = Object.fromEntries(
  steps.map((step) => {
    const [to, ...others] = new Set(from(step).map((state) => next[state][step]!))
    if (to === undefined || others.length > 0) throw new Error(`${step} does not lead to one state`)
    return [step, to]
  }),
) as Record<Step, CallState>
export const to = (step: Step): CallState => ends[step]

/** The state of a call that is first recorded at this step. */
export const first = (step: Exclude<Step, "takeOver" | "expire">): CallState => next.received[step]!

export const isSettled = (state: CallState): boolean => next[state] === over
/** The states that may still change. */
export const open: ReadonlyArray<CallState> = states.filter((state) => !isSettled(state))
