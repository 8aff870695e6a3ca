/** What is said in a space, through the door, on both databases: shapes, numbers, pages, edits, reactions, cursors. */
import { assert, layer } from "@effect/vitest"
import type { Event } from "@stoa/contract"
import { Effect, type Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Messages } from "../../src/spaces/messages/Messages.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, house } from "../house.ts"
import { call, fresh, refused, type Someone, someone, statusOf } from "./spacesGuests.ts"

const end = Effect.flatMap(Journal, (journal) => journal.end)
const eventsSince = Effect.fnUntraced(function* (from: number) {
  return yield* (yield* Journal).read({ after: from, limit: 500 })
})
const created = (events: ReadonlyArray<Event>) => events.filter((event) => event.kind === "message.created")

const room = (owner: Someone, members: ReadonlyArray<Someone> = [], over: object = {}) =>
  ask(() =>
    owner.client.spaces.add({
      name: fresh("room"),
      kind: "private",
      members: members.map((one) => one.id),
      ...over,
    }),
  )
const say = (who: Someone, space: string, text: string, replyTo?: string) =>
  ask(() => who.client.spaces.post(space, { text, ...(replyTo === undefined ? {} : { replyTo }) }))

const viewerOf = (who: Someone) =>
  Effect.flatMap(Grants, (grants) => grants.viewerNow(who.principal.id, "agent", "spaces"))

