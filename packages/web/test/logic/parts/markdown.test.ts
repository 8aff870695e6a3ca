/** Message text: what it becomes, and that no text holds up whoever opens its space. */
import { expect, it } from "vitest"
import { splitAtMentions, tokensOf } from "../../../src/parts/text/markdown.logic.ts"

const names = Array.from({ length: 10 }, (_, at) => `name${at}`)

it("text is taken apart", () => {
  expect(tokensOf("**a** `b`")[0]).toMatchObject({
    type: "paragraph",
    tokens: [{ type: "strong" }, {}, { type: "codespan" }],
  })
  expect(splitAtMentions("hi @name1, a@name2 @Name3x @NAME3", names)).toEqual([
    { text: "hi " },
    { text: "@name1", mention: "name1" },
    { text: ", a@name2 @Name3x " },
    { text: "@NAME3", mention: "name3" },
  ])
})

it("hostile texts are shown as they are, and soon", () => {
  const hostile = [
    ">".repeat(3000),
    "> ".repeat(3000),
    "- ".repeat(3000),
    "1. ".repeat(3000),
    "@".repeat(32_000),
    `${"a".repeat(32_000)}@`,
    `${"a".repeat(1999)} `.repeat(9) + "@",
    "[".repeat(5000),
    "*a ".repeat(5000),
    "_".repeat(1500),
    "`".repeat(1500),
    "![".repeat(1000),
    "<a".repeat(1000),
    "~~".repeat(1000),
    "|".repeat(1500) + "\n" + "|-".repeat(700),
  ]
  const began = performance.now()
  for (const text of hostile) {
    for (const isWhole of [true, false]) expect(tokensOf(text, isWhole).length).toBeGreaterThan(0)
    splitAtMentions(text, names)
  }
  // Not a figure: the page stands still no longer than a blink for any of them, where it was seconds.
  expect(performance.now() - began).toBeLessThan(5000)
})
