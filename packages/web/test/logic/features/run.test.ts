/** A run becomes rows, and a day of waiting does not flatten its seconds of work. */
import { describe, expect, it } from "vitest"
import type { Run, RunStep } from "../../../src/feed/types.ts"
import {
  firstOf,
  kindOfTool,
  moveOf,
  scaleOf,
  shownOf,
  spansOf,
} from "../../../src/features/runs/waterfall/spans.logic.ts"
import type { WholeRun } from "../../../src/features/runs/run.logic.ts"

const start = Date.UTC(2026, 10, 16, 10)
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
const day = 86_400

const run = (more: Partial<Run> = {}): Run => ({
  id: "run_1",
  agent: "pri_scout",
  state: "completed",
  stop: "end_turn",
  step: 2,
  trigger: { kind: "message", summary: "answers Maya" },
  space: null,
  depth: 0,
  root: "run_1",
  limits: {},
  tokens: { in: 1, out: 1 },
  cost: 0,
  createdAt: at(0),
  startedAt: at(0),
  endedAt: at(day + 8),
  ...more,
})
const step = (number: number, began: number, said: number, calls: RunStep["calls"] = []): RunStep => ({
  number,
  state: "said",
  text: "",
  calls,
  finish: "stop",
  model: "demo",
  tokens: { in: 10, out: 2, cached: 0 },
  cost: 0,
  beganAt: at(began),
  saidAt: at(said),
})
const asked: RunStep["calls"][number] = {
  place: 1,
  tool: "mail/send",
  input: {},
  call: "call_1",
  state: "done",
  beganAt: at(2),
  endedAt: at(day + 4),
  decisions: [{ id: "dec_1", askedAt: at(2), endedAt: at(day + 2) }],
}
const taken: WholeRun = { run: run(), steps: [step(1, 0, 2, [asked]), step(2, day + 4, day + 8)], children: [] }

