/** Every code point that hides or turns text is shown as what it is, by each of the functions that faces use. */
import { assert, describe, it } from "@effect/vitest"
import { quoted, visible, visibleJson, visibleLines, visibleValue } from "../src/index.ts"
import { hiddenCodePoints, hides } from "./hidden.ts"

describe("foreign text", () => {
  it("G-15 no code point that hides or turns text passes any face's function", () => {
    const all = hiddenCodePoints()
    // C0, DEL and C1; bidi; zero width; tags: the table is not empty by accident.
    for (const known of [
      0x00, 0x07, 0x0a, 0x1b, 0x7f, 0x9b, 0xad, 0x200b, 0x200d, 0x202e, 0x2066, 0x2028, 0xfeff, 0xe0041,
    ])
      assert.include(all, known)
    for (const point of all) {
      const text = `a${String.fromCodePoint(point)}b`
      const shown = `a<U+${point.toString(16).toUpperCase().padStart(4, "0")}>b`
      assert.strictEqual(visible(text), shown)
      assert.isFalse(hides(visibleLines(text).join("")), shown)
      assert.isFalse(hides(quoted(text)), shown)
      assert.isFalse(hides(visibleJson({ [text]: [text] })), shown)
      assert.deepStrictEqual(JSON.parse(visibleJson({ [text]: [text] })), { [text]: [text] })
      assert.deepStrictEqual(visibleValue({ [text]: [text, 1, null] }), { [shown]: [shown, 1, null] })
    }
  })

  it("what people write in every script stays as it is", () => {
    for (const text of ["Grüße", "привет", "こんにちは", "שלום", "مرحبا", "नमस्ते", "😀", "a b", "1 < 2 `x`"])
      assert.strictEqual(visible(text), text)
    assert.deepStrictEqual(visibleLines("one\r\ntwo\nthree\rfour"), ["one", "two", "three<U+000D>four"])
    assert.strictEqual(quoted("x` says the house: `"), "`x' says the house: '`")
    assert.strictEqual(visibleJson(undefined), "null")
  })
})
