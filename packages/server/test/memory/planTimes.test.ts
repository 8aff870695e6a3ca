/** When plans are due: delays, times, cron lines, time zones and the two nights a year that are not like others. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import { dueAfter, dueAgain, isLate, type Schedule } from "../../src/memory/plans/planTimes.ts"

const at = (text: string) => DateTime.makeUnsafe(text)
const due = (schedule: Schedule, now: string): string =>
  Result.match(dueAfter(schedule, at(now)), {
    onSuccess: (found) => DateTime.formatIso(found),
    onFailure: (why) => `refused: ${why}`,
  })
const now = "2026-11-16T06:00:00.000Z"

describe("plan times", () => {
  it("S1-59 a delay in words, or an absolute time, with or without a zone", () => {
    assert.strictEqual(due({ runAfter: "2 hours" }, now), "2026-11-16T08:00:00.000Z")
    assert.strictEqual(due({ runAfter: "30m" }, now), "2026-11-16T06:30:00.000Z")
    assert.strictEqual(due({ runAfter: "1 day" }, now), "2026-11-17T06:00:00.000Z")
    assert.strictEqual(due({ scheduledAt: "2026-12-01T09:00:00Z" }, now), "2026-12-01T09:00:00.000Z")
    assert.strictEqual(due({ scheduledAt: "2026-12-01T09:00:00+02:00" }, now), "2026-12-01T07:00:00.000Z")
    assert.strictEqual(
      due({ scheduledAt: "2026-12-01T09:00:00", timezone: "Europe/Berlin" }, now),
      "2026-12-01T08:00:00.000Z",
    )
  })

  it("S1-59 two of the three, none, and what cannot be read are refused with a sentence", () => {
    const bad: ReadonlyArray<readonly [Schedule, RegExp]> = [
      [{}, /exactly one/],
      [{ runAfter: "1 hour", cron: "0 9 * * *" }, /exactly one/],
      [{ runAfter: "1 hour", scheduledAt: "2027-01-01T00:00:00Z" }, /exactly one/],
      [{ runAfter: "soon" }, /not a delay/],
      [{ runAfter: "999999999 weeks" }, /too far/],
      [{ scheduledAt: "tomorrow" }, /not a time/],
      [{ scheduledAt: "2026-13-40T09:00:00Z" }, /not a time/],
      [{ scheduledAt: "2027-02-30T09:00:00Z" }, /not a time/],
      [{ scheduledAt: "2027-06-31T09:00:00", timezone: "Europe/Berlin" }, /not a time/],
      [{ scheduledAt: "2020-01-01T00:00:00Z" }, /is in the past/],
      [{ cron: "often" }, /not a cron line/],
      [{ cron: "61 * * * *" }, /not a cron line/],
      [{ cron: "* * * * * *" }, /not a cron line/],
      [{ cron: "0 0 31 2 *" }, /never comes/],
      [{ cron: "0 9 * * *", timezone: "Mars/Olympus" }, /not a time zone/],
    ]
    for (const [schedule, why] of bad) assert.match(due(schedule, now), why, JSON.stringify(schedule))
  })

  it("G-26 a cron line goes by its zone's clock, over both changes of it", () => {
    const berlin = { timezone: "Europe/Berlin" }
    const nine = { cron: "0 9 * * *", ...berlin }
    assert.strictEqual(due(nine, "2026-03-27T12:00:00Z"), "2026-03-28T08:00:00.000Z")
    assert.strictEqual(due(nine, "2026-03-28T12:00:00Z"), "2026-03-29T07:00:00.000Z")
    assert.strictEqual(due(nine, "2026-10-24T12:00:00Z"), "2026-10-25T08:00:00.000Z")
    // 02:30 does not exist on 29 March; it comes twice on 25 October, and counts once.
    const night = { cron: "30 2 * * *", ...berlin }
    const spring = due(night, "2026-03-28T12:00:00Z")
    assert.isTrue(spring >= "2026-03-29T01:00:00.000Z" && spring <= "2026-03-30T00:30:00.000Z", spring)
    const first = due(night, "2026-10-24T12:00:00Z")
    assert.strictEqual(first, "2026-10-25T00:30:00.000Z")
    assert.strictEqual(due(night, first), "2026-10-26T01:30:00.000Z")
  })

  it("G-26 times that were missed: one is made up for, or all, or the next comes", () => {
    const hourly = { cron: "0 * * * *" }
    const [was, back] = [at("2026-11-16T07:00:00Z"), at("2026-11-16T11:20:00Z")]
    const again = (missed: "skip" | "once" | "all") => DateTime.formatIso(dueAgain(hourly, missed, was, back)!)
    assert.deepStrictEqual(
      [again("once"), again("skip"), again("all")],
      ["2026-11-16T12:00:00.000Z", "2026-11-16T12:00:00.000Z", "2026-11-16T08:00:00.000Z"],
    )
    assert.isUndefined(dueAgain({ runAfter: "1 hour" }, "all", was, back))
    // A house that was away for long makes up for one: however many plans there are, its first minute is not theirs.
    for (const [line, days, next] of [
      ["0 0 * * *", 90, "2026-08-19T00:00:00.000Z"],
      ["0 0 * * *", 110, "2026-11-17T00:00:00.000Z"],
      ["0 * * * *", 4, "2026-11-12T12:00:00.000Z"],
      ["0 * * * *", 5, "2026-11-16T12:00:00.000Z"],
      ["* * * * *", 365, "2026-11-16T11:21:00.000Z"],
    ] as const) {
      const due = DateTime.subtract(back, { days })
      assert.strictEqual(DateTime.formatIso(dueAgain({ cron: line }, "all", due, back)!), next, `${line} ${days}`)
    }
    assert.deepStrictEqual([isLate(was, at("2026-11-16T07:00:30Z")), isLate(was, back)], [false, true])
  })
})
