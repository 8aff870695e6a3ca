/** What the feed makes of the cache: messages in one run without gaps, counts that fit, and no event that breaks it. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Change, changesOf } from "../../../src/feed/events/feed.logic.ts"
import {
  asDeleted,
  mergeMessages,
  type LoadedMessages,
  maxLoaded,
  withReaction,
  withChanged,
  withNewer,
  withOlder,
  withPosted,
} from "../../../src/feed/messages.logic.ts"
import type { Message, Space, Start } from "../../../src/feed/types.ts"

const message = (seq: number, more: Partial<Message> = {}): Message =>
  ({
    id: `msg_${seq}`,
    seq,
    text: `${seq}`,
    author: { id: "p_other", name: "Jonas", kind: "person" },
    replyTo: null,
    call: null,
    mentions: [],
    reactions: [],
    pinned: false,
    deletedAt: null,
    createdAt: "2026-11-16T10:00:00.000Z",
    ...more,
  }) as unknown as Message
const many = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => message(from + at))
const seqs = ({ items }: LoadedMessages) => items.map(({ seq }) => seq)

describe("messages that are loaded", () => {
  it("are joined in order, each once, the later version of each", () => {
    const numbers = fc.array(fc.integer({ min: 1, max: 60 }))
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const side = (list: ReadonlyArray<number>, text: string) =>
          [...new Set(list)].toSorted((x, y) => x - y).map((seq) => message(seq, { text }))
        const both = mergeMessages(side(a, "old"), side(b, "new"))
        expect(both.map(({ seq }) => seq)).toEqual([...new Set([...a, ...b])].toSorted((x, y) => x - y))
        for (const one of both) expect(one.text).toBe(b.includes(one.seq) ? "new" : "old")
      }),
    )
  })

  it("are never more than are kept, and say at which end there is more", () => {
    const full: LoadedMessages = { items: many(1001, 1000 + maxLoaded), older: true, newer: false }
    const older = withOlder(full, many(901, 1000), true)
    expect(older.items).toHaveLength(maxLoaded)
    expect([older.items[0]?.seq, older.older, older.newer]).toEqual([901, true, true])
    const newer = withNewer(full, many(1001 + maxLoaded, 1100 + maxLoaded), false)
    expect([newer.items.at(-1)?.seq, newer.older, newer.newer]).toEqual([1100 + maxLoaded, true, false])
  })

  it("have no gap, whatever is said while the reader is somewhere in the past", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 20 }), (newer, ways) => {
        let end = 300
        let loaded: LoadedMessages = { items: many(200, newer ? 250 : 300), older: true, newer }
        for (const way of ways) {
          const first = loaded.items[0]!.seq
          const last = loaded.items.at(-1)!.seq
          if (way === 1) loaded = withPosted(loaded, message(++end))
          else if (way === 2) loaded = withOlder(loaded, many(Math.max(1, first - 10), first - 1), first > 11)
          else loaded = withNewer(loaded, many(last + 1, Math.min(end, last + 10)), last + 10 < end)
        }
        const got = seqs(loaded)
        expect(got).toEqual(Array.from({ length: got.length }, (_, at) => got[0]! + at))
        expect(loaded.newer || got.at(-1) === end).toBe(true)
      }),
    )
  })

  it("are said once, though told twice", () => {
    const loaded: LoadedMessages = { items: many(1, 3), older: false, newer: false }
    const twice = withPosted(withPosted(loaded, message(4)), message(4, { text: "edited" }))
    expect(seqs(twice)).toEqual([1, 2, 3, 4])
    expect(twice.items.at(-1)?.text).toBe("edited")
    expect(withChanged(loaded, "msg_9", deletedNow)).toBe(loaded)
  })

  it("lose what they said when they are deleted, and each person reacts once with one sign", () => {
    const gone = deletedNow(message(1, { pinned: true, reactions: [{ emoji: "👍", by: ["a"] }] as never }))
    expect(gone).toMatchObject({ text: "", reactions: [], pinned: false, deletedAt: "2026-11-16T11:00:00.000Z" })
    const once = withReaction(withReaction(message(1), "👍", "a", true), "👍", "a", true)
    expect(once.reactions).toEqual([{ emoji: "👍", by: ["a"] }])
    expect(withReaction(withReaction(once, "👍", "b", true), "👍", "a", false).reactions).toEqual([
      { emoji: "👍", by: ["b"] },
    ])
    expect(withReaction(once, "👍", "a", false).reactions).toEqual([])
  })
})
const deletedNow = (one: Message) => asDeleted(one, "2026-11-16T11:00:00.000Z")

const space = { id: "spc_1", name: "harbour", lastSeq: 3, unread: 1 } as unknown as Space
const start = { me: { id: "p_me" }, spaces: [space], decisions: [] } as unknown as Start
const event = (kind: string, body: unknown, at: { readonly space?: string } = { space: "spc_1" }) =>
  ({ kind, body, seq: 9, at: "2026-11-16T10:00:00.000Z", space: at.space ?? null }) as never
/** What the start is after an event. */
const after = (changes: ReadonlyArray<Change>, old = start): Start =>
  changes.reduce(
    (now, change) => (change.do === "write" && change.key[0] === "start" ? (change.with(now as never) as Start) : now),
    old,
  )

describe("an event", () => {
  it("counts what others said as unread, what one said oneself as read, and nothing twice", () => {
    const told = (seq: number, author: string) =>
      changesOf(event("message.created", { message: message(seq, { author: { id: author } as never }) }), "p_me")
    const other = after(told(4, "p_other"))
    expect(other.spaces[0]).toMatchObject({ lastSeq: 4, unread: 2 })
    expect(after(told(4, "p_other"), other).spaces[0]).toMatchObject({ unread: 2 })
    expect(after(told(4, "p_me")).spaces[0]).toMatchObject({ lastSeq: 4, unread: 1 })
  })

  it("of reading counts in one's other tabs, and is nobody else's business", () => {
    const read = (principal: string) => changesOf(event("space.read", { space: "spc_1", seq: 3, principal }), "p_me")
    expect(after(read("p_me")).spaces[0]?.unread).toBe(0)
    expect(read("p_other")).toEqual([])
  })

  it("of a decision reaches every card of it; of one's own rights, begins again", () => {
    expect(changesOf(event("decision.answered", { decision: "dec_1" }), "p_me")).toContainEqual({
      do: "decision",
      id: "dec_1",
    })
    expect(changesOf(event("grant.added", { principal: "p_me" }), "p_me")).toContainEqual({ do: "restart" })
    expect(changesOf(event("grant.added", { principal: "p_other" }), "p_me")).not.toContainEqual({ do: "restart" })
  })

  it("of a kind this page does not know changes nothing", () => {
    expect(changesOf(event("weather.changed", {}), "p_me")).toEqual([])
  })

  it("about what is not loaded writes nothing that was not there", () => {
    const changes = changesOf(event("message.created", { message: message(4) }), "p_me")
    expect(changes.map((change) => (change.do === "write" ? change.with(undefined as never) : undefined))).toEqual(
      changes.map(() => undefined),
    )
  })
})
