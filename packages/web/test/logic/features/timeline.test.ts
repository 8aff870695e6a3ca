/** Messages as rows: every one is somewhere once, keys are stable, days and groups begin where they should. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Decision, Message } from "../../../src/feed/types.ts"
import { matchMentions, mentionAt, insertMention } from "../../../src/features/spaces/composer/mention.logic.ts"
import { matchTools, slashOf, windowAt } from "../../../src/features/spaces/composer/slash.logic.ts"
import { heightOf, type Row, rootsOf, rowsOf, sameRow } from "../../../src/features/spaces/timeline/timeline.logic.ts"

const base = Date.parse("2026-11-14T12:00:00.000Z")
interface Given {
  readonly who: number
  readonly minutes: number
  readonly call: boolean
  readonly gone: boolean
  readonly replyTo: number | null
}
const given = fc.record<Given>({
  who: fc.integer({ min: 0, max: 2 }),
  minutes: fc.integer({ min: 0, max: 900 }),
  call: fc.boolean(),
  gone: fc.boolean(),
  replyTo: fc.option(fc.nat(30)),
})
const madeOf = (list: ReadonlyArray<Given>): ReadonlyArray<Message> => {
  let at = base
  return list.map(({ call, gone, minutes, replyTo, who }, place) => {
    at += minutes * 60_000
    // Only what was said before can be answered.
    const to = replyTo !== null && replyTo < place ? `m${replyTo}` : null
    return {
      id: `m${place}`,
      seq: place + 1,
      text: "words",
      author: { id: `p${who}`, name: `p${who}`, kind: "person" },
      replyTo: call ? null : to,
      call: call ? { id: `c${place}`, tool: "t", input: {} } : null,
      deletedAt: gone && !call ? "2026-11-16T00:00:00.000Z" : null,
      createdAt: new Date(at).toISOString(),
    } as unknown as Message
  })
}
const shown = (row: Row): ReadonlyArray<string> =>
  row.kind === "message"
    ? [row.message.id]
    : row.kind === "calls"
      ? row.messages.map(({ id }) => id)
      : row.kind === "decision" && row.message !== undefined
        ? [row.message.id]
        : []
const drawn = (messages: ReadonlyArray<Message>, more: Partial<Parameters<typeof rowsOf>[0]> = {}) =>
  rowsOf({ messages, decisions: [], pending: [], newFrom: undefined, me: "p0", ...more })

describe("a timeline", () => {
  it("has every message once and in order, but for replies and what is deleted and unanswered; every row has its own key", () => {
    fc.assert(
      fc.property(fc.array(given, { maxLength: 30 }), (list) => {
        const messages = madeOf(list)
        const rows = drawn(messages)
        const roots = rootsOf(messages)
        const answered = new Set(messages.flatMap(({ deletedAt, id }) => (deletedAt === null ? [roots.get(id)] : [])))
        const wanted = messages.filter(
          ({ deletedAt, id }) => !roots.has(id) && (deletedAt === null || answered.has(id)),
        )
        expect(rows.flatMap(shown)).toEqual(wanted.map(({ id }) => id))
        expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
        for (const row of rows) expect(heightOf(row)).toBeGreaterThan(0)
      }),
    )
  })

  it("keeps the rows it had when something is said at its end", () => {
    fc.assert(
      fc.property(fc.array(given, { minLength: 1, maxLength: 20 }), (list) => {
        const messages = madeOf(list.map((one) => ({ ...one, replyTo: null })))
        const before = drawn(messages.slice(0, -1)).map(({ key }) => key)
        const now = drawn(messages).map(({ key }) => key)
        expect(now.slice(0, before.length)).toEqual(before)
      }),
    )
  })

  it("begins a group with another author, after five minutes, with a day and with the line of what is new", () => {
    const at = (minutes: number, who = 0) => ({ who, minutes, call: false, gone: false, replyTo: null })
    const rows = drawn(madeOf([at(0), at(1), at(1, 1), at(6, 1), at(1, 1), at(24 * 60, 1)]), { newFrom: 5 })
    expect(rows.map((row) => (row.kind === "message" ? (row.head ? "head" : "more") : row.kind))).toEqual([
      "day",
      "head",
      "more",
      "head",
      "head",
      "new",
      "head",
      "day",
      "head",
    ])
  })

  it("shows a decision in the place of its call, one without a place at the end, and what is being sent last", () => {
    const messages = madeOf([{ who: 1, minutes: 0, call: true, gone: false, replyTo: null }])
    const decision = (id: string, call: string | null) =>
      ({
        id,
        call: call === null ? null : { id: call },
        askedBy: "p1",
        createdAt: messages[0]!.createdAt,
      }) as unknown as Decision
    const pending = { key: "k", at: messages[0]!.createdAt, replyTo: null, text: "soon" } as never
    const rows = drawn(messages, { decisions: [decision("d1", "c0"), decision("d2", null)], pending: [pending] })
    expect(rows.map(({ key, kind }) => `${kind} ${key}`).slice(1)).toEqual(["decision m0", "decision d2", "pending k"])
  })

  it("shows a decision without a message where it was asked: what is said later stands below it", () => {
    const one = { who: 1, call: false, gone: false, replyTo: null }
    const messages = madeOf([
      { ...one, minutes: 0 },
      { ...one, minutes: 10 },
    ])
    const decision = (id: string, minutes: number) =>
      ({
        id,
        call: { id: `of-${id}` },
        askedBy: "p2",
        createdAt: new Date(Date.parse(messages[0]!.createdAt) + minutes * 60_000).toISOString(),
      }) as unknown as Decision
    const rows = drawn(messages, { decisions: [decision("later", 7), decision("first", 3), decision("last", 12)] })
    expect(rows.filter(({ kind }) => kind !== "day").map(({ key }) => key)).toEqual([
      "m0",
      "first",
      "later",
      "m1",
      "last",
    ])
  })
})

describe("a mention", () => {
  it("is written from its @ to the caret, and not in the middle of an address", () => {
    expect(mentionAt("tell @Ma", 8)).toEqual({ from: 5, part: "Ma" })
    expect(mentionAt("mail a@b", 8)).toBeUndefined()
    expect(insertMention("tell @Ma please", 5, 8, "Maya")).toEqual({ text: "tell @Maya please", caret: 11 })
  })
  it("offers members first, and of those whose name begins so first", () => {
    const of = (name: string, isHere: boolean) => ({ name, kind: "person", isHere })
    const all = [of("Tamar", true), of("Maya", false), of("Mara", true)]
    expect(matchMentions(all, "ma").map(({ name }) => name)).toEqual(["Mara", "Tamar", "Maya"])
  })
})

it("rows that were made anew of the same messages are drawn once; what has changed is drawn again", () => {
  fc.assert(
    fc.property(fc.array(given, { minLength: 1, maxLength: 30 }), (list) => {
      const messages = madeOf(list)
      const [before, after] = [drawn(messages), drawn(messages)]
      expect(before.map((row, at) => row.kind === "day" || sameRow(row, after[at]!))).not.toContain(false)
      const changed = drawn(messages.map((one) => ({ ...one, text: "other" })))
      expect(before.filter((row, at) => row.kind !== "day" && sameRow(row, changed[at]!))).toEqual([])
    }),
  )
})

describe("a tool called from where one writes", () => {
  it("/ at the beginning and one word is a tool; anything else is said", () => {
    expect(["/", "/li", "/srv/list", "", "a/", "/li st", "/li\n", " /li"].map(slashOf)).toEqual([
      "",
      "li",
      "srv/list",
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it("the name counts before the description, and its beginning most", () => {
    const tools = [
      { name: "mail_list", description: "" },
      { name: "find", description: "lists nothing" },
      { name: "list_ships", description: "" },
      { name: "pay", description: "pays" },
    ]
    expect(matchTools(tools, "List").map(({ name }) => name)).toEqual(["list_ships", "mail_list", "find"])
  })

  it("the one pointed at is always among those shown, and there are as many as fit", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.nat(49), fc.integer({ min: 1, max: 12 }), (count, some, most) => {
        const at = some % count
        const [from, to] = windowAt(count, at, most)
        expect(from <= at && at < to).toBe(true)
        expect(to - from).toBe(Math.min(count, most))
      }),
    )
  })
})
