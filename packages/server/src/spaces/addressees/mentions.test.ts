/** The parser of mentions: a table of texts, and properties that hold for any text. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { mentionsIn } from "./mentions.ts"

const names = [
  "Pam",
  "Pam Beesly",
  "Jim",
  "dwight.k",
  "O'Neil",
  "Ann",
  "Ann-Marie",
  "José",
  "Νίκος",
  "小明",
  "R2",
  "a_b",
]
const members = names.map((name) => ({ id: name, name }))

const fenced = (text: string, fence = "```") => `${fence}\n${text}\n${fence}`

const table: ReadonlyArray<readonly [text: string, expected: ReadonlyArray<string>]> = [
  ["", []],
  ["nobody here", []],
  ["@", []],
  ["@ Pam", []],
  ["@Pam", ["Pam"]],
  ["Pam", []],
  // Names with spaces, and the longest that fits.
  ["@Pam Beesly", ["Pam Beesly"]],
  ["@Pam  Beesly", ["Pam"]],
  ["@Pam Beeslyson", ["Pam"]],
  ["@Pam and @Pam Beesly!", ["Pam", "Pam Beesly"]],
  ["@Ann-Marie", ["Ann-Marie"]],
  ["@Ann-Mary", ["Ann"]],
  ["@Ann.", ["Ann"]],
  ["@Anna", []],
  // Punctuation in and beside names.
  ["@dwight.k.", ["dwight.k"]],
  ["@O'Neil's", ["O'Neil"]],
  ["@Jim's desk", ["Jim"]],
  ['(@Jim), @Pam; @R2: "@Ann" <@José>', ["Jim", "Pam", "R2", "Ann", "José"]],
  ["*@Jim* _@Pam_", ["Jim"]],
  ["@Jim_", []],
  ["@Jim2", []],
  ["@R2D2", []],
  ["@a_b", ["a_b"]],
  ["@Jim\n@Pam", ["Jim", "Pam"]],
  ["line\n@Jim", ["Jim"]],
  // Case, width and accents.
  ["@pAM bEESLY", ["Pam Beesly"]],
  ["@ＪＩＭ", ["Jim"]],
  ["＠Jim", ["Jim"]],
  ["@Jose\u0301", ["José"]],
  ["@Jose", []],
  ["@ΝΊΚΟΣ", ["Νίκος"]],
  ["@Jim\u0307", []],
  // Scripts written without spaces need none around a name.
  ["你好@小明你好", ["小明"]],
  ["@Jim씨", ["Jim"]],
  ["𠀀@Jim𠀀", ["Jim"]],
  ["𝕏@Jim", []],
  // Twice counts once, in order of appearance.
  ["@Jim @Pam @jim", ["Jim", "Pam"]],
  // E-mail addresses, and an @ within a word.
  ["pam@Jim.com", []],
  ["first.last+tag-@Jim", []],
  ["é@Jim", []],
  ["mail to:@Jim", ["Jim"]],
  ["@@Jim", ["Jim"]],
  ["@Pam@Jim", ["Pam"]],
  ["@Pam/@Jim", ["Pam", "Jim"]],
  // Code.
  ["`@Jim`", []],
  ["``@Jim``", []],
  ["``a ` @Jim``", []],
  ["`a` @Jim `b`", ["Jim"]],
  ["`@Jim", ["Jim"]],
  ["`` @Jim `", ["Jim"]],
  ["`a``b` @Jim", ["Jim"]],
  ["`a\n@Jim\nb`", []],
  ["a ` b\n\n@Jim\n\nc ` d", ["Jim"]],
  [fenced("@Jim"), []],
  [`${fenced("@Jim")}\n@Pam`, ["Pam"]],
  [`@Pam\n${fenced("@Jim", "~~~")}`, ["Pam"]],
  ["```ts\n@Jim\n```", []],
  ["```\n@Jim", []],
  ["````\n```\n@Jim\n````\n@Pam", ["Pam"]],
  ["```\n~~~\n@Jim\n```\n@Pam", ["Pam"]],
  ["  ```\n@Jim\n  ```", []],
  ["> ```\n> @Jim\n> ```\n@Pam", ["Pam"]],
  ["```\r\n@Jim\r\n```\r\n@Pam", ["Pam"]],
  ["``` @Jim ```", []],
  ["a ``` b\n@Jim", ["Jim"]],
]

describe("mentions", () => {
  for (const [text, expected] of table)
    it(`S1-94 ${JSON.stringify(text)} is for ${expected.join(", ") || "nobody"}`, () => {
      assert.deepStrictEqual(mentionsIn(text, members), expected)
    })

  it("S1-93 the same member twice is one mention, and who is not a member is none", () => {
    assert.deepStrictEqual(mentionsIn("@Jim @jim @JIM @Toby", members), ["Jim"])
    assert.deepStrictEqual(mentionsIn("@Jim", []), [])
  })

  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom(
      "@",
      "`",
      "``",
      "```",
      "~~~",
      "\n",
      " ",
      ".",
      "\ud800",
      ...names,
      ...names.map((name) => `@${name}`),
    ),
  )
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""))

  it("never throws, and names only members, each once", () => {
    fc.assert(
      fc.property(text, (said) => {
        const found = mentionsIn(said, members)
        assert.strictEqual(new Set(found).size, found.length)
        for (const id of found) assert.include(names, id)
      }),
      { numRuns: 3000, seed: 94 },
    )
  })

  const words = fc.string({ unit: "binary", maxLength: 200 }).map((said) => said.replace(/[`~@＠﹫]/gu, ""))

  it("S1-94 a mention planted outside code is found, whatever stands around it", () => {
    fc.assert(
      fc.property(words, fc.constantFrom(...names), words, (before, name, after) => {
        assert.include(mentionsIn(`${before} @${name}, ${after}`, members), name)
      }),
      { numRuns: 3000, seed: 95 },
    )
  })

  it("S1-94 a mention planted inside code is not found, whatever stands around it", () => {
    fc.assert(
      fc.property(words, fc.constantFrom(...names), words, fc.boolean(), (before, name, after, block) => {
        const code = block ? `\n${fenced(`@${name}`)}\n` : `\`@${name}\``
        assert.deepStrictEqual(mentionsIn(`${before}${code}${after}`, members), [])
      }),
      { numRuns: 3000, seed: 96 },
    )
  })

  it("takes time by the length of the text alone, however hostile", () => {
    const size = 64 * 1024
    const fill = (unit: string) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
    const many = Array.from({ length: 1000 }, (_, at) => ({
      id: `${at}`,
      name: `${"a".repeat(1 + (at % 62))}${at % 10}`,
    }))
    const lengths = Array.from({ length: 360 }, (_, at) => "`".repeat(at + 1)).join(" ")
    const hostile = [
      fill("@"),
      fill("`"),
      `${fill("`").slice(0, size / 2)}${fill("a").slice(0, size / 2)}`,
      fill("@a"),
      fill(`@${"a".repeat(62)}`),
      fill("` "),
      fill(lengths),
      fill("```\n"),
      fill("~~~ `\n"),
      fill(" \n"),
      `\n${fill(" ")}`,
      fill("> "),
      fill("\ufdfa"),
      fill("@\u0130"),
    ]
    for (const said of hostile) {
      // Processor time in microseconds, so that other work of the machine does not count.
      const started = process.cpuUsage()
      mentionsIn(said, many)
      assert.isBelow(process.cpuUsage(started).user, 2_000_000, JSON.stringify(said.slice(0, 20)))
    }
  })
})
