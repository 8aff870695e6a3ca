/** The client against a real house: it says what it did, and ends well. */
import { expect, it } from "vitest"
import { exampleHouse } from "../../test/exampleHouse.ts"

const house = exampleHouse("first-wallet")

it("S2-78 X-59 X-62 somebody signs in with a wallet, keeps an engram and talks in a session", async () => {
  const { code, said } = await house.client()
  expect(said).toContain("signed in with")
  expect(code).toBe(0)
})
