/** The client against a real house: it says what it did, and ends well. */
import { expect, it } from "vitest"
import { exampleHouse } from "../../test/exampleHouse.ts"

const house = exampleHouse("first-tool")

it("a function is offered, called, approved and done", async () => {
  const { code, said } = await house.client()
  expect(said).toContain("1 folder was wiped")
  expect(code).toBe(0)
})
