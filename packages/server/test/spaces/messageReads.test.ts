/** What rooms above read of messages: a text is for those who may see its space now, whatever asks for it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../src/access/rights/Grants.ts"
import { makeMessageReads } from "../../src/spaces/MessageReads.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"
import { fresh, type Someone, someone } from "./spacesGuests.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`reads of messages on ${store}`, (it) => {
    it.effect("X-30 replies and mail are shown to those who may see their space now", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { admin } = yield* Guest
        const grants = yield* Grants
        const reads = makeMessageReads(sql)
        const [pam, bot, stranger, denied] = [
          yield* someone(),
          yield* someone("agent"),
          yield* someone(),
          yield* someone(),
        ]
        yield* Effect.orDie(
          (yield* Journal).transact(
            grants.add({
              principal: denied.principal.id,
              resource: "spaces/open-*",
              actions: ["read"],
              effect: "deny",
            } as never),
          ),
        )
        const members = [pam.id, bot.id, denied.id]
        const places = yield* Effect.forEach(["open", "closed"] as const, (name) =>
          ask(() => admin.spaces.add({ name: fresh(name), kind: name === "open" ? "public" : "private", members })),
        )
        const said = yield* Effect.forEach(places, ({ id }) =>
          ask(() => bot.client.spaces.post(id, { text: `in ${id}` })),
        )
        const answers = yield* Effect.forEach(said, ({ id, space }) =>
          ask(() => pam.client.spaces.post(space, { text: `to ${id}`, replyTo: id })),
        )
        const links = sql`SELECT reply_to AS link, id AS message FROM messages
          WHERE ${sql.in(
            "id",
            answers.map(({ id }) => id),
          )}`
        const other = {
          spaces: sql`SELECT id AS space FROM spaces WHERE 1 = 0`,
          received: sql`SELECT id FROM messages WHERE 1 = 0`,
          to: () => sql`NULL`,
        }
        const [open, closed] = places.map(({ id }) => id)
        const check = Effect.fnUntraced(function* (who: Someone, right: ReadonlyArray<string | undefined>) {
          const viewer = yield* grants.viewerNow(who.principal.id, "agent", "spaces")
          const replies = yield* reads.repliesOf(viewer, links)
          const mail = yield* reads.mailOf(viewer, bot.principal.id, other, 10)
          const texts = (of: ReadonlyArray<{ readonly id: string; readonly text: string }>, found: typeof said) =>
            found.filter(({ space }) => right.includes(space)).map(({ id }) => of.find((one) => one.id === id)?.text)
          assert.deepStrictEqual(
            replies.map(({ link, text }) => [link, text]).toSorted(),
            said
              .filter(({ space }) => right.includes(space))
              .map(({ id }) => [id, `to ${id}`])
              .toSorted(),
            who.name,
          )
          assert.strictEqual(mail.length, 2 * right.length, who.name)
          for (const { id } of answers.filter(({ space }) => right.includes(space)))
            assert.strictEqual(mail.find((one) => one.id === id)?.to, bot.name, "an answer is to whom it answers")
          assert.notInclude([...texts(mail, said), ...texts(mail, answers)], undefined)
        })
        yield* check(pam, [open, closed])
        yield* check(bot, [open, closed])
        yield* check(stranger, [open])
        yield* check(denied, [closed])
        yield* ask(() => admin.spaces.removeMember(closed!, pam.id))
        yield* check(pam, [open])
        yield* ask(() => admin.spaces.removeMember(closed!, denied.id))
        yield* check(denied, [])
        assert.strictEqual(yield* reads.authorOf(said[0].id), bot.id)
        assert.strictEqual(yield* reads.authorOf("msg_none"), undefined)
      }),
    )
  })
