/** Signed texts have one reading, whatever the purpose; and nothing is signed that is not one of them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { Redacted } from "effect"
import { times } from "../../../../../test/long.ts"
import { isMacOf, macOf, type Purpose, shortestMac, signedText } from "./SignedText.ts"

/** Pieces that texts are made of, so that a wrong form has a chance to join two lists into one text. */
const word = fc.oneof(
  fc.constantFrom(
    "",
    ".",
    "ci",
    "ci.deploy",
    "deploy",
    ",",
    ":",
    "1:a,",
    "0:,",
    '"',
    '","',
    "[",
    "]",
    "\n",
    "null",
    "0",
  ),
  fc.string({ unit: "grapheme", maxLength: 6 }),
)
const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(""))
const seconds = fc.nat(20_000)
const uuid = fc.stringMatching(/^[0-9a-f]{32}$/)
const params = fc.option(fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null)), { maxKeys: 3 }))

/** The fields of each purpose. A purpose that is missing here does not compile. */
const fieldsOf: { readonly [P in Purpose]: fc.Arbitrary<Parameters<(typeof signedText)[P]>> } = {
  webhookCall: fc.tuple(seconds, text, text),
  webhookResult: fc.tuple(seconds, text, text),
  agentTrigger: fc.tuple(seconds, text, text, text),
  decisionLink: fc.tuple(uuid, uuid),
  auditHead: fc.tuple(fc.nat(), text, fc.nat()),
  auditAnchor: fc.tuple(fc.nat(), text),
  memoryLine: fc.tuple(text, fc.array(fc.oneof(text, fc.array(text, { maxLength: 3 })), { maxLength: 3 })),
  clientState: fc.tuple(text, text, text, params),
}
const purposes = Object.keys(fieldsOf) as ReadonlyArray<Purpose>
/** Keys that only one purpose has: its texts are compared only with one another. */
const ownKey: ReadonlySet<Purpose> = new Set(["decisionLink", "memoryLine"])

const read = (purpose: Purpose, fields: ReadonlyArray<unknown>): string =>
  (signedText[purpose] as (...fields: ReadonlyArray<unknown>) => string)(...fields)
const signed = (of: ReadonlyArray<Purpose>) =>
  fc.constantFrom(...of).chain((purpose) => fc.record({ purpose: fc.constant(purpose), fields: fieldsOf[purpose] }))
/** The same text, cut elsewhere: the nearest thing to a second reading. */
const cutElsewhere = fc
  .record({ whole: text, first: fc.nat(24), second: fc.nat(24), at: seconds })
  .map(({ at, first, second, whole }) => {
    const cut = (where: number) => [whole.slice(0, where), whole.slice(where)] as const
    return [cut(first), cut(second)].map(([one, other]) => [at, one, other])
  })

describe("signed texts", () => {
  it("G-18 two different lists of fields never make the same text, in no two purposes", () => {
    const shared = signed(purposes.filter((one) => !ownKey.has(one)))
    const same = (one: { purpose: Purpose; fields: unknown }, other: typeof one) =>
      JSON.stringify([one.purpose, one.fields]) === JSON.stringify([other.purpose, other.fields])
    const alone = [...ownKey].map((purpose) => fc.tuple(signed([purpose]), signed([purpose])))
    fc.assert(
      fc.property(fc.oneof(fc.tuple(shared, shared), ...alone), ([one, other]) => {
        fc.pre(!same(one, other))
        assert.notStrictEqual(read(one.purpose, one.fields), read(other.purpose, other.fields))
      }),
      { numRuns: times(3000, 100_000), seed: 33 },
    )
    fc.assert(
      fc.property(
        cutElsewhere,
        fc.constantFrom("webhookCall" as const, "webhookResult" as const),
        ([one, other], of) => {
          fc.pre(JSON.stringify(one) !== JSON.stringify(other))
          assert.notStrictEqual(read(of, one!), read(of, other!))
        },
      ),
      { numRuns: times(3000, 100_000), seed: 34 },
    )
  })

  it("G-18 a time is whole seconds, an id has its width, and a mac is whole or at least 160 bits", () => {
    for (const bad of [-1, 1.5, Number.NaN, Infinity, 1e21])
      assert.throws(() => signedText.webhookCall(bad, "call", "body"))
    assert.throws(() => signedText.decisionLink("a".repeat(31), "b".repeat(33)))
    const [key, one] = [Redacted.make("key"), signedText.auditAnchor(1, "x")]
    const mac = macOf(key, one)
    assert.isTrue(isMacOf(key, one, mac) && isMacOf(key, one, mac.slice(0, shortestMac)))
    for (const bad of ["", mac.slice(0, shortestMac - 1), `${mac}0`, mac.toUpperCase(), "é".repeat(64)])
      assert.isFalse(isMacOf(key, one, bad), bad)
  })

  it("G-18 nothing else in the server makes a mac", () => {
    const source = join(import.meta.dirname, "../..")
    const files = readdirSync(source, { recursive: true, encoding: "utf8" })
    const made = files
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .filter((file) =>
        /\b(createHmac|createSign|createVerify|subtle\.sign)\b/.test(readFileSync(join(source, file), "utf8")),
      )
    // `cipher.ts` derives keys.
    assert.deepStrictEqual(made.toSorted(), ["access/secrets/SignedText.ts", "access/secrets/cipher.ts"])
  })
})
