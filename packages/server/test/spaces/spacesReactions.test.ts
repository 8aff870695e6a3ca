/** A reaction is one emoji, and a message has a limited number of them: at every door, on both databases. */
import { assert, layer } from "@effect/vitest"
import { mostReactions } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { call, fresh, refused, someone, type Someone } from "./spacesGuests.ts"

/** Texts, parts of emoji, several emoji, and what looks like nothing or like one. */
const noEmoji = [
  "",
  " ",
  "thumbsup",
  ":thumbsup:",
  "+1",
  "1",
  "#",
  "a",
  "pay 10",
  "approved-by-the-admin",
  "<b>",
  "not an emoji",
  "👍👍",
  "👍 ",
  "👍a",
  "👍🏽🏽",
  "🇩",
  "🇩🇩",
  "\u200d",
  "\ufe0f",
  "\u20e3",
  "👍\u200d",
  "👍\u200b",
  "\u202e👍",
  "🏴\u{e0067}\u{e007f}",
  "👩‍👩‍👧‍👦‍👦",
  "a".repeat(33),
  "👍".repeat(33),
  "a".repeat(100_000),
]

const emojis = [..."😀😁😂😃😄😅😆😇😈😉😊😋😌😍😎😏😐😑😒😓😔😕😖😗"]

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`reactions on ${store}`, (it) => {
    const agent = Effect.gen(function* () {
      const who = yield* someone("agent")
      const { transact } = yield* Journal
      const sets = { toolsets: ["stoa", "office"] as const }
      yield* Effect.orDie(transact((yield* Principals).change(who.principal.id, sets)))
      return who
    })
    const open = (who: Someone, members: ReadonlyArray<Someone> = []) =>
      Effect.gen(function* () {
        const ids = members.map(({ id }) => id)
        const space = yield* ask(() => who.client.spaces.add({ name: fresh("room"), kind: "private", members: ids }))
        return (yield* ask(() => who.client.spaces.post(space.id, { text: "look" }))).id
      })
    const on = (who: Someone, id: string) =>
      Effect.map(
        ask(() => who.client.messages.get(id)),
        ({ reactions }) => reactions,
      )

    it.effect("S0-21 S0-22 is one emoji at every door, and nothing else is one", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const pam = yield* agent
        const id = yield* open(pam)
        const doors = [
          ["stoa", "react", (emoji: string) => ({ message: id, emoji })],
          ["office", "react_to_message", (emoji: string) => ({ messageId: id, emoji })],
        ] as const
        const use = (set: string, name: string, input: object) =>
          Effect.map(
            ask(() => newRequest(`${url}/mcp/${set}`, pam.token, "tools/call", { name, arguments: input })),
            ({ body }) => (body as { result: { isError?: boolean } }).result.isError === true,
          )
        for (const emoji of noEmoji) {
          if (emoji.length < 1000 && emoji !== "") {
            const { body, status } = yield* call(pam, "PUT", `/messages/${id}/reactions/${encodeURIComponent(emoji)}`)
            assert.strictEqual(status, 400, JSON.stringify(emoji))
            assert.include(JSON.stringify(body), "must be one emoji, such as 👍")
          }
          for (const [set, name, input] of doors)
            assert.isTrue(yield* use(set, name, input(emoji)), `${set} ${JSON.stringify(emoji.slice(0, 50))}`)
        }
        assert.deepStrictEqual(yield* on(pam, id), [])
        yield* ask(() => pam.client.messages.react(id, "👩‍👩‍👧‍👦"))
        // A heart is one emoji, with and without the sign that makes it red.
        yield* ask(() => pam.client.messages.react(id, "❤"))
        assert.isFalse(yield* use(doors[0][0], doors[0][1], doors[0][2]("❤️")))
        assert.isFalse(yield* use(doors[1][0], doors[1][1], doors[1][2]("👁‍🗨")))
        assert.deepStrictEqual(
          (yield* on(pam, id)).map(({ emoji }) => emoji),
          ["👩‍👩‍👧‍👦", "❤️", "👁️‍🗨️"],
        )
        yield* ask(() => pam.client.messages.unreact(id, "❤"))
        assert.lengthOf(yield* on(pam, id), 2)
      }),
    )

    it.effect("has room for so many different emoji, so many of one person and so many in all, also at once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const guests = yield* Effect.all([agent, someone(), someone("agent")])
        const [pam, jim, kevin] = guests
        const id = yield* open(pam, [jim, kevin])
        const give = (who: Someone, all: ReadonlyArray<string>) =>
          Effect.forEach(all, (emoji) => call(who, "PUT", `/messages/${id}/reactions/${encodeURIComponent(emoji)}`), {
            concurrency: "unbounded",
          })
        const taken = (answers: ReadonlyArray<{ readonly status: number }>) =>
          answers.map(({ status }) => status).toSorted()
        const most = (n: number, no: number) => [...Array<number>(n).fill(204), ...Array<number>(no).fill(409)]
        // Each gives more than one person may, all at once.
        assert.deepStrictEqual(taken(yield* give(pam, emojis.slice(0, 12))), most(mostReactions.own, 2))
        assert.deepStrictEqual(taken(yield* give(jim, emojis.slice(12))), most(mostReactions.own, 2))
        const given = yield* on(pam, id)
        assert.lengthOf(given, mostReactions.emojis)
        const another = emojis.find((one) => !given.some(({ emoji }) => emoji === one))!
        const refusal = yield* refused(() => kevin.client.messages.react(id, another))
        assert.deepStrictEqual([refusal.status, refusal.tag], [409, "WrongState"])
        assert.match(refusal.message, /20 different reactions. Give one of those/)
        // Joining in is possible, and again changes nothing.
        for (const _ of [1, 2]) yield* ask(() => kevin.client.messages.react(id, given[0]!.emoji))
        const own = yield* refused(() => jim.client.messages.react(id, given[0]!.emoji))
        assert.match(own.message, /Take one back/)
        // As an older version took them.
        const rows = (yield* on(pam, id)).flatMap(({ by }) => by).length
        for (let more = rows; more < mostReactions.all; more++)
          yield* sql`INSERT INTO reactions ${sql.insert({ message: id, emoji: `name-${more}`, principal: jim.id, createdAt: "2026-01-01T00:00:00.000Z" })}`
        const full = yield* refused(() => kevin.client.messages.react(id, given[1]!.emoji))
        assert.match(full.message, /500 reactions/)
      }),
    )

    it.effect("of an older version stays readable, whatever it is, and can be taken back", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const pam = yield* someone()
        const id = yield* open(pam)
        const old = ["thumbsup", "❤", "+1"]
        for (const emoji of old)
          yield* sql`INSERT INTO reactions ${sql.insert({ message: id, emoji, principal: pam.id, createdAt: `2026-01-01T00:00:0${old.indexOf(emoji)}.000Z` })}`
        assert.deepStrictEqual(
          yield* on(pam, id),
          old.map((emoji) => ({ emoji, by: [pam.id as never] })),
        )
        for (const emoji of old) yield* ask(() => pam.client.messages.unreact(id, emoji))
        assert.deepStrictEqual(yield* on(pam, id), [])
      }),
    )
  })
