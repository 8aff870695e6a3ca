/** The team of this folder on a real house, as its README says. */
import { join } from "node:path"
import { expect, it } from "vitest"
import { exampleHouse } from "../../test/exampleHouse.ts"

const house = exampleHouse("team", undefined, { STOA_PROGRAMS: "unisolated" })

it("three programs from one file work for each other, and the human hears of it", async () => {
  const made = await house.stoa("team", join(import.meta.dirname, "team.json"))
  expect(made).toEqual({ code: 0, said: expect.stringContaining("2 agents work for lead") })
  const { code, said } = await house.client()
  expect(said).toContain("asked, was answered twice, and is done")
  expect(code).toBe(0)
})
