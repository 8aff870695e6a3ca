/** What a person approves: every argument, and no two values that look alike. */
import fc from "fast-check"
import { expect, it } from "vitest"
import {
  argumentsOf,
  decisionSummary,
  longReachesOf,
  mayEdit,
  textOf,
} from "../../../src/cards/decision/decision.logic.ts"
import type { Decision } from "../../../src/feed/types.ts"

const of = (input: unknown, properties: object = {}) =>
  argumentsOf({ call: { input }, schema: { type: "object", properties } } as unknown as Decision)

it("every argument is shown, in the order of the schema, and nothing that is not there", () => {
  const input = { extra: 1, to: "ann", text: "hi" }
  expect(of(input, { text: {}, to: {}, constructor: {}, toString: {} }).map(({ name }) => name)).toEqual([
    "text",
    "to",
    "extra",
  ])
})

it("two different values never look the same", () => {
  const pairs = [
    [["a, b"], ["a", "b"]],
    ["1", 1],
    ["true", true],
    ["null", null],
    ['{"a":1}', { a: 1 }],
    ["", '""'],
    ["a", "a "],
    ['"a"', "a"],
  ] as const
  for (const [one, other] of pairs) expect(textOf(one as never)).not.toBe(textOf(other as never))
  const value = fc.jsonValue()
  fc.assert(
    fc.property(value, value, (one, other) => {
      fc.pre(JSON.stringify(one) !== JSON.stringify(other))
      expect(textOf(one as never)).not.toBe(textOf(other as never))
    }),
  )
})

it("offers what the house says that this viewer may answer, and nothing without it", () => {
  const one = (options?: Decision["options"]) => ({ kind: "approval", people: 1, options }) as unknown as Decision
  expect(mayEdit(one({ edit: true, reaches: ["once"] }))).toBe(true)
  expect(mayEdit(one({ edit: false, reaches: ["once"] }))).toBe(false)
  expect(mayEdit(one())).toBe(false)
  expect(longReachesOf(one({ edit: true, reaches: ["once", "run", "always"] }))).toEqual(["run", "always"])
  expect(longReachesOf(one({ edit: true, reaches: ["once"] }))).toEqual([])
  expect(longReachesOf(one())).toEqual([])
})

it("an approval without a call, such as a change of rights, is listed by its question", () => {
  const question = "admin wants to change the allow list of stoa."
  expect(decisionSummary({ kind: "approval", call: null, question })).toBe(question)
  const call = { id: "cal_1", tool: "send_mail", input: {} } as never
  expect(decisionSummary({ kind: "approval", call, question })).toBe("send_mail")
})
