/** Words to terms: what people write and what they ask come to the same. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { holdsPhrase, likeness, phrasesOf, speakerOf, termsOf } from "./terms.ts"

const same = (one: string, ...others: ReadonlyArray<string>) => {
  for (const other of others) assert.deepStrictEqual(termsOf(other), termsOf(one), `${one} / ${other}`)
}

describe("terms", () => {
  it("inflections and irregular forms meet", () => {
    same("buy", "bought", "buys", "buying")
    same("go", "went", "gone", "going")
    same("child", "children")
    same("plan", "planned", "planning", "plans")
    same("city", "cities")
    same("church", "churches")
    same("box", "boxes")
    same("class", "classes")
    same("quick", "quickly")
    same("garden", "gardens", "gardening", "gardened")
    assert.notDeepEqual(termsOf("bus"), termsOf("bu"))
  })

  it("words that say nothing are dropped, apostrophes and accents too", () => {
    assert.deepStrictEqual(termsOf("What did she do in the garden?"), ["garden"])
    assert.deepStrictEqual(termsOf("don't can't Anna's café"), ["anna", "caf"])
    same("Anna’s café", "ANNA'S CAFE\u0301")
    assert.deepStrictEqual(termsOf("東京都庁"), ["東京", "京都", "都庁"])
  })

  it("who speaks is a label", () => {
    assert.deepStrictEqual(speakerOf("Caroline: I went to the museum"), {
      name: "Caroline",
      rest: "I went to the museum",
    })
    assert.deepStrictEqual(speakerOf("at 10:30 it rains"), { name: "", rest: "at 10:30 it rains" })
  })

  it("what stands in quotes is meant word for word", () => {
    assert.deepStrictEqual(phrasesOf('who said "to the moon" today'), [["to", "the", "moon"]])
    assert.isTrue(holdsPhrase("We fly to the Moon!", ["to", "the", "moon"]))
    assert.isFalse(holdsPhrase("to the far moon", ["to", "the", "moon"]))
  })

  it("a typo is like its word, another word is not", () => {
    assert.isAbove(likeness("gallrey", "gallery"), 0.3)
    assert.isBelow(likeness("gallery", "garden"), 0.3)
  })

  it.prop(
    "a term holds letters and digits only, at most 40 of them, whatever was written",
    [Schema.String],
    ([text]) => {
      for (const term of termsOf(text)) {
        assert.match(term, /^[\p{L}\p{N}]+$/u)
        assert.isAtMost([...term].length, 40)
      }
    },
  )
})
