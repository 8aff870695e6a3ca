import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { ruleFor, rulesOf } from "./scriptRules.ts"

const office = fileURLToPath(new URL("../../demo/rules.json", import.meta.url))

describe("the rules of a scripted model", () => {
  it("look at what the last call gave: who was not answered thanks nobody", () => {
    const rules = Result.getOrThrow(rulesOf(office))
    const scene = { agent: "greeter", step: 5, text: "The office opens: welcome everybody.", outcome: "done" }
    const called = (result: object) =>
      JSON.stringify(ruleFor(rules, { ...scene, result: JSON.stringify(result) })?.call ?? [])
    assert.match(called({ status: "timeout", replies: [] }), /No hurry/)
    assert.notMatch(called({ status: "timeout", replies: [] }), /Thank you/)
    assert.match(called({ status: "answered", replies: ["Maya"] }), /Thank you/)
  })
})
