import { assert, describe, it } from "@effect/vitest"
import {
  findAnsweredWait,
  findRaisedWaits,
  closedStateOf,
  type PostedMessage,
  type OpenWait,
  findWaitCycles,
  waitResult,
} from "./waitRules.ts"

const wait = (over: Partial<OpenWait> = {}): OpenWait => ({
  id: "w1",
  agent: "waiter",
  message: "asked",
  parties: [{ principal: "other", state: "awaited" }],
  ...over,
})
const heard = (over: Partial<PostedMessage> = {}): PostedMessage => ({
  id: "m",
  author: "other",
  authorKind: "agent",
  replyTo: null,
  mentions: [],
  ...over,
})

describe("which message answers which wait", () => {
  it("X-09 a reply answers; a plain post of the awaited answers; one that mentions the waiting one is a new matter", () => {
    assert.strictEqual(findAnsweredWait([wait()], heard({ replyTo: "asked" }))?.id, "w1")
    assert.strictEqual(findAnsweredWait([wait()], heard({ replyTo: "asked", mentions: ["waiter"] }))?.id, "w1")
    assert.strictEqual(findAnsweredWait([wait()], heard())?.id, "w1")
    assert.isUndefined(findAnsweredWait([wait()], heard({ mentions: ["waiter"] })))
    assert.strictEqual(findAnsweredWait([wait()], heard({ authorKind: "person", mentions: ["waiter"] }))?.id, "w1")
    assert.isUndefined(findAnsweredWait([wait()], heard({ author: "stranger" })))
  })

  it("X-09 S1-99 a reply of somebody of whom none was expected any more counts; a new matter leaves the wait as it is", () => {
    for (const state of ["silent", "gone", "replied"] as const) {
      const one = wait({ parties: [{ principal: "other", state }] })
      assert.strictEqual(
        findAnsweredWait([one], heard({ replyTo: "asked" }))?.id,
        state === "replied" ? undefined : "w1",
      )
      assert.isUndefined(findAnsweredWait([one], heard()))
      assert.deepStrictEqual(findRaisedWaits([one], heard({ mentions: ["waiter"] })), [])
    }
    const ids = (found: ReadonlyArray<OpenWait>) => found.map(({ id }) => id)
    assert.deepStrictEqual(ids(findRaisedWaits([wait()], heard({ mentions: ["waiter"] }))), ["w1"])
    assert.deepStrictEqual(ids(findRaisedWaits([wait()], heard({ mentions: ["somebody"] }))), [])
    assert.deepStrictEqual(ids(findRaisedWaits([wait({ parties: [] })], heard({ mentions: ["waiter"] }))), [])
  })

  it("S1-47 S1-48 of two waits the one that is replied to is answered, and a reply to something else answers none", () => {
    const two = [wait(), wait({ id: "w2", message: "second" })]
    assert.strictEqual(findAnsweredWait(two, heard({ replyTo: "second" }))?.id, "w2")
    assert.strictEqual(findAnsweredWait(two, heard())?.id, "w1")
    assert.isUndefined(findAnsweredWait(two, heard({ replyTo: "elsewhere" })))
  })

  it("S1-99 without a mention the first message of anybody else answers", () => {
    const anyone = wait({ parties: [] })
    assert.strictEqual(findAnsweredWait([anyone], heard({ author: "stranger" }))?.id, "w1")
    assert.isUndefined(findAnsweredWait([anyone], heard({ author: "waiter" })))
    assert.isUndefined(findAnsweredWait([anyone], heard({ id: "asked" })))
  })

  it("S1-100 G-01 all, any or so many: a wait closes when enough have come, or nobody is left who could answer", () => {
    const party = (state: "awaited" | "replied" | "silent" | "gone", principal = "x") => ({ principal, state })
    assert.isUndefined(closedStateOf({ needed: 2, replies: 1, parties: [party("replied"), party("awaited")] }))
    assert.strictEqual(
      closedStateOf({ needed: 1, replies: 1, parties: [party("replied"), party("awaited")] }),
      "resolved",
    )
    assert.strictEqual(closedStateOf({ needed: 2, replies: 1, parties: [party("replied"), party("silent")] }), "silent")
    assert.strictEqual(closedStateOf({ needed: 1, replies: 0, parties: [party("gone")] }), "silent")
    assert.isUndefined(closedStateOf({ needed: 1, replies: 0, parties: [] }))
    // One who was asked can still answer, even if the others cannot.
    for (const left of ["silent", "gone"] as const)
      for (const needed of [1, 2, 3])
        assert.isUndefined(closedStateOf({ needed, replies: 0, parties: [party(left), party(left), party("awaited")] }))
    assert.deepStrictEqual(
      [waitResult("resolved", 2), waitResult("silent", 0), waitResult("released", 1), waitResult("timeout", 0)],
      ["resolved", "timeout", "partial_timeout", "timeout"],
    )
  })

  it("G-02 those who wait for each other in a ring are found", () => {
    assert.deepStrictEqual(
      [
        ...findWaitCycles([
          ["a", "b"],
          ["b", "c"],
          ["c", "a"],
          ["d", "a"],
        ]),
      ].toSorted(),
      ["a", "b", "c"],
    )
    assert.strictEqual(
      findWaitCycles([
        ["a", "b"],
        ["b", "c"],
      ]).size,
      0,
    )
  })
})
