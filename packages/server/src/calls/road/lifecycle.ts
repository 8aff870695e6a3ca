/** The life of a call as a total table: a new state or step does not compile until every cell is filled. */
import type { CallState } from "@stoa/contract"

/** `wait`: it waits for something. `start`: it runs. The others settle it. */
export type Step = "wait" | "start" | "finish" | "fail" | "refuse" | "cancel" | "expire"

type Row = Record<Step, CallState | null>

const over: Row = { wait: null, start: null, finish: null, fail: null, refuse: null, cancel: null, expire: null }

/** null: refused. What has settled stays as it is. */
export const next: Record<CallState, Row> = {
  received: {
    wait: "waiting",
    start: "running",
    finish: "done",
    fail: "failed",
    refuse: "refused",
    cancel: "canceled",
    expire: null,
  },
  waiting: {
    wait: null,
    start: "running",
    finish: "done",
    fail: "failed",
    refuse: "refused",
    cancel: "canceled",
    expire: "expired",
  },
  running: {
    wait: "waiting",
    start: null,
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

/** The states from which a step leads on: what an UPDATE asks for. */
export const from = (step: Step): ReadonlyArray<CallState> => states.filter((state) => next[state][step] !== null)

/** The state a settling step leads to, from wherever it is allowed. */
export const settledBy: Record<Exclude<Step, "wait" | "start">, CallState> = {
  finish: "done",
  fail: "failed",
  refuse: "refused",
  cancel: "canceled",
  expire: "expired",
}

export const isSettled = (state: CallState): boolean => next[state] === over
