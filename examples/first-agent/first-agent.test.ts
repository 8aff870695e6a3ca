/** The client against a real house with this folder's configuration: it says what it did, and ends well. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { exampleHouse } from "../../test/exampleHouse.ts"

const folder = import.meta.dirname
const configuration = JSON.parse(readFileSync(join(folder, "stoa.config.json"), "utf8")) as {
  models: { thinker: { rules: string } }
}
// The test's house has its file elsewhere.
configuration.models.thinker.rules = join(folder, configuration.models.thinker.rules)
const house = exampleHouse("first-agent", configuration)

it("an agent of twenty lines asks, acts once, answers and remembers", async () => {
  const { code, said } = await house.client()
  expect(said).toContain("asked, acted once, answered and remembered")
  expect(code).toBe(0)
})
