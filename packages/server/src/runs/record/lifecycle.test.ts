import { assert, it } from "@effect/vitest"
import { RunState, StopReason } from "@stoa/contract"
import { endOf, from, open, type RunChange, to } from "./lifecycle.ts"

const states: ReadonlyArray<RunState> = [
  "queued",
  "running",
  "waiting_reply",
  "waiting_tool",
  "completed",
  "failed",
  "canceled",
]
/** From where each change is allowed, and where it leads; from every other state it is refused. */
const table: Record<RunChange, readonly [from: ReadonlyArray<RunState>, to: RunState]> = {
  claim: [["queued"], "running"],
  recover: [["running"], "running"],
  advance: [["running"], "running"],
  parkTool: [["running"], "waiting_tool"],
  parkReply: [["running"], "waiting_reply"],
  awaitReply: [["waiting_tool"], "waiting_reply"],
  ring: [["waiting_tool", "waiting_reply"], "queued"],
  takeSlot: [["waiting_tool", "waiting_reply"], "running"],
  handBack: [["running"], "queued"],
  complete: [["running"], "completed"],
  fail: [["queued", "running", "waiting_tool", "waiting_reply"], "failed"],
  cancel: [["queued", "running", "waiting_tool", "waiting_reply"], "canceled"],
}

it("S1-97 every change leads on from these states of the seven, and from no other", () => {
  for (const [change, [allowed, end]] of Object.entries(table) as ReadonlyArray<
    [RunChange, (typeof table)[RunChange]]
  >) {
    assert.sameMembers([...from(change)], [...allowed], change)
    assert.strictEqual(to(change), end, change)
  }
  assert.sameMembers([...open], ["queued", "running", "waiting_tool", "waiting_reply"])
  // An ended run never changes.
  for (const state of states.filter((one) => !open.includes(one)))
    for (const change of Object.keys(table) as ReadonlyArray<RunChange>) assert.notInclude(from(change), state)
  assert.deepStrictEqual([...new Set(Object.values(endOf))].toSorted(), ["cancel", "complete", "fail"])
})

it("S0-55 X-19 a run is in one of these states and ends for one of these reasons, each in one way, and no other is known", () => {
  assert.sameMembers([...RunState.literals], [...states])
  const ends = {
    complete: ["end_turn", "no_tool_call"],
    fail: [
      "max_steps",
      "max_tokens_exceeded",
      "max_cost",
      "max_minutes",
      "budget_spent",
      "invalid_tool_call",
      "no_answer",
      "error",
      "crashed",
    ],
    cancel: ["cancelled", "paused", "retired"],
  }
  assert.sameMembers([...StopReason.literals], Object.values(ends).flat())
  for (const [end, reasons] of Object.entries(ends))
    for (const reason of reasons) assert.strictEqual(endOf[reason as StopReason], end, reason)
})
