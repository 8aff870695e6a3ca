import { describe, expect, it } from "vitest"
import { checks, judge, judgeAll, line } from "../../scripts/checks/all.ts"
import { house, nothing } from "./fixture.ts"

it("a house without faults passes every check", async () => {
  const verdicts = await judgeAll(house(), () => {})
  expect(verdicts.map(line).filter((it) => it.startsWith("FAIL"))).toEqual([])
  expect(verdicts.map((verdict) => verdict.name)).toEqual(Object.keys(checks))
})

describe("a check that looked at nothing fails", () => {
  for (const [name, check] of Object.entries(checks))
    it(name, async () => {
      const verdict = await judge(name, check, nothing())
      expect(verdict).toMatchObject({ ok: false, looked: 0 })
    })
})

it("says so in one line, and shows details of failures only", async () => {
  const answer = { looked: 3, unit: "files", faults: [] }
  expect(line(await judge("some", async () => answer, "."))).toBe("ok   some     3 files")
  expect(line(await judge("some", async () => ({ ...answer, looked: 0 }), "."))).toBe(
    "FAIL some     0 files\n     looked at nothing",
  )
  expect(line(await judge("some", async () => ({ ...answer, faults: ["a: b"] }), "."))).toBe(
    "FAIL some     3 files\n     a: b",
  )
})

it("a check that breaks is a failure, not a pass", async () => {
  const broken = async () => Promise.reject(new Error("no such tool"))
  expect(await judge("some", broken, ".")).toMatchObject({ ok: false })
})