describe("a run as rows", () => {
  it("says once what a call waits for: a form is a question, not a program beside it", () => {
    const { endedAt: _, ...open } = asked
    const form = { ...open, state: "waiting" as const, on: { kind: "client" } as never }
    const decisions = [{ id: "dec_1", askedAt: at(2) }] as typeof asked.decisions
    const going = { ...taken, run: run({ state: "waiting_tool", endedAt: null }) }
    const waits = (call: object) =>
      spansOf({ ...going, steps: [step(1, 0, 2, [call as never])] }, new Map()).filter(({ kind }) => kind === "wait")
    expect(waits({ ...form, decisions }).map(({ id }) => id)).toEqual(["s1c1d0"])
    expect(waits({ ...form, decisions: [] }).map(({ id }) => id)).toEqual(["s1c1w"])
  })

  it("has steps, and in each the model, the calls, and what a call waited for", () => {
    const spans = spansOf(taken, new Map())
    expect(spans.map(({ id, kind, level }) => [id, kind, level])).toEqual([
      ["s1", "step", 1],
      ["s1m", "model", 2],
      ["s1c1", "tool", 2],
      ["s1c1d0", "wait", 3],
      ["s2", "step", 1],
      ["s2m", "model", 2],
    ])
    expect(firstOf(spans)?.id).toBe("s2m")
  })

  it("folds a wait that is longer than a third of the work, and true scale undoes it", () => {
    const spans = spansOf(taken, new Map())
    const scale = scaleOf(spans, 0, false)
    expect(scale.worked).toBe(8000)
    expect(scale.waited).toBe(day * 1000)
    expect(scale.folded).toHaveLength(1)
    // Eight seconds of work and one fold of a third of them.
    expect(scale.place(start + 2000)).toBeCloseTo(2000 / (8000 + 8000 / 3))
    expect(scale.place(start + (day + 8) * 1000)).toBeCloseTo(1)
    expect(scale.at(scale.place(start + (day + 4) * 1000))).toBeCloseTo((day + 4) * 1000)
    expect(scaleOf(spans, 0, true).folded).toEqual([])
    expect(scaleOf(spans, 0, true).place(start + 2000)).toBeLessThan(0.001)
  })

  it("draws a wait for a reply as a wait when it is over, folded or in true scale", () => {
    const wait = {
      id: "wai_1",
      run: "run_1",
      call: "call_1",
      agent: "pri_scout",
      space: "spc_1",
      message: "msg_1",
      state: "resolved" as const,
      needed: 1,
      for: [{ id: "pri_maya", state: "replied" as const }],
      ring: false,
      since: at(2),
      until: null,
      endedAt: at(day + 3),
    }
    const { decisions: _, ...call } = { ...asked, on: { kind: "reply", id: "wai_1" } as never }
    const steps = [{ ...step(1, 0, 2, [call]), waits: [wait] }, step(2, day + 4, day + 8)]
    const spans = spansOf({ ...taken, steps }, new Map())
    expect(spans.filter(({ kind }) => kind === "wait")).toMatchObject([
      { id: "s1c1r0", level: 3, from: start + 2000, to: start + (day + 3) * 1000, on: "reply", wait },
    ])
    // The call itself is drawn as work only where it did not wait.
    expect(spans.find(({ id }) => id === "s1c1")?.works).toEqual([[start + (day + 3) * 1000, start + (day + 4) * 1000]])
    expect(scaleOf(spans, 0, false)).toMatchObject({ worked: 7000, waited: (day + 1) * 1000 })
    expect(scaleOf(spans, 0, false).folded).toHaveLength(1)
    expect(scaleOf(spans, 0, true).folded).toEqual([])
    // One that hangs on the run, as a team's request does, is a row of its step.
    const { call: __, ...hangs } = wait
    const team = spansOf({ ...taken, steps: [{ ...step(1, 0, 2), waits: [hangs] }] }, new Map())
    expect(team.map(({ id, level, to }) => [id, level, to])).toEqual([
      ["s1", 1, start + (day + 3) * 1000],
      ["s1m", 2, start + 2000],
      ["s1r0", 2, start + (day + 3) * 1000],
    ])
  })

  it("draws what came from outside as a wait when it is over, and a function of a host as work", () => {
    const { decisions: _, ...call } = asked
    const waits = (on: object) =>
      spansOf({ ...taken, steps: [step(1, 0, 2, [{ ...call, on: on as never }])] }, new Map())
        .filter(({ kind }) => kind === "wait")
        .map(({ from, to }) => [from, to])
    expect(waits({ kind: "callback", id: "call_1" })).toEqual([[start + 2000, start + (day + 4) * 1000]])
    expect(waits({ kind: "callback", id: "hst_1" })).toEqual([])
  })

  it("goes on until now while it is open, and ends with its run when that was stopped", () => {
    const open = { ...step(1, 0, 2), saidAt: null, state: "thinking" as const }
    const live = spansOf({ ...taken, run: run({ state: "running", endedAt: null }), steps: [open] }, new Map())
    expect(live.map(({ to }) => to)).toEqual([undefined, undefined])
    expect(scaleOf(live, start + 5000, false).total).toBe(5000)
    const stopped = spansOf({ ...taken, run: run({ state: "canceled", endedAt: at(3) }), steps: [open] }, new Map())
    expect(stopped.map(({ to }) => to)).toEqual([start + 3000, start + 3000])
  })

  it("shows runs within closed, until they are opened in their place", () => {
    const child = run({ id: "run_2", parent: "call_1", endedAt: at(5) })
    const whole: WholeRun = { ...taken, steps: [step(1, 0, 2, [asked])], children: [child] }
    const inside = new Map([["run_2", { run: child, steps: [step(1, 3, 4)], children: [] }]])
    const spans = spansOf(whole, inside)
    expect(spans.map(({ id }) => id)).toContain("run_2.s1m")
    expect(shownOf(spans, new Set()).map(({ id }) => id)).toEqual(["s1", "s1m", "s1c1", "s1c1d0", "run_2"])
    expect(shownOf(spans, new Set(["run_2"])).map(({ id }) => id)).toContain("run_2.s1m")
    expect(shownOf(spans, new Set(["s1"])).map(({ id }) => id)).toEqual(["s1"])
  })

  it("is walked with the arrows", () => {
    const spans = spansOf(taken, new Map())
    expect(moveOf("ArrowDown", 0, spans, new Set())).toEqual({ to: 1 })
    expect(moveOf("ArrowUp", 0, spans, new Set())).toEqual({ to: 0 })
    expect(moveOf("ArrowLeft", 3, spans, new Set())).toEqual({ to: 2 })
    expect(moveOf("ArrowLeft", 0, spans, new Set())).toEqual({ turn: "s1" })
    expect(moveOf("ArrowRight", 0, spans, new Set(["s1"]))).toEqual({ turn: "s1" })
    expect(moveOf("End", 0, spans, new Set())).toEqual({ to: 5 })
    expect(moveOf("x", 0, spans, new Set())).toBeUndefined()
  })

  it("opens two thousand rows in time that nobody notices", () => {
    const steps = Array.from({ length: 500 }, (_, number) =>
      step(
        number + 1,
        number * 10,
        number * 10 + 2,
        [1, 2].map((place) => ({ ...asked, place, call: `call_${number}_${place}` as never, decisions: [] })),
      ),
    )
    const began = process.cpuUsage()
    const spans = spansOf({ ...taken, steps }, new Map())
    scaleOf(spans, 0, false)
    shownOf(spans, new Set())
    expect(spans).toHaveLength(2000)
    // Processor time, in microseconds: other work of the machine is not counted.
    expect(process.cpuUsage(began).user).toBeLessThan(600_000)
  })

  it("tells by a tool's name what it is about", () => {
    expect(["remember", "stoa/recall", "update_memory", "post_message", "crm/contacts_of"].map(kindOfTool)).toEqual([
      "memory",
      "memory",
      "memory",
      "speech",
      "tool",
    ])
  })
})
