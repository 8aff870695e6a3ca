/**
 * The life of a run as a total table: a new state or step does not compile until every cell is filled. Whatever changes the
 * state of a run asks it where the step may come from. Pure.
 */
import type { RunState, StopReason } from "@stoa/contract"

/**
 * `claim`: a house works on it. `recover`: another house does, since its own is gone. `advance`: a step was taken. `park*`: all
 * that is left is to wait. `ring`: what it waited for has come. `takeSlot`: the same, and its house has room for it. `handBack`: its house closes. The others end it.
 */
export type RunChange =
  | "claim"
  | "recover"
  | "advance"
  | "parkTool"
  | "parkReply"
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
  ring: null,
  takeSlot: null,
  handBack: null,
  complete: null,
  fail: null,
  cancel: null,
}

/** null: refused. What has ended stays as it is. */
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
  waiting_tool: { ...none, ring: "queued", takeSlot: "running", fail: "failed", cancel: "canceled" },
  waiting_reply: { ...none, ring: "queued", takeSlot: "running", fail: "failed", cancel: "canceled" },
  completed: none,
  failed: none,
  canceled: none,
}

const states = Object.keys(next) as ReadonlyArray<RunState>

/** The states from which a change leads on: what an UPDATE asks for. */
export const from = (change: RunChange): ReadonlyArray<RunState> =>
  states.filter((state) => next[state][change] !== null)

/** Where it leads: every change has one end. */
export const to = (change: RunChange): RunState => next[from(change)[0]!][change]!

const isOver = (state: RunState): boolean => next[state] === none
export const open: ReadonlyArray<RunState> = states.filter((state) => !isOver(state))

/** Those that wait, and are woken by a ring. */
export const waiting: ReadonlyArray<RunState> = from("ring")

/** How a run with this reason has ended. */
export const endOf: Record<StopReason, "complete" | "fail" | "cancel"> = {
  end_turn: "complete",
  no_tool_call: "complete",
  max_steps: "fail",
  max_tokens_exceeded: "fail",
  max_cost: "fail",
  max_minutes: "fail",
  max_waits: "fail",
  budget_spent: "fail",
  invalid_tool_call: "fail",
  no_answer: "fail",
  error: "fail",
  crashed: "fail",
  cancelled: "cancel",
  paused: "cancel",
  retired: "cancel",
}
