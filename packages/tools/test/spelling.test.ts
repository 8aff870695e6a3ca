/** Names that would be taken for each other are one name to a registry, whoever writes them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { defaultToolsConfig, Registry, spellingOf, type ToolDefinition } from "../src/index.ts"

const tool = (name: string) => ({
  definition: {
    name,
    description: "does it",
    parameters: [],
    riskLevel: "low",
    timeoutMs: 1000,
    requiresApproval: false,
    source: "function",
  } satisfies ToolDefinition,
  handler: () => Effect.void,
})

const alike = ["Whoami", "WHOAMI", "whоami", "whoаmi", "whoamí", "ｗhoami", "whoamı", "ԝhoami"]
const others = ["who_ami", "who-ami", "whoam1", "whoamil", "server/whoami", "谁"]

describe("names that read alike", () => {
  it("case, marks, width and letters of other scripts make no other name", () => {
    for (const name of alike) assert.strictEqual(spellingOf(name), spellingOf("whoami"), name)
    for (const name of others) assert.notStrictEqual(spellingOf(name), spellingOf("whoami"), name)
  })

  it("capitals of other scripts, hidden characters and blanks make no other name; another letter does", () => {
    for (const name of ["Воb", "Βob", "Bo\u200bb", "Bob\u3164", " Bob ", "bob"])
      assert.strictEqual(spellingOf(name), spellingOf("Bob"), name)
    assert.strictEqual(spellingOf("Bob  the  builder"), spellingOf("Bob the builder"))
    assert.strictEqual(spellingOf("Нelen"), spellingOf("Helen"))
    assert.notStrictEqual(spellingOf("バナ"), spellingOf("ハナ"))
  })

  it.effect("a registry takes one of them, and another after that one has gone", () =>
    Effect.gen(function* () {
      for (const name of alike) {
        const registry = new Registry(defaultToolsConfig)
        yield* registry.add(tool("whoami"))
        const refused = yield* Effect.flip(registry.add(tool(name)))
        assert.include(refused.message, `${name}, which is too similar to whoami`)
        registry.remove("whoami")
        yield* registry.add(tool(name))
        for (const other of others) yield* registry.add(tool(other))
      }
    }),
  )
})
