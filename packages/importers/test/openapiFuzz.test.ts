/** Documents that are broken anywhere: the import never throws, and what it lets through is a tool. */
import { assert, describe, it } from "@effect/vitest"
import { readTool } from "@stoa/contract"
import { importOpenApi } from "../src/index.ts"
import { broken } from "./brokenPetShop.ts"

describe("broken documents", () => {
  it("2,000 of them throw nothing, and every tool that comes out is one, with only our places in it", () => {
    let tools = 0
    for (let seed = 1; seed <= 2000; seed++) {
      const result = importOpenApi(broken(seed), { baseUrl: "https://base.example" })
      for (const tool of result.tools) {
        tools++
        assert.isTrue(readTool(tool).ok, `seed ${seed}`)
        const text = JSON.stringify(tool.execution)
        assert.notInclude(text, "secret.other", `seed ${seed}`)
        for (const [, inside] of text.matchAll(/\$\{([^}]*)\}/g))
          assert.match(inside ?? "", /^secret\.\w/, `seed ${seed}`)
      }
    }
    assert.isAbove(tools, 2000)
  })
})
