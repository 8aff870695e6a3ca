/** Agents and memory, as far as they are only thought about. */
import { describe, expect, it } from "vitest"
import type { MemoryRecord, Run } from "../../../src/feed/types.ts"
import {
  activityOf,
  filterAgents,
  inTrees,
  isPaused,
  limitsDraft,
  limitsFrom,
  limitsOfDraft,
  pairName,
  partsOf,
  shareOf,
} from "../../../src/features/agents/agents.logic.ts"
import {
  chunksOf,
  groupsOf,
  isInEveryPrompt,
  kindsIn,
  linesIn,
  excerptOf,
  tagsFrom,
  whyOf,
} from "../../../src/features/memory/memory.logic.ts"

describe("an agent in the list", () => {
  const run = (state: Run["state"], agent = "a") => ({ agent, state, id: state }) as Run
  it("works before it waits, and is paused before all", () => {
    expect(activityOf({ id: "a" }, [run("waiting_tool"), run("running")], false)).toMatchObject({ state: "runs" })
    expect(activityOf({ id: "a" }, [run("waiting_reply")], false)).toMatchObject({ state: "waits" })
    expect(activityOf({ id: "a" }, [run("running", "b")], false)).toEqual({ state: "idle", run: undefined })
    expect(activityOf({ id: "a" }, [run("running")], true)).toMatchObject({ state: "paused" })
    expect(isPaused("scout", ["agents/scout"])).toBe(true)
    expect(isPaused("scout", ["everything"])).toBe(true)
    expect(isPaused("scout", ["agents/scouts"])).toBe(false)
  })

  it("shows how much of its day is spent", () => {
    expect(shareOf(0.5, 2)).toEqual({ share: 0.25, near: false })
    expect(shareOf(5, 2)).toEqual({ share: 1, near: true })
    expect(shareOf(5, undefined)).toEqual({ share: 0, near: false })
    expect(shareOf(0, 0)).toEqual({ share: 1, near: true })
  })

  it("keeps of its limits what the form does not show, and loses what was emptied", () => {
    const before = { steps: 5, waits: 3, perDay: { cost: 1, tokens: 9 } }
    expect(limitsOfDraft(before, limitsDraft(before))).toEqual(before)
    expect(limitsOfDraft(before, { ...limitsDraft(before), dollars: "", steps: "", width: "2" })).toEqual({
      waits: 3,
      width: 2,
      perDay: { tokens: 9 },
    })
  })

  it("stands in its tree below whom it works for", () => {
    const one = (id: string, parent: string | null, ...children: ReadonlyArray<string>) => ({ id, parent, children })
    const all = [one("c", "a"), one("alone", null), one("a", null, "b", "c"), one("b", "a", "d"), one("d", "b")]
    expect(inTrees(all).map(({ id }) => id)).toEqual(["a", "b", "d", "c"])
  })

  it("is made from a form without what was left empty", () => {
    expect(limitsFrom("", "")).toEqual({})
    expect(limitsFrom("2.5", "12")).toEqual({ perDay: { cost: 2.5 }, steps: 12 })
    expect(pairName("Maya Q", "scout")).toBe("Maya-Q-scout")
    const one = (name: string, retiredAt: string | null = null) => ({ name, retiredAt }) as never
    expect(filterAgents([one("scout"), one("ledger"), one("scouty", "2026")], " SCO ")).toHaveLength(1)
    expect(partsOf([{ tokens: 1 }, { tokens: 3 }]).map(({ share }) => share)).toEqual([0.25, 0.75])
  })
})

describe("a record", () => {
  const record = (kind: string, more: Partial<MemoryRecord> = {}) => ({ kind, pinned: false, ...more }) as MemoryRecord
  it("stands with its kind", () => {
    const groups = groupsOf([record("note"), record("plan"), record("block"), record("goal"), record("fact")])
    expect(groups.map(({ group, records }) => [group, records.length])).toEqual([
      ["block", 1],
      ["record", 2],
      ["goal", 2],
    ])
  })

  it("says why a search found it", () => {
    const none = { score: 1, words: [], near: [], label: [], fixed: {} }
    expect(whyOf({})).toBe("")
    expect(whyOf({ match: { ...none, words: ["late"], fixed: { meltmi: "meltemi" } } })).toBe(
      "says late · meltmi read as meltemi",
    )
    expect(whyOf({ match: { ...none, label: ["ships"], vector: { place: 2 } } })).toBe(
      "is named ships · number 2 in meaning",
    )
  })

  it("is read from a file line by line, and the line that is no JSON is named", () => {
    const read = linesIn('{"kind":"note","content":"a"}\n\n{"kind":"fact","content":"b"}\n')
    expect(read).toMatchObject({ lines: [{ kind: "note" }, { kind: "fact" }] })
    expect("lines" in read ? kindsIn(read.lines) : "").toBe("1 note, 1 fact")
    expect(linesIn('{"kind":"note"}\nnonsense')).toEqual({ bad: 2 })
    expect(linesIn("[1]")).toEqual({ bad: 1 })
    expect(chunksOf([1, 2, 3], 2)).toEqual([[1, 2], [3]])
    expect(tagsFrom(" a, b ,a,")).toEqual(["a", "b"])
  })
})

it("a block is found where a prompt has it, under its own name first", () => {
  expect(isInEveryPrompt({ kind: "block", namespace: "office" })).toBe(true)
  expect(isInEveryPrompt({ kind: "memory", namespace: "gateway" })).toBe(true)
  expect(isInEveryPrompt({ kind: "block", namespace: "stoa" })).toBe(false)
  const sections = [
    { name: "You", text: "You are at berth 7.", tokens: 5 },
    { name: "harbour", text: "Shared with you.\nberth 7\nend", tokens: 8 },
  ]
  const at = excerptOf(sections, { key: "harbour", content: "berth 7" })
  expect(at).toMatchObject({ name: "harbour", before: "Shared with you.\n", after: "\nend", tokens: 8 })
  expect(excerptOf(sections, { key: "harbour", content: "berth 9" })).toBeUndefined()
})
