/** The client against a real house: it says what it did, and ends well. */
import { expect, it } from "vitest"
import { exampleHouse } from "../../test/exampleHouse.ts"

const house = exampleHouse("first-house")

it("an agent is added, works, is refused and is shut out", async () => {
  const { code, said } = await house.client()
  expect(said).toContain("came, worked and left")
  expect(code).toBe(0)
})

it("the house ends cleanly when it is told to", async () => {
  expect(await house.stopped()).toBe(0)
})
