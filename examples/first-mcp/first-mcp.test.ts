/** Both official clients against a real house, each in its own protocol era. */
import { expect, it } from "vitest"
import { exampleHouse } from "../../test/exampleHouse.ts"

const house = exampleHouse("first-mcp")

it("a client of each era lists the tools and calls one", async () => {
  const { code, said } = await house.client()
  expect(said).toMatch(/2025-11-25 \d+ \{[^]*name: 'admin'[^]*2026-07-28 \d+ \{[^]*name: 'admin'/)
  expect(code).toBe(0)
})

it("the house ends cleanly when it is told to", async () => {
  expect(await house.stopped()).toBe(0)
})