/** A tool call in a space, as the rooms above will post it. */
const toolCall = Effect.fnUntraced(function* (who: Someone, space: string, text: string) {
  const { transact } = yield* Journal
  const viewer = yield* viewerOf(who)
  const there = yield* (yield* Spaces).get(space, viewer)
  const posted = {
    id: "call_1",
    tool: "weather",
    input: { city: "Scranton", to: "@everybody" },
    output: [1, { a: null }],
  }
  const messages = yield* Messages
  return yield* transact(messages.post(there, viewer, { text }, { call: posted, provenance: "tool" }))
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`messages on ${store}`, (it) => {
    it.effect("S0-10 S0-18 X-48 a post has the law's shape, is one row, and reads back the same", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [pam, jim, toby] = [yield* someone(), yield* someone("agent"), yield* someone()]
        const space = yield* room(pam, [jim, toby])
        const first = yield* say(jim, space.id, "first")
        const text = `see @${toby.name}`
        const from = yield* end
        const made = yield* call(pam, "POST", `/spaces/${space.name}/messages`, { text, replyTo: first.id })
        assert.strictEqual(made.status, 201)
        const { createdAt, id, ...rest } = made.body as { createdAt: string; id: string }
        assert.match(id, /^msg_[0-9a-f-]{36}$/)
        assert.match(createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
        assert.deepStrictEqual<unknown>(rest, {
          space: space.id,
          seq: 2,
          author: { id: pam.id, name: pam.name, kind: "person" },
          text,
          replyTo: first.id,
          mentions: [toby.id],
          call: null,
          reactions: [],
          provenance: "person",
          origin: null,
          pinned: false,
          editedAt: null,
          deletedAt: null,
        })
        const told = created(yield* eventsSince(from)).map(({ body }) => body.message)
        assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(told)), [made.body])
        const rows =
          yield* sql`SELECT id, space, author, text, reply_to, seq FROM messages WHERE space = ${space.id} ORDER BY seq`
        assert.strictEqual(rows.length, 2)
        assert.deepInclude(rows[1], { id, space: space.id, author: pam.id, text, replyTo: first.id, seq: 2 })
        const listed = yield* call(toby, "GET", `/spaces/${space.id}/messages`)
        assert.deepStrictEqual((listed.body["items"] as Array<unknown>)[1], made.body)
        assert.deepStrictEqual((yield* call(toby, "GET", `/messages/${id}`)).body, made.body)
      }),
    )

    it.effect("G-15 who speaks labels what is said: person, agent, outside, tool", () =>
      Effect.gen(function* () {
        const [pam, jim, bot] = [yield* someone(), yield* someone("agent"), yield* someone("service")]
        const space = yield* room(pam, [jim, bot])
        const from = yield* end
        const labels = []
        for (const who of [pam, jim, bot]) labels.push((yield* say(who, space.id, "hello")).provenance)
        labels.push((yield* toolCall(jim, space.id, "")).provenance)
        assert.deepStrictEqual(labels, ["person", "agent", "outside", "tool"])
        assert.deepStrictEqual(
          created(yield* eventsSince(from)).map((event) => event.provenance),
          ["person", "agent", "outside", "tool"],
        )
      }),
    )

    it.effect("S0-11 S0-12 X-12 one event a post, with the whole message and whom it is for", () =>
      Effect.gen(function* () {
        const [pam, jim, dwight, toby] = [
          yield* someone(),
          yield* someone("agent"),
          yield* someone("agent"),
          yield* someone(),
        ]
        const space = yield* room(pam, [jim, dwight, toby])
        const from = yield* end
        const said = yield* say(pam, space.id, `@${dwight.name} and @${toby.name}, please`)
        const events = yield* eventsSince(from)
        assert.strictEqual(events.length, 1)
        const event = created(events)[0]!
        assert.deepInclude(event, { kind: "message.created", space: space.id, actor: pam.id })
        assert.deepStrictEqual(JSON.parse(JSON.stringify(event.body.message)), said)
        assert.deepStrictEqual<ReadonlyArray<string>>(event.body.addressees, [dwight.id])
        assert.deepStrictEqual(said.mentions, [dwight.id, toby.id])
      }),
    )

    it.effect("X-03 X-04 S0-60 S1-95 the policy of the space decides for whom a post is", () =>
      Effect.gen(function* () {
        const [pam, jim, dwight] = [yield* someone(), yield* someone("agent"), yield* someone("agent")]
        const heard = Effect.fnUntraced(function* (who: Someone, space: string, text: string, replyTo?: string) {
          const from = yield* end
          const said = yield* say(who, space, text, replyTo)
          const { addressees } = created(yield* eventsSince(from))[0]!.body
          const ids: ReadonlyArray<string> = addressees
          return { said, addressees: ids }
        })
        const text = `@${dwight.name} look`
        const office = yield* room(pam, [jim, dwight], { trigger: "human-all" })
        const all = yield* heard(pam, office.id, text)
        assert.sameMembers([...all.addressees], [jim.id, dwight.id])
        assert.deepStrictEqual(all.said.mentions, [])
        // An agent's post wakes nobody there; in a thread a person's is for those of the thread, up to its beginning.
        const root = yield* heard(jim, office.id, text)
        assert.deepStrictEqual(root.addressees, [])
        const reply = yield* heard(pam, office.id, "yes", root.said.id)
        assert.deepStrictEqual(reply.addressees, [jim.id])
        const deeper = yield* heard(pam, office.id, "and", reply.said.id)
        assert.deepStrictEqual(deeper.addressees, [jim.id])
        yield* say(dwight, office.id, "false", root.said.id)
        assert.sameMembers([...(yield* heard(pam, office.id, "oh", deeper.said.id)).addressees], [jim.id, dwight.id])
        const team = yield* room(pam, [jim, dwight], { kind: "team" })
        assert.deepStrictEqual((yield* heard(pam, team.id, text)).addressees, [])
        // Two need no names; a third changes that, and its leaving changes it back.
        const two = yield* room(pam, [jim])
        assert.deepStrictEqual((yield* heard(pam, two.id, "you?")).addressees, [jim.id])
        yield* ask(() => pam.client.spaces.addMember(two.id, dwight.id))
        assert.deepStrictEqual((yield* heard(pam, two.id, "you?")).addressees, [])
        assert.deepStrictEqual((yield* heard(pam, two.id, text)).addressees, [dwight.id])
        assert.deepStrictEqual((yield* heard(dwight, two.id, text)).said.mentions, [])
        yield* ask(() => pam.client.spaces.removeMember(two.id, dwight.id))
        assert.deepStrictEqual((yield* heard(jim, two.id, "me?")).addressees, [])
        assert.deepStrictEqual((yield* heard(pam, two.id, "you?")).addressees, [jim.id])
        yield* ask(() => pam.client.spaces.removeMember(two.id, pam.id))
        yield* ask(() => jim.client.spaces.addMember(two.id, dwight.id))
        assert.deepStrictEqual((yield* heard(jim, two.id, "you?")).addressees, [dwight.id])
        const dm = yield* ask(() => jim.client.spaces.add({ name: fresh("dm"), kind: "dm", members: [dwight.id] }))
        assert.deepStrictEqual((yield* heard(jim, dm.id, "psst")).addressees, [dwight.id])
      }),
    )

    it.effect("S0-15 S0-77 what cannot be posted is refused by its status, without row or event", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const space = yield* room(pam)
        const from = yield* end
        const post = (body: unknown, path = `/spaces/${space.id}/messages`) => call(pam, "POST", path, body)
        for (const text of ["", " \n\t", "a\ud800b", "a\0b", 7, null]) {
          const { body, status } = yield* post({ text })
          assert.deepStrictEqual([status, body["tag"]], [400, "BadInput"], JSON.stringify(text))
          // What no database takes is refused for the whole of the body, before the text is looked at.
          assert.include(["text", "body"], (body["issues"] as Array<{ path: string }>)[0]!.path)
        }
        assert.strictEqual((yield* post({})).status, 400)
        assert.strictEqual((yield* post({ text: "a", replyTo: "msg_1" })).status, 400)
        assert.strictEqual((yield* post({ text: "a" }, "/spaces/nowhere/messages")).status, 404)
        // Bytes count, not characters.
        const most = 64 * 1024
        for (const text of ["a".repeat(most + 1), "é".repeat(most / 2 + 1)]) {
          const { body, status } = yield* post({ text })
          assert.deepStrictEqual([status, body["tag"], body["limit"]], [413, "TooLarge", most])
        }
        assert.deepStrictEqual(yield* eventsSince(from), [])
        assert.strictEqual((yield* ask(() => pam.client.spaces.messages(space.id))).items.length, 0)
        const largest = yield* post({ text: "é".repeat(most / 2) })
        assert.deepStrictEqual([largest.status, largest.body["seq"]], [201, 1])
        const odd = "  kept as it is \r\n\t𝕏 👩‍👩‍👧 \u202e' OR 1=1; -- "
        assert.strictEqual((yield* post({ text: odd })).body["text"], odd)
      }),
    )

    it.effect("G-22 a post under one key is one post", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const space = yield* room(pam)
        const from = yield* end
        const post = (text: string) => call(pam, "POST", `/spaces/${space.id}/messages`, { text }, "just once")
        const answers = yield* Effect.all(
          Array.from({ length: 6 }, () => post("hello")),
          { concurrency: 6 },
        )
        assert.deepStrictEqual(answers.map((one) => one.status).toSorted(), [200, 200, 200, 200, 200, 201])
        assert.strictEqual(new Set(answers.map((one) => one.body["id"])).size, 1)
        assert.strictEqual((yield* eventsSince(from)).length, 1)
        assert.strictEqual((yield* post("another")).status, 409)
      }),
    )

    it.effect(
      "X-07 S1-111 a reply names what it answers; what is missing, foreign, deleted or hidden cannot be answered",
      () =>
        Effect.gen(function* () {
          const [pam, toby] = [yield* someone(), yield* someone()]
          const [space, other, hidden] = [yield* room(pam), yield* room(pam), yield* room(toby)]
          const root = yield* say(pam, space.id, "root")
          assert.strictEqual((yield* say(pam, space.id, "reply", root.id)).replyTo, root.id)
          const foreign = yield* say(pam, other.id, "elsewhere")
          const secret = yield* say(toby, hidden.id, "secret")
          const nowhere = root.id.replace(/.$/, (last) => (last === "0" ? "1" : "0"))
          for (const id of [nowhere, foreign.id, secret.id])
            assert.strictEqual(yield* statusOf(() => pam.client.spaces.post(space.id, { text: "a", replyTo: id })), 404)
          yield* ask(() => pam.client.messages.remove(root.id))
          assert.strictEqual(
            yield* statusOf(() => pam.client.spaces.post(space.id, { text: "a", replyTo: root.id })),
            409,
          )
          assert.strictEqual((yield* ask(() => pam.client.spaces.get(space.id))).lastSeq, 2)
        }),
    )

    it.effect(
      "S1-62 S1-63 S1-65 S1-66 a tool call is a message that keeps its data, mentions nobody and takes no reply",
      () =>
        Effect.gen(function* () {
          const [pam, jim, dwight] = [yield* someone(), yield* someone("agent"), yield* someone("agent")]
          for (const members of [[jim, dwight], [jim]]) {
            const space = yield* room(pam, members)
            yield* say(pam, space.id, "before")
            const from = yield* end
            const posted = yield* toolCall(pam, space.id, `@${dwight.name} @${jim.name}`)
            const event = created(yield* eventsSince(from))[0]!
            assert.deepStrictEqual([event.body.addressees, event.body.message.mentions], [[], []])
            const read = yield* ask(() => pam.client.messages.get(posted.id))
            assert.deepStrictEqual<unknown>(read.call, {
              id: "call_1",
              tool: "weather",
              input: { city: "Scranton", to: "@everybody" },
              output: [1, { a: null }],
            })
            assert.strictEqual(read.seq, 2)
            const reply = yield* refused(() => pam.client.spaces.post(space.id, { text: "nice", replyTo: posted.id }))
            assert.deepStrictEqual([reply.status, /cannot be replied to/.test(reply.message)], [409, true])
            assert.strictEqual(yield* statusOf(() => pam.client.messages.edit(posted.id, { text: "x" })), 409)
          }
        }),
    )

    it.effect("G-09 pages ascend by number, and while others post there is no gap and no repeat", () =>
      Effect.gen(function* () {
        const [pam, jim] = [yield* someone(), yield* someone("agent")]
        const space = yield* room(pam, [jim])
        for (let n = 1; n <= 30; n++) yield* say(pam, space.id, `${n}`)
        const newest = yield* ask(() => pam.client.spaces.messages(space.id, { limit: 4 }))
        assert.deepStrictEqual([newest.items.map((one) => one.seq), newest.next], [[27, 28, 29, 30], "27"])
        const posting = yield* Effect.forEach(
          Array.from({ length: 30 }, (_, n) => n),
          (n) => say(jim, space.id, `more ${n}`),
          { concurrency: 3 },
        ).pipe(Effect.forkChild)
        const back: Array<number> = []
        for (let before = 31; before > 1;) {
          const page = yield* ask(() => pam.client.spaces.messages(space.id, { limit: 7, before }))
          back.unshift(...page.items.map((one) => one.seq))
          before = page.next === null ? 0 : Number(page.next)
        }
        assert.deepStrictEqual(
          back,
          Array.from({ length: 30 }, (_, n) => n + 1),
        )
        const on: Array<number> = []
        while (on.length < 60) {
          const after = on.at(-1) ?? 0
          const page = yield* ask(() => pam.client.spaces.messages(space.id, { limit: 7, after }))
          on.push(...page.items.map((one) => one.seq))
        }
        yield* Fiber.join(posting)
        assert.deepStrictEqual(
          on,
          Array.from({ length: 60 }, (_, n) => n + 1),
        )
        const between = yield* ask(() => pam.client.spaces.messages(space.id, { after: 10, before: 14 }))
        assert.deepStrictEqual(
          between.items.map((one) => one.seq),
          [11, 12, 13],
        )
        const { items, next } = yield* ask(() => pam.client.spaces.messages(space.id))
        assert.deepStrictEqual([items.length, items[0]!.seq, next], [50, 11, "11"])
        for (const query of ["limit=0", "limit=101", "before=-1", "before=x", "after=1.5", "before=3000000000"])
          assert.strictEqual((yield* call(pam, "GET", `/spaces/${space.id}/messages?${query}`)).status, 400, query)
      }),
    )

    it.effect(
      "S1-68 G-03 fifty at once, some failing, some rolled back: distinct numbers without a gap, events in their order",
      () =>
        Effect.gen(function* () {
          const { transact } = yield* Journal
          const messages = yield* Messages
          const pam = yield* someone()
          const space = yield* room(pam)
          const viewer = yield* viewerOf(pam)
          const there = yield* (yield* Spaces).get(space.id, viewer)
          const from = yield* end
          const post = (text: string, n: number): Effect.Effect<Exit.Exit<unknown, unknown>> => {
            const posted = transact(messages.post(there, viewer, { text }))
            if (n % 5 === 1) return Effect.exit(transact(messages.post(there, viewer, { text: "x".repeat(70_000) })))
            if (n % 5 === 2) return Effect.exit(transact(Effect.andThen(posted, Effect.fail("rolled back"))))
            if (n % 5 === 3) return Effect.exit(transact(Effect.andThen(posted, Effect.die("broken"))))
            return n % 5 === 4 ? Effect.exit(say(pam, space.id, text)) : Effect.exit(posted)
          }
          const exits = yield* Effect.forEach(
            Array.from({ length: 100 }, (_, n) => n),
            (n) => post(`text ${n}`, n),
            { concurrency: 50 },
          )
          assert.strictEqual(exits.filter((exit) => exit._tag === "Success").length, 40)
          const { items } = yield* ask(() => pam.client.spaces.messages(space.id, { limit: 100 }))
          const seqs = Array.from({ length: 40 }, (_, n) => n + 1)
          assert.deepStrictEqual(
            items.map((one) => one.seq),
            seqs,
          )
          assert.strictEqual((yield* ask(() => pam.client.spaces.get(space.id))).lastSeq, 40)
          assert.deepStrictEqual(
            created(yield* eventsSince(from)).map((event) => event.body.message.seq),
            seqs,
          )
        }),
    )

    it.effect("G-05 an edit keeps what stood there; two at once both stand in the history; only its author edits", () =>
      Effect.gen(function* () {
        const [pam, jim] = [yield* someone(), yield* someone("agent")]
        const space = yield* room(pam, [jim])
        const said = yield* say(jim, space.id, "one")
        const from = yield* end
        const edited = yield* ask(() => jim.client.messages.edit(said.id, { text: "two" }))
        assert.deepInclude(edited, { id: said.id, seq: said.seq, text: "two", createdAt: said.createdAt })
        assert.isNotNull(edited.editedAt)
        // The same text again is no edit.
        yield* ask(() => jim.client.messages.edit(said.id, { text: "two" }))
        const events = yield* eventsSince(from)
        assert.deepStrictEqual(
          events.map((event) => [event.kind, event.kind === "message.edited" ? event.body.message.text : ""]),
          [["message.edited", "two"]],
        )
        yield* Effect.all(
          ["three", "four", "five"].map((text) => ask(() => jim.client.messages.edit(said.id, { text }))),
          {
            concurrency: 3,
          },
        )
        const { items } = yield* ask(() => pam.client.messages.history(said.id))
        const now = yield* ask(() => pam.client.messages.get(said.id))
        assert.deepStrictEqual(
          items.slice(0, 2).map((one) => one.text),
          ["one", "two"],
        )
        assert.sameMembers([...items.map((one) => one.text), now.text], ["one", "two", "three", "four", "five"])
        const other = yield* refused(() => pam.client.messages.edit(said.id, { text: "mine" }))
        assert.deepStrictEqual([other.status, other.tag], [403, "Forbidden"])
        assert.strictEqual(yield* statusOf(() => jim.client.messages.edit(said.id, { text: " " })), 400)
        assert.strictEqual(yield* statusOf(() => jim.client.messages.edit(said.id, { text: "x".repeat(65_537) })), 413)
        const found = (q: string) => ask(() => pam.client.messages.search({ q, space: space.id }))
        assert.deepStrictEqual((yield* found("one")).items, [])
        assert.strictEqual((yield* found(now.text)).items[0]!.id, said.id)
      }),
    )

    it.effect(
      "S0-27 a deleted message keeps its number and nothing else: no text, no reactions, no history, no pin",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [pam, jim, toby] = [yield* someone(), yield* someone("agent"), yield* someone()]
          const space = yield* room(pam, [jim, toby])
          const said = yield* say(jim, space.id, `unrepeatable @${toby.name}`)
          yield* ask(() => jim.client.messages.edit(said.id, { text: "unrepeatable still" }))
          yield* ask(() => pam.client.messages.react(said.id, "👍"))
          yield* ask(() => pam.client.messages.pin(said.id))
          assert.strictEqual(yield* statusOf(() => toby.client.messages.remove(said.id)), 403)
          const from = yield* end
          yield* Effect.all(
            [pam, jim, pam].map((who) => ask(() => who.client.messages.remove(said.id))),
            { concurrency: 3 },
          )
          assert.deepStrictEqual(
            (yield* eventsSince(from)).map((event) => [event.kind, event.body]),
            [["message.deleted", { message: said.id, seq: 1 }]] as never,
          )
          const left = yield* ask(() => pam.client.messages.get(said.id))
          assert.deepInclude(left, { seq: 1, text: "", reactions: [], mentions: [], pinned: false })
          assert.isNotNull(left.deletedAt)
          assert.strictEqual((yield* sql`SELECT 1 FROM reactions WHERE message = ${said.id}`).length, 0)
          assert.deepStrictEqual((yield* ask(() => pam.client.messages.history(said.id))).items, [])
          assert.deepStrictEqual((yield* ask(() => pam.client.messages.search({ q: "unrepeatable" }))).items, [])
          const tries: ReadonlyArray<() => Promise<unknown>> = [
            () => pam.client.messages.react(said.id, "👍"),
            () => pam.client.messages.pin(said.id),
            () => jim.client.messages.edit(said.id, { text: "back" }),
          ]
          for (const attempt of tries) assert.strictEqual(yield* statusOf(attempt), 409)
          assert.strictEqual((yield* say(pam, space.id, "next")).seq, 2)
        }),
    )

    it.effect("S0-22 S0-23 S0-24 S0-25 a reaction is one row and one event, however often it is given", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [pam, jim] = [yield* someone(), yield* someone("agent")]
        const space = yield* room(pam, [jim])
        const said = yield* say(pam, space.id, "hello")
        const from = yield* end
        const path = (emoji: string, id = said.id) => `/messages/${id}/reactions/${encodeURIComponent(emoji)}`
        const times = yield* Effect.all(
          Array.from({ length: 4 }, () => call(jim, "PUT", path("👍🏽"))),
          { concurrency: 4 },
        )
        assert.deepStrictEqual(
          times.map((one) => one.status),
          [204, 204, 204, 204],
        )
        const rows = yield* sql`SELECT message, principal, emoji, created_at FROM reactions WHERE message = ${said.id}`
        assert.strictEqual(rows.length, 1)
        assert.deepInclude(rows[0], { message: said.id, principal: jim.id, emoji: "👍🏽" })
        assert.isString(rows[0]!["createdAt"])
        yield* call(pam, "PUT", path("👍🏽"))
        for (const emoji of ["❤️", "❤", "👩‍👩‍👧", "🇩🇪", "1️⃣"])
          assert.strictEqual((yield* call(pam, "PUT", path(emoji))).status, 204, emoji)
        const { reactions } = yield* ask(() => pam.client.messages.get(said.id))
        assert.sameMembers(reactions.find((one) => one.emoji === "👍🏽")!.by as Array<string>, [jim.id, pam.id])
        // With and without its U+FE0F a heart is one emoji.
        assert.deepStrictEqual(
          reactions.map(({ emoji }) => emoji),
          ["👍🏽", "❤️", "👩‍👩‍👧", "🇩🇪", "1️⃣"],
        )
        for (const method of ["DELETE", "DELETE"])
          assert.strictEqual((yield* call(jim, method, path("👍🏽"))).status, 204)
        const events = (yield* eventsSince(from)).filter((event) => (event.actor as string) === jim.id)
        assert.deepStrictEqual(
          events.map((event) => [event.kind, event.space, event.body]),
          ["reaction.added", "reaction.removed"].map((kind) => [
            kind,
            space.id,
            { message: said.id, emoji: "👍🏽", by: jim.id },
          ]) as never,
        )
        const before = yield* end
        const nowhere = said.id.replace(/.$/, (last) => (last === "0" ? "1" : "0"))
        assert.strictEqual((yield* call(jim, "PUT", path("👍", nowhere))).status, 404)
        for (const bad of ["two words", "<b>", "A", "x".repeat(33), "a\0", "👍👍", "thumbsup", ":+1:"])
          assert.strictEqual((yield* call(jim, "PUT", path(bad))).status, 400, bad)
        assert.strictEqual(yield* end, before)
      }),
    )

    it.effect("G-05 a message is pinned and unpinned, with one event each", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const space = yield* room(pam)
        const said = yield* say(pam, space.id, "the rules")
        const from = yield* end
        const pinned: Array<boolean> = []
        for (const verb of ["pin", "pin", "unpin", "unpin"] as const) {
          yield* ask(() => pam.client.messages[verb](said.id))
          pinned.push((yield* ask(() => pam.client.messages.get(said.id))).pinned)
        }
        assert.deepStrictEqual(pinned, [true, true, false, false])
        assert.deepStrictEqual(
          (yield* eventsSince(from)).map((event) => event.kind),
          ["message.pinned", "message.pinned"],
        )
      }),
    )

    it.effect(
      "S1-110 S0-77 unread counts by the cursor of each, which only goes forward and is nobody else's business",
      () =>
        Effect.gen(function* () {
          const [pam, jim, toby] = [yield* someone(), yield* someone("agent"), yield* someone()]
          const space = yield* room(pam, [jim])
          for (const text of ["1", "2", "3"]) yield* say(pam, space.id, text)
          const unread = (who: Someone) =>
            Effect.map(
              ask(() => who.client.spaces.get(space.id)),
              (one) => one.unread,
            )
          assert.deepStrictEqual([yield* unread(pam), yield* unread(jim)], [0, 3])
          const from = yield* end
          const read = (seq: number) => ask(() => jim.client.spaces.read(space.id, { seq }))
          yield* read(2)
          yield* read(1)
          assert.strictEqual(yield* unread(jim), 1)
          yield* read(1_000_000_000_000)
          assert.strictEqual(yield* unread(jim), 0)
          assert.deepStrictEqual(
            (yield* eventsSince(from))
              .filter(({ actor }) => actor === jim.id)
              .map((event) => [event.kind, event.space, event.body]),
            [2, 3].map((seq) => ["space.read", null, { space: space.id, principal: jim.id, seq }]) as never,
          )
          // What was said before one came was not said to one.
          yield* ask(() => pam.client.spaces.addMember(space.id, toby.id))
          assert.strictEqual(yield* unread(toby), 0)
          yield* say(jim, space.id, "4")
          assert.deepStrictEqual([yield* unread(pam), yield* unread(jim), yield* unread(toby)], [1, 0, 1])
          yield* ask(() => toby.client.spaces.read(space.id, { seq: 4 }))
          assert.deepStrictEqual([yield* unread(pam), yield* unread(jim), yield* unread(toby)], [1, 0, 0])
          yield* say(jim, space.id, "5")
          assert.strictEqual(
            (yield* ask(() => toby.client.spaces.list())).items.find((one) => one.id === space.id)!.unread,
            1,
          )
          const open = yield* room(pam, [], { kind: "public" })
          assert.strictEqual(yield* statusOf(() => jim.client.spaces.read(open.id, { seq: 1 })), 403)
          assert.strictEqual(yield* statusOf(() => jim.client.spaces.read(space.id, { seq: -1 })), 400)
        }),
    )

    it.effect("G-05 search finds what one may see, however much one may not see", () =>
      Effect.gen(function* () {
        const { transact } = yield* Journal
        const messages = yield* Messages
        const [pam, jim] = [yield* someone(), yield* someone("agent")]
        const [hers, his, open] = [yield* room(pam), yield* room(jim), yield* room(pam, [], { kind: "public" })]
        const viewer = yield* viewerOf(pam)
        const there = yield* (yield* Spaces).get(hers.id, viewer)
        // Shorter texts rank higher: without a second look his would be drowned by hers.
        yield* transact(
          Effect.forEach(Array.from({ length: 70 }), () => messages.post(there, viewer, { text: "Zebra" })),
        )
        const mine = yield* say(jim, his.id, "I too once met a zébra, far away and long ago")
        const shared = yield* say(pam, open.id, "a zebra for everybody, and may it live long")
        const found = (who: Someone, query: object = {}) =>
          Effect.map(
            ask(() => who.client.messages.search({ q: "ZEBRA", limit: 3, ...query })),
            (page) => page.items.map((one) => one.id),
          )
        assert.deepStrictEqual(yield* found(jim), [shared.id, mine.id])
        assert.deepStrictEqual(yield* found(jim, { space: his.name }), [mine.id])
        assert.strictEqual((yield* found(pam)).length, 3)
        assert.isFalse((yield* found(pam, { limit: 100 })).includes(mine.id))
        for (const q of ['"', "*", "a AND", "zebra OR 1", "'); DROP TABLE messages", "((("])
          assert.strictEqual((yield* call(jim, "GET", `/messages?q=${encodeURIComponent(q)}`)).status, 200, q)
        assert.strictEqual((yield* call(jim, "GET", "/messages?q=")).status, 400)
      }),
    )

    it.effect("what stands in quotes must be there word for word, also if it is only words that say nothing", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const space = yield* room(pam, [])
        const [first, , last] = [
          yield* say(pam, space.id, "To be, or not to be"),
          yield* say(pam, space.id, "be to or be not"),
          yield* say(pam, space.id, "what is not to be forgotten"),
        ]
        const found = (q: string) =>
          Effect.map(
            ask(() => pam.client.messages.search({ q, space: space.id })),
            ({ items }) => items.map(({ id }) => id),
          )
        assert.deepStrictEqual(yield* found('"not to be"'), [last.id, first.id])
        assert.deepStrictEqual(yield* found('"or not" "to be"'), [first.id])
        assert.deepStrictEqual(yield* found('"to be forgotten"'), [last.id])
        assert.deepStrictEqual(yield* found('"be forgotten to"'), [])
        assert.deepStrictEqual(yield* found("not to be"), [])
      }),
    )
  })
