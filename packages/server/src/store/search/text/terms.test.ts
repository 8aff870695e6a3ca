/** Words to terms: what people write and what they ask give the same terms. */
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

  it("short words, doubled letters and forms that look like others meet too", () => {
    same("live", "lives", "lived", "living")
    same("leave", "leaves", "left", "leaving")
    same("try", "tries", "tried", "trying")
    same("die", "dies", "died", "dying")
    same("use", "uses", "used", "using")
    same("go", "goes")
    same("add", "adds", "added", "adding")
    same("agree", "agrees", "agreed", "agreeing")
    same("speed", "speeding", "sped")
    same("travel", "traveled", "travelled", "travelling")
    same("control", "controlled", "controls")
    same("rose", "roses")
    same("thought", "thoughts", "thinks")
    same("shot", "shots")
    assert.notDeepEqual(termsOf("call"), termsOf("calm"))
  })

  it("what is spelled in two ways is one word", () => {
    same("colour", "color", "colours")
    same("favourite", "favorite")
    same("organise", "organize", "organised", "organizing")
    same("organisation", "organization")
    same("theatre", "theater", "theatres")
    assert.deepStrictEqual(termsOf("four hours of flour"), ["four", "hour", "flour"])
  })

  it("dates, numbers in order, versions and units meet, however they are written", () => {
    const day = ["february", "3"].flatMap(termsOf)
    for (const text of ["2026-02-03", "2026-02-03T10:15:00Z", "3 Feb", "Feb 3", "February 3rd", "3rd of February"])
      for (const term of day) assert.include(termsOf(text), term, text)
    assert.notInclude(termsOf("Jan said nothing"), "januari")
    assert.deepStrictEqual(termsOf("2026-13-45"), ["2026", "13", "45"])
    assert.deepStrictEqual(termsOf("in May"), ["may"])
    same("18 October", "18th October")
    same("version 3", "version v3")
    for (const term of termsOf("16 GB")) assert.include(termsOf("16gb"), term)
  })

  it("a name made of words is found by each of them and as a whole", () => {
    assert.deepStrictEqual(termsOf("maximumPoolSize"), ["maximumpoolsis", "maximum", "pool", "siz"])
    assert.deepStrictEqual(termsOf("HTTPServer"), ["httpserver", "http", "server"])
    assert.deepStrictEqual(termsOf("TVs"), ["tvs"])
    assert.deepStrictEqual(termsOf("DON'T SHOUT"), ["shout"])
    assert.isBelow(termsOf("aB".repeat(100_000)).length, 41)
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
