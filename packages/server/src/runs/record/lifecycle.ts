/**
 * The states of a run as a total table: a new state or step does not compile until every cell is filled. Every change
 * of a run's state is checked against it. Pure.
 */
import type { RunState, StopReason } from "@stoa/contract"

/**
 * `claim`: a house works on it. `recover`: another house does, since its own is gone. `advance`: a step was taken. `park*`: all
 * that is left is to wait. `awaitReply`: its calls, of which some waited for something else, now wait for replies alone. `ring`: what it waited for has come. `takeSlot`: the same, and its house has room for it. `handBack`: its house closes. The others end it.
 */
export type RunChange =
  | "claim"
  | "recover"
  | "advance"
  | "parkTool"
  | "parkReply"
  | "awaitReply"
  | "ring"
  | "takeSlot"
  | "handBack"
  | "complete"
  | "fail"
  | "cancel"

type Row = Record<RunChange, RunState | null>

const none: Row = {
  claim: null,
  recover: null,
  advance: null,
  parkTool: null,
  parkReply: null,
  awaitReply: null,
  ring: null,
  takeSlot: null,
  handBack: null,
  complete: null,
  fail: null,
  cancel: null,
}

/** null: refused. An ended run never changes. */
const next: Record<RunState, Row> = {
  queued: { ...none, claim: "running", fail: "failed", cancel: "canceled" },
  running: {
    ...none,
    recover: "running",
    advance: "running",
    parkTool: "waiting_tool",
    parkReply: "waiting_reply",
    handBack: "queued",
    complete: "completed",
    fail: "failed",
    cancel: "canceled",
  },
  waiting_tool: {
    ...none,
    awaitReply: "waiting_reply",
    ring: "queued",
    takeSlot: "running",
    fail: "failed",
    cancel: "canceled",
  },
  waiting_reply: { ...none, ring: "queued", takeSlot: "running", fail: "failed", cancel: "canceled" },
  completed: none,
  failed: none,
  canceled: none,
}

const states = Object.keys(next) as ReadonlyArray<RunState>

/** The states that a change may start from: the condition of an UPDATE. */
export const from = (change: RunChange): ReadonlyArray<RunState> =>
  states.filter((state) => next[state][change] !== null)

/** Where it leads: every change has exactly one target. */
export const to = (change: RunChange): RunState => next[from(change)[0]!][change]!

const isOver = (state: RunState): boolean => next[state] === none
export const open: ReadonlyArray<RunState> = states.filter((state) => !isOver(state))

/** The waiting states, which a ring ends. */
export const waiting: ReadonlyArray<RunState> = from("ring")

/** How a run ends for this reason. */
export const endOf: Record<StopReason, "complete" | "fail" | "cancel"> = {
  end_turn: "complete",
  no_tool_call: "complete",
  max_steps: "fail",
  max_tokens_exceeded: "fail",
  max_cost: "fail",
  max_minutes: "fail",
  budget_spent: "fail",
  invalid_tool_call: "fail",
  no_answer: "fail",
  error: "fail",
  crashed: "fail",
  cancelled: "cancel",
  paused: "cancel",
  retired: "cancel",
}
