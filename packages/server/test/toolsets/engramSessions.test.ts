/** Chat sessions: Hecate's tools and the HTTP face on one mechanism, which Moros has too; and what lasts of them. */
import { assert, layer } from "@effect/vitest"
import type { PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { Memories } from "../../src/memory/Memories.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"
import { content, holder, type Holder, type Result } from "./engramKit.ts"

const begin = (who: Holder) => who.done("hecate_new_session", { wallet_address: who.wallet })
const list = (who: Holder, over: object = {}) =>
  who.done("hecate_list_sessions", { wallet_address: who.wallet, ...over })
const resume = (who: Holder, session: string, address = who.wallet) =>
  who.done("hecate_resume_session", { wallet_address: address, session_id: session })
const say = (who: Holder, session: string, text: string) => ask(() => who.stoa.chatSessions.post(session, { text }))
const statusOf = (error: unknown) => (error as { readonly status?: number }).status
const ids = (found: { sessions: ReadonlyArray<{ session_id: string }> }) =>
  found.sessions.map(({ session_id }) => session_id)

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`chat sessions on ${store}`, (it) => {
    it.effect("S2-39 S2-40 S2-43 X-62 a new session is a record that names a private space; the old one stays", () =>
      Effect.gen(function* () {
        const who = yield* holder("begins")
        const first = yield* begin(who)
        assert.sameMembers(Object.keys(first), [
          "success",
          "session_id",
          "engram_id",
          "title",
          "message_count",
          "created_at",
          "updated_at",
          "is_pinned",
        ])
        assert.deepStrictEqual([first.title, first.message_count, first.is_pinned], ["New conversation", 0, false])
        yield* say(who, first.session_id, "hello there")
        const second = yield* begin(who)
        assert.notStrictEqual(second.session_id, first.session_id)
        const current = yield* ask(() => who.stoa.chatSessions.get(second.session_id))
        assert.deepStrictEqual([current.current, current.messageCount], [true, 0])
        assert.deepStrictEqual((yield* resume(who, second.session_id)).session.messages, [])
        const { count, sessions } = yield* list(who)
        assert.strictEqual(count, 2)
        for (const one of sessions)
          assert.sameMembers(Object.keys(one), [
            "session_id",
            "engram_id",
            "title",
            "message_count",
            "created_at",
            "updated_at",
            "is_pinned",
          ])
        // Each says when it began, and when something was said in it last.
        for (const one of sessions) {
          const { createdAt, title, updatedAt } = yield* ask(() => who.stoa.chatSessions.get(one.session_id))
          assert.deepInclude(one, { title, created_at: createdAt, updated_at: updatedAt })
        }
        const spoken = sessions.find(({ session_id }) => session_id === first.session_id)!
        assert.deepInclude(spoken, { title: "hello there", message_count: 1, engram_id: first.engram_id })
        assert.isTrue(Date.parse(spoken.updated_at) > Date.parse(spoken.created_at))
        const record = yield* ask(() => who.stoa.memory.get(first.engram_id.replace("eng_", "mem_")))
        assert.deepStrictEqual(
          [record.namespace, record.kind, record.key, record.tags, record.public],
          [
            "engrams",
            "conversation",
            `chat.session.${first.session_id.slice(4)}`,
            ["chat", "session", "hecate"],
            false,
          ],
        )
        const held = JSON.parse(record.content)
        assert.deepInclude(held, { session_id: first.session_id, title: "hello there", message_count: 1 })
        const space = yield* ask(() => who.stoa.spaces.get(held.space))
        assert.deepStrictEqual([space.kind, space.members.map(({ id }) => id)], ["private", [who.id]])
      }),
    )

    it.effect("S2-41 the title is the beginning of what was said first: 50 whole characters of 60 emoji", () =>
      Effect.gen(function* () {
        const who = yield* holder("titled")
        const titleAfter = Effect.fnUntraced(function* (...texts: ReadonlyArray<string>) {
          const { session_id: id } = yield* begin(who)
          for (const text of texts) yield* say(who, id, text)
          return (yield* ask(() => who.stoa.chatSessions.get(id))).title
        })
        assert.strictEqual(yield* titleAfter(), "New conversation")
        assert.strictEqual(yield* titleAfter("😀".repeat(60)), "😀".repeat(50))
        assert.strictEqual(yield* titleAfter("👩‍👩‍👧‍👦".repeat(60)), "👩‍👩‍👧‍👦".repeat(50))
        assert.strictEqual(yield* titleAfter("é".repeat(60), "second"), "é".repeat(50))
        assert.strictEqual(yield* titleAfter(" two\nlines ", "second"), "two lines")
        const given = yield* ask(() => who.stoa.chatSessions.add({ agent: "hecate", title: "Mine" }))
        yield* say(who, given.id, "not a title")
        assert.strictEqual((yield* ask(() => who.stoa.chatSessions.get(given.id))).title, "Mine")
      }),
    )

    it.effect("S2-42 the last used first, 20 unless asked: sorted before it is cut", () =>
      Effect.gen(function* () {
        const who = yield* holder("many")
        const made: Array<string> = []
        for (let at = 0; at < 25; at++) made.push((yield* begin(who)).session_id)
        assert.deepStrictEqual(ids(yield* list(who)), made.toReversed().slice(0, 20))
        yield* say(who, made[0]!, "touched")
        const after = yield* list(who, { limit: 3 })
        assert.deepStrictEqual(ids(after), [made[0]!, made[24]!, made[23]!])
        assert.strictEqual(after.sessions[0]?.message_count, 1)
        assert.lengthOf(ids(yield* list(who, { limit: 100 })), 25)
        for (const limit of [0, -1, 1e9])
          assert.include(yield* who.told("hecate_list_sessions", { wallet_address: who.wallet, limit }), "limit")
      }),
    )

    it.effect("S2-44 S2-45 S2-28 resume and delete: one's own only, by an id that is there; a pinned one is kept", () =>
      Effect.gen(function* () {
        const [who, other] = [yield* holder("resumes"), yield* holder("stranger")]
        const { engram_id: engram, session_id: id } = yield* begin(who)
        yield* say(who, id, "one")
        yield* say(who, id, "two")
        yield* begin(who)
        const back = yield* resume(who, id)
        assert.deepStrictEqual(
          back.session.messages.map((one) => [one.role, one.content]),
          [
            ["user", "one"],
            ["user", "two"],
          ],
        )
        assert.strictEqual(back.engram_id, engram)
        assert.isTrue((yield* ask(() => who.stoa.chatSessions.get(id))).current)
        assert.strictEqual((yield* resume(who, id.slice(4))).session.session_id, id)
        const nowhere = "ses_00000000-0000-7000-8000-000000000000"
        for (const tool of ["hecate_resume_session", "hecate_delete_session"]) {
          assert.include(yield* who.told(tool, { wallet_address: who.wallet, session_id: nowhere }), nowhere)
          // Under its own wallet another's session is not there; under the other's wallet it may do nothing.
          assert.strictEqual(
            yield* other.told(tool, { wallet_address: other.wallet, session_id: id }),
            (yield* other.told(tool, { wallet_address: other.wallet, session_id: nowhere })).replace(nowhere, id),
          )
          assert.include(yield* other.told(tool, { wallet_address: who.wallet, session_id: id }), "wallet")
        }
        assert.strictEqual((yield* other.done("hecate_list_sessions", { wallet_address: who.wallet })).count, 0)
        yield* who.done("hecate_pin_engram", { id: engram })
        assert.isTrue((yield* list(who)).sessions.find((one) => one.session_id === id)?.is_pinned)
        const remove = { wallet_address: who.wallet, session_id: id }
        assert.include(yield* who.told("hecate_delete_session", remove), "pinned")
        yield* who.done("hecate_unpin_engram", { id: engram })
        const { messages } = (yield* resume(who, id)).session
        assert.lengthOf(messages, 2)
        const gone = yield* who.done("hecate_delete_session", remove)
        assert.deepStrictEqual([gone.deleted, gone.session_id], [true, id])
        // It was the current one: now there is none, and what was said is gone too.
        const { items } = yield* ask(() => who.stoa.chatSessions.list({ agent: "hecate" }))
        assert.deepStrictEqual(
          items.map(({ current }) => current),
          [false],
        )
        const said = yield* ask(() => who.stoa.messages.get(messages[0]!.id))
        assert.deepStrictEqual([said.text, said.deletedAt === null], ["", false])
        assert.strictEqual(statusOf(yield* Effect.flip(ask(() => who.stoa.chatSessions.get(id)))), 404)
      }),
    )

    it.effect(
      "S2-49 S2-50 S2-51 S2-52 cleanup leaves five of the unpinned and every pinned one, and touches nothing else",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("cleans")
          const made: Array<Result> = []
          for (let at = 0; at < 10; at++) {
            made.push(yield* begin(who))
            yield* say(who, made[at]!.session_id, `said ${at}`)
          }
          yield* who.done("engram_create", {
            wallet_address: who.wallet,
            engram_type: "knowledge",
            key: "kept",
            content: content(1),
          })
          yield* who.done("hecate_remember", { wallet_address: who.wallet, key: "kept.too", content: "x" })
          // Two old ones are pinned: 8 others, of which five stay.
          for (const at of [0, 1]) yield* who.done("hecate_pin_engram", { id: made[at]!.engram_id })
          const done = yield* who.done("hecate_cleanup", { wallet_address: who.wallet })
          assert.deepInclude(done, { deleted: 3, retained: 5, pinned: 2 })
          assert.sameMembers(
            ids(yield* list(who)),
            [0, 1, 5, 6, 7, 8, 9].map((at) => made[at]!.session_id),
          )
          assert.strictEqual((yield* who.done("engram_search", { wallet_address: who.wallet })).count, 2)
          // A pinned recent one is no part of the five.
          yield* who.done("hecate_pin_engram", { id: made[9]!.engram_id })
          const again = yield* who.done("hecate_cleanup", { wallet_address: who.wallet })
          assert.deepInclude(again, { deleted: 0, retained: 4, pinned: 3 })
        }),
    )

    it.effect(
      "S2-50 cleanup looks beyond a hundred",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("hoards")
          yield* ask(() =>
            Promise.all(Array.from({ length: 108 }, () => who.stoa.chatSessions.add({ agent: "hecate" }))),
          )
          const done = yield* who.done("hecate_cleanup", { wallet_address: who.wallet })
          assert.deepInclude(done, { deleted: 103, retained: 5, pinned: 0 })
          assert.strictEqual((yield* list(who, { limit: 100 })).count, 5)
        }),
      { timeout: 120_000 },
    )

    it.effect(
      "S2-59 S2-60 X-61 Moros has no session tools, its sessions are begun over HTTP; it cleans up its own alone",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("both")
          const hecates: Array<string> = []
          for (let at = 0; at < 7; at++) hecates.push((yield* begin(who)).session_id)
          const nothing = yield* who.done("moros_cleanup", { wallet_address: who.wallet })
          assert.deepInclude(nothing, { deleted: 0, retained: 0, pinned: 0 })
          const moroses: Array<string> = []
          for (let at = 0; at < 7; at++)
            moroses.push((yield* ask(() => who.stoa.chatSessions.add({ agent: "moros" }))).id)
          assert.sameMembers(ids(yield* list(who)), hecates)
          const done = yield* who.done("moros_cleanup", { wallet_address: who.wallet })
          assert.deepInclude(done, { deleted: 2, retained: 5, pinned: 0 })
          assert.sameMembers(ids(yield* list(who)), hecates)
          const { items } = yield* ask(() => who.stoa.chatSessions.list({ agent: "moros" }))
          assert.deepStrictEqual(
            items.map(({ id }) => id),
            moroses.toReversed().slice(0, 5),
          )
          assert.include(
            yield* who.told("hecate_resume_session", { wallet_address: who.wallet, session_id: moroses[6] }),
            moroses[6]!,
          )
          assert.lengthOf(
            [...(yield* who.names)].filter((name) => /moros_.*session/.test(name)),
            0,
          )
        }),
    )

    it.effect("X-37 X-62 over HTTP: begun, filled by both, read, renamed, deleted; with an agent that is there", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const who = yield* holder("talks", { kind: "person", context: "agent" })
        const bot = yield* holder("Sibyl", { context: "agent" })
        const made = yield* ask(() => who.stoa.chatSessions.add({ agent: "sibyl" }))
        assert.deepStrictEqual([made.agent, made.owner, made.messageCount], ["Sibyl", who.id, 0])
        assert.match(made.id, /^ses_/)
        const first = yield* say(who, made.id, "what will be?")
        const second = yield* say(bot, made.id, "rain")
        assert.deepStrictEqual([first.seq, second.seq, second.space], [1, 2, made.space])
        const { items } = yield* ask(() => who.stoa.chatSessions.messages(made.id, {}))
        assert.deepStrictEqual(
          items.map(({ author, text }) => [author.name, text]),
          [
            ["talks", "what will be?"],
            ["Sibyl", "rain"],
          ],
        )
        const read = yield* ask(() => bot.stoa.chatSessions.get(made.id))
        assert.deepStrictEqual([read.title, read.messageCount], ["what will be?", 2])
        // The agent takes part; the session is its owner's.
        assert.strictEqual(
          statusOf(yield* Effect.flip(ask(() => bot.stoa.chatSessions.change(made.id, { title: "x" })))),
          403,
        )
        assert.strictEqual(statusOf(yield* Effect.flip(ask(() => bot.stoa.chatSessions.remove(made.id)))), 403)
        assert.lengthOf((yield* ask(() => bot.stoa.chatSessions.list({}))).items, 0)
        const renamed = yield* ask(() => who.stoa.chatSessions.change(made.id, { title: "Weather", pinned: true }))
        assert.deepStrictEqual([renamed.title, renamed.pinned, renamed.messageCount], ["Weather", true, 2])
        assert.strictEqual(statusOf(yield* Effect.flip(ask(() => who.stoa.chatSessions.remove(made.id)))), 409)
        const stranger = yield* holder("nosy", { context: "agent" })
        for (const attempt of [
          () => stranger.stoa.chatSessions.get(made.id),
          () => stranger.stoa.chatSessions.messages(made.id, {}),
          () => stranger.stoa.chatSessions.post(made.id, { text: "x" }),
          () => stranger.stoa.chatSessions.change(made.id, { title: "x" }),
          () => stranger.stoa.chatSessions.remove(made.id),
        ])
          assert.strictEqual(statusOf(yield* Effect.flip(ask(attempt as () => Promise<unknown>))), 404)
        yield* ask(() => who.stoa.chatSessions.change(made.id, { pinned: false }))
        yield* ask(() => who.stoa.chatSessions.remove(made.id))
        assert.strictEqual(statusOf(yield* Effect.flip(ask(() => who.stoa.chatSessions.get(made.id)))), 404)
        for (const [agent, status] of [
          ["nobody here", 404],
          ["talks", 400],
        ] as const)
          assert.strictEqual(statusOf(yield* Effect.flip(ask(() => who.stoa.chatSessions.add({ agent })))), status)
        assert.isDefined(admin)
      }),
    )

    it.effect("X-62 a record that somebody wrote by hand opens no door to another's session", () =>
      Effect.gen(function* () {
        const [who, thief] = [yield* holder("robbed"), yield* holder("thief")]
        const { session_id: id } = yield* begin(who)
        yield* say(who, id, "mine alone")
        const record = (yield* ask(() => who.stoa.memory.list({ namespace: "engrams", kind: "conversation" })))
          .items[0]!
        const byHand = {
          namespace: "engrams",
          kind: "conversation",
          key: record.key,
          content: record.content,
          tags: [...record.tags],
        } as const
        assert.strictEqual(statusOf(yield* Effect.flip(ask(() => thief.stoa.memory.put(byHand)))), 409)
        // One from before that was refused opens nothing either.
        const memories = yield* Memories
        const { transact } = yield* Journal
        const owner = thief.id as PrincipalId
        yield* transact(memories.put({ id: owner, room: "sessions" }, owner, byHand))
        assert.include(yield* thief.told("hecate_resume_session", { wallet_address: thief.wallet, session_id: id }), id)
        assert.strictEqual(statusOf(yield* Effect.flip(ask(() => thief.stoa.chatSessions.messages(id, {})))), 404)
        yield* thief.told("hecate_delete_session", { wallet_address: thief.wallet, session_id: id })
        assert.lengthOf((yield* resume(who, id)).session.messages, 1)
      }),
    )

    it.effect("S2-42 X-62 a session is listed as long as its owner may see its space, and then again", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const who = yield* holder("sees")
        const sessions: Array<string> = []
        for (let n = 0; n < 4; n++) sessions.push((yield* begin(who)).session_id)
        const space = (at: number) => `spc_${sessions[at]!.slice(4)}`
        const listed = Effect.fnUntraced(function* (...seen: ReadonlyArray<number>) {
          const wanted = seen.map((at) => sessions[at]!)
          const { sessions: told } = yield* list(who)
          assert.sameMembers(
            told.map(({ session_id }) => session_id),
            wanted,
          )
          // The same over HTTP, page by page: nothing is left out, and no page is empty.
          const paged: Array<string> = []
          let cursor: string | undefined
          do {
            const given = cursor
            const { items, next } = yield* ask(() =>
              who.stoa.chatSessions.list({ limit: 1, ...(given === undefined ? {} : { cursor: given }) }),
            )
            assert.lengthOf(items, 1)
            paged.push(...items.map(({ id }) => id))
            cursor = next ?? undefined
          } while (cursor !== undefined)
          assert.sameMembers(paged, wanted)
        })
        yield* listed(0, 1, 2, 3)
        const denied = (yield* ask(() =>
          admin.grants.add({ principal: who.name, resource: `spaces/${space(1)}`, actions: ["read"], effect: "deny" }),
        )) as { readonly id: string }
        yield* ask(() => admin.spaces.removeMember(space(3), who.name))
        yield* listed(0, 2)
        // What the list leaves out cannot be read either.
        for (const [at, status] of [
          [1, 403],
          [3, 404],
        ] as const)
          assert.strictEqual(statusOf(yield* Effect.flip(ask(() => who.stoa.chatSessions.get(sessions[at]!)))), status)
        yield* ask(() => admin.grants.revoke(denied.id))
        yield* listed(0, 1, 2)
        // An archived space can still be read.
        yield* ask(() => who.stoa.spaces.change(space(2), { archived: true }))
        yield* listed(0, 1, 2)
      }),
    )

    it.effect("a wallet that was lent for writing alone resumes no session, and shows nothing of one", () =>
      Effect.gen(function* () {
        const [who, helper] = [yield* holder("lender"), yield* holder("writer")]
        const { session_id: id } = yield* begin(who)
        yield* say(who, id, "mine alone")
        const lend = (action: "read" | "write") =>
          ask(() =>
            who.stoa.delegations.add({
              to: "writer",
              resource: `wallets/${who.wallet}`,
              actions: [action],
              reason: "help",
            }),
          )
        const input = { wallet_address: who.wallet, session_id: id }
        yield* lend("write")
        const refused = yield* helper.told("hecate_resume_session", input)
        assert.include(refused, `wallets/${who.wallet}`)
        assert.notInclude(refused, "mine alone")
        yield* helper.done("hecate_new_session", { wallet_address: who.wallet })
        yield* lend("read")
        const { session } = (yield* helper.done("hecate_resume_session", input)) as {
          readonly session: { readonly messages: ReadonlyArray<{ readonly content: string }> }
        }
        assert.deepStrictEqual(
          session.messages.map(({ content }) => content),
          ["mine alone"],
        )
      }),
    )

    it.effect("S2-40 a session is changed by what made it, not as an engram", () =>
      Effect.gen(function* () {
        const who = yield* holder("keeps")
        const { engram_id: id } = yield* begin(who)
        for (const [tool, args] of [
          ["engram_update", { id, content: "1" }],
          ["engram_delete", { id }],
        ] as const)
          assert.include(yield* who.told(tool, args), "chat session")
        assert.strictEqual((yield* list(who)).count, 1)
        assert.strictEqual((yield* who.done("engram_search", { wallet_address: who.wallet })).count, 0)
      }),
    )
  })
