/** Tables for people: as wide as necessary, and no wider than the terminal. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { columns } from "./columns.ts"
import { columnsFor, filledColumns, shortTime, table } from "./table.ts"

const id = "prn_01234567-89ab-cdef-0123-456789abcdef"
const now = new Date(2026, 10, 18, 6, 40)
const iso = (...time: [number, number, number, number, number]): string => new Date(...time).toISOString()
const yesterday = iso(2026, 10, 17, 23, 5)
const terminal = { width: 80, now }
const words = "a long sentence ".repeat(20)

describe("table", () => {
  it("without a terminal nothing is cut, left out or made short", () => {
    const rows = [{ name: "Ada", text: "x".repeat(300), at: yesterday, id }]
    const shown = ["name", "text", "at", "id"]
    assert.deepStrictEqual(columnsFor(rows, shown, ["at"], undefined), shown)
    const lines = table(rows, shown)
    for (const whole of ["x".repeat(300), yesterday, id]) assert.include(lines[1], whole)
  })

  it("at a terminal texts are cut and marked, ids never", () => {
    const lines = table([{ seq: 1, text: words, id }], ["seq", "text", "id"], terminal)
    for (const line of lines) assert.isAtMost(line.length, 80)
    assert.include(lines[1], "…")
    assert.include(lines[1], id)
  })

  it("what a column holds is known by its name: a text that begins like an id is cut as any other", () => {
    const lines = table([{ id, content: `eng_0${words}` }], ["id", "content"], terminal)
    assert.isAtMost(lines[1]!.length, 80)
    assert.include(lines[1], id)
  })

  it("times are short, and states are never cut", () => {
    assert.strictEqual(shortTime(iso(2026, 10, 18, 6, 4), now), "06:04")
    assert.strictEqual(shortTime(yesterday, now), "11-17 23:05")
    assert.strictEqual(shortTime(iso(2027, 0, 31, 12, 0), now), "2027-01-31")
    const rows = ["waiting_tool", "waiting_reply"].map((state) => ({ state, at: yesterday, text: words, more: words }))
    const lines = table(rows, ["state", "at", "more", "text"], { width: 40, now })
    assert.match(lines[1]!, /^waiting_tool +11-17 23:05 /)
    assert.match(lines[2]!, /^waiting_reply +11-17 23:05 /)
  })

  it("an empty column goes before a text is cut, and stays where there is room", () => {
    const rows = [
      { name: "echo", state: "active", digest: undefined, says: words.slice(0, 60), held: null },
      { name: "add", state: "active", digest: undefined, says: "adds", held: null },
    ]
    const shown = ["name", "state", "digest", "says", "held"]
    const kept = columnsFor(rows, shown, ["says"], terminal)
    assert.deepStrictEqual(kept, ["name", "state", "says"])
    assert.deepStrictEqual(filledColumns(rows, shown), kept)
    assert.include(table(rows, kept, terminal)[1], words.slice(0, 55))
    assert.deepStrictEqual(columnsFor(rows, shown, ["says"], { width: 120, now }), shown)
  })

  const time = {
    createdAt: yesterday,
    settledAt: yesterday,
    updatedAt: yesterday,
    lastUsedAt: yesterday,
    at: yesterday,
  }
  const row = {
    ...time,
    id,
    name: "accounting",
    agent: "greeter",
    principal: "greeter",
    owner: "greeter",
    givenBy: "greeter",
    author: "greeter",
    state: "waiting_reply",
    stop: "max_steps",
    step: 12,
    trigger: words,
    kind: "private",
    namespace: "engrams",
    key: "trip/to/the/sea",
    version: 3,
    tags: ["travel", "sea"],
    content: words,
    why: ["tent", "sea"],
    roles: ["agent-standard"],
    toolsets: ["office", "stoa"],
    source: "house",
    title: words,
    topic: words,
    text: words,
    label: "stoa connect claude-code",
    messageCount: 2,
    pinned: false,
    current: true,
    lastSeq: 10,
    unread: 0,
    context: "internal",
    expiresAt: iso(2027, 0, 31, 12, 0),
    revokedAt: null,
    who: "greeter",
    what: "allow read, write",
    where: "spaces/accounting",
    connected: true,
    shared: true,
    tools: ["hello"],
    lastSeenAt: yesterday,
    tool: "wipe",
    tried: 3,
    failure: words,
    since: yesterday,
    until: yesterday,
    ring: false,
    for: "admin (awaited)",
    description: words,
    set: "configured",
    executionType: "internal",
    riskLevel: "high",
    asks: true,
    seq: 4,
  }
  it.each(Object.entries(columns))("%s fits 80 columns, its ids and states whole", (name, { shown, ...more }) => {
    const rows = [row, { ...row, state: "done", key: "k" }]
    // Their ids are short there.
    const some = name === "grants" ? rows.map((one) => ({ ...one, id: "01a1e256-b39d" })) : rows
    const kept = columnsFor(some, shown, "spare" in more ? more.spare : [], terminal)
    const lines = table(some, kept, terminal)
    for (const line of lines) assert.isAtMost(line.length, 80)
    if (kept.includes("id")) assert.include(lines[1], some[0]!.id)
    if (kept.includes("name")) assert.include(lines[1], "accounting")
    if (kept.includes("state") && name !== "tokens") assert.include(lines[1], "waiting_reply")
    if (name === "grants") for (const whole of [row.who, row.what, row.where]) assert.include(lines[1], whole)
  })

  it.prop(
    "no line is wider than the terminal unless its ids and eight letters of each text are",
    {
      texts: Schema.Array(Schema.String.check(Schema.isMaxLength(60))),
      width: Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 200 })),
    },
    ({ texts, width }) => {
      const lines = table(
        texts.map((text) => ({ a: text.replaceAll("\n", " "), b: "x".repeat(50), id })),
        ["a", "b", "id"],
        { width, now },
      )
      for (const line of lines) assert.isAtMost(line.length, Math.max(width, id.length + 2 * (8 + 2)))
    },
  )
})
