import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { Redacted } from "effect"
import { StateSeal } from "./sealedState.ts"

const binding = {
  principal: "prn_1",
  endpoint: "all",
  method: "tools/call",
  params: { name: "t", arguments: { a: 1 } },
}
const seal = () => new StateSeal(Redacted.make("a key of the house"))

describe("sealed state", () => {
  it("comes back as it went, under an id of its own, and survives a restart of the house", () => {
    const text = seal().seal({ round: 2 }, binding, 0)
    const after = seal()
    const opened = after.open(text, binding, 1000)
    assert.deepStrictEqual(opened, { id: opened!.id, state: { round: 2 }, until: 3_600_000 })
    assert.notStrictEqual(opened!.id, after.open(seal().seal({ round: 2 }, binding, 0), binding, 0)!.id)
    assert.notInclude(Buffer.from(text, "base64url").toString("latin1"), "round")
  })

  it("is good for nobody else, nothing else and not for ever", () => {
    const text = seal().seal("s", binding, 0)
    for (const other of [
      { principal: "prn_2" },
      { endpoint: "toolset office" },
      { method: "prompts/get" },
      { params: { name: "t", arguments: { a: 2 } } },
    ])
      assert.isUndefined(seal().open(text, { ...binding, ...other }, 0), JSON.stringify(other))
    assert.isUndefined(seal().open(text, binding, 3_600_000))
    assert.isUndefined(new StateSeal(Redacted.make("another key")).open(text, binding, 0))
  })

  it("any change breaks it, and any text is only refused", () => {
    const text = seal().seal("s", binding, 0)
    for (const bad of [`${text}-TAMPERED`, `${text}=`, ` ${text}`, text.slice(0, -1), ""])
      assert.isUndefined(seal().open(bad, binding, 0), bad)
    fc.assert(
      fc.property(fc.string(), (words) => assert.isUndefined(seal().open(words, binding, 0))),
      { numRuns: 500, seed: 3 },
    )
    fc.assert(
      fc.property(fc.nat(text.length - 1), (at) => {
        const flipped = text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1)
        assert.isUndefined(seal().open(flipped, binding, 0))
      }),
      { numRuns: 200, seed: 4 },
    )
  })
})
