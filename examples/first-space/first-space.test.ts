/** The client against a real house: it says what it did, and ends well. */
import { expect, it } from "vitest"
import { exampleHouse } from "../../test/exampleHouse.ts"

const house = exampleHouse("first-space")

it("a space is opened, talked in, watched and left", async () => {
  const { code, said } = await house.client()
  expect(said).toContain("messages were said in")
  expect(code).toBe(0)
})
