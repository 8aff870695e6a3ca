/** The client against a real house: it says what it did, and ends well. */
import { expect, it } from "vitest"
import { exampleHouse } from "../../test/exampleHouse.ts"

const house = exampleHouse("first-webhook", { egress: { allow: ["127.0.0.1"] } })

it("a service is asked, knows by whom, and answers later", async () => {
  const { code, said } = await house.client()
  expect(said).toContain("1 job was done")
  expect(code).toBe(0)
})
