/** Streams of spaces: who is in it sees it, from the moment they come to the moment they go, live and in the past. */
import { assert, layer } from "@effect/vitest"
import type { PrincipalId } from "@stoa/contract"
import { Effect, Queue } from "effect"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Deltas } from "../../src/store/journal/signals/Deltas.ts"
import { ask, Guest, house } from "../house.ts"
import { call, fresh, type Frame, listen, type Someone, someone } from "./spacesGuests.ts"

const end = Effect.flatMap(Journal, (journal) => journal.end)
const say = (who: Someone, space: string, text: string) => ask(() => who.client.spaces.post(space, { text }))

/** What a frame says, short: its name and the text, or whom it is about. */
const short = ({ data, event }: Frame): string => {
  const body = (data?.["body"] ?? {}) as {
    message?: { text?: string } | string
    principal?: string
    emoji?: string
    name?: string
  }
  const text = typeof body.message === "object" ? body.message.text : undefined
  return [event, text ?? body.emoji ?? body.name].filter((one) => one !== undefined).join(" ")
}
type Stream = Effect.Success<ReturnType<typeof listen>>
const take = (stream: Stream, count: number) =>
  Effect.map(Effect.all(Array.from({ length: count }, () => stream.next)), (frames) => frames.map(short))
/** Everything up to a mark that its reader surely sees: what is not before it was not sent. */
const upTo = Effect.fnUntraced(function* (stream: Stream, mark: string) {
  const seen: Array<string> = []
  for (;;) {
    const found = short(yield* stream.next)
    if (found.endsWith(mark)) return seen
    seen.push(found)
  }
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`streams of spaces on ${store}`, (it) => {
    const opened = Effect.fnUntraced(function* (
      kind: "public" | "private" | "dm",
      others: ReadonlyArray<Someone> = [],
    ) {
      const pam = yield* someone()
      const members = others.map((one) => one.id)
      const space = yield* ask(() => pam.client.spaces.add({ name: fresh(kind), kind, members }))
      return { pam, space }
    })
    /** A public space: what is said there is a mark that everybody sees. */
    const square = Effect.gen(function* () {
      const { pam, space } = yield* opened("public")
      return (mark: string) => say(pam, space.id, mark)
    })

    it.effect(
      "S0-11 S0-12 S0-23 S0-70 a space's stream carries its own events, and what it shows can be read at once",
      () =>
        Effect.gen(function* () {
          const jim = yield* someone("agent")
          const { pam, space } = yield* opened("private", [jim])
          const other = yield* ask(() =>
            pam.client.spaces.add({ name: fresh("other"), kind: "private", members: [jim.id] }),
          )
          const stream = yield* listen(jim, { path: `/spaces/${space.name}/events` })
          yield* say(pam, other.id, "elsewhere")
          const said = yield* say(pam, space.id, "hello")
          const first = yield* stream.next
          const data = first.data as unknown as { body: { message: unknown; addressees: unknown }; cursor: number }
          assert.deepStrictEqual([first.event, first.id], ["message.created", data.cursor])
          assert.deepStrictEqual<unknown>(data.body, { message: said, addressees: [jim.id] })
          assert.deepStrictEqual(yield* ask(() => jim.client.messages.get(said.id)), said)
          yield* ask(() => pam.client.messages.edit(said.id, { text: "hello!" }))
          yield* ask(() => jim.client.messages.react(said.id, "👍"))
          yield* ask(() => jim.client.messages.unreact(said.id, "👍"))
          yield* ask(() => pam.client.messages.pin(said.id))
          yield* ask(() => pam.client.messages.remove(said.id))
          assert.deepStrictEqual(yield* take(stream, 5), [
            "message.edited hello!",
            "reaction.added 👍",
            "reaction.removed 👍",
            "message.pinned",
            "message.deleted",
          ])
        }).pipe(Effect.scoped),
    )

    it.effect("S0-70 X-45 the office's names: each of its events once, under its own name", () =>
      Effect.gen(function* () {
        const jim = yield* someone("agent")
        const { pam, space } = yield* opened("private", [jim])
        for (const path of [`/spaces/${space.id}/events?names=office`, "/events?names=office"]) {
          const stream = yield* listen(pam, { path })
          const said = yield* say(jim, space.id, "hello")
          yield* ask(() => jim.client.messages.edit(said.id, { text: "bye" }))
          yield* ask(() => jim.client.messages.react(said.id, "👍"))
          yield* ask(() => jim.client.messages.unreact(said.id, "👍"))
          yield* ask(() => jim.client.messages.remove(said.id))
          assert.deepStrictEqual(yield* take(stream, 5), [
            "message_created hello",
            "message_updated bye",
            "reaction_added 👍",
            "reaction_removed 👍",
            "message_deleted",
          ])
          assert.strictEqual((yield* call(jim, "POST", `/spaces/${space.id}/typing`)).status, 204)
          const typing = yield* stream.next
          assert.deepStrictEqual([typing.event, typing.id, typing.data!["actor"]], ["agent_typing", undefined, jim.id])
        }
        const gateway = yield* listen(pam, { path: `/spaces/${space.id}/events?names=gateway` })
        yield* say(jim, space.id, "hello")
        assert.deepStrictEqual(yield* take(gateway, 1), ["smartSpace.message hello"])
        assert.strictEqual((yield* listen(pam, { path: "/events?names=nobody" })).status, 400)
      }).pipe(Effect.scoped),
    )

    it.effect("X-14 S0-71 typing is shown to those who may see it, without an id, and is not replayed", () =>
      Effect.gen(function* () {
        const [jim, toby] = [yield* someone("agent"), yield* someone()]
        const { pam, space } = yield* opened("private", [jim])
        const mark = yield* square
        const [hers, his] = [yield* listen(pam), yield* listen(toby)]
        // Both have joined once they have heard of this.
        yield* mark("ready")
        yield* upTo(hers, "ready")
        yield* upTo(his, "ready")
        const from = yield* end
        assert.strictEqual((yield* call(jim, "POST", `/spaces/${space.name}/typing`)).status, 204)
        assert.strictEqual((yield* call(toby, "POST", `/spaces/${space.name}/typing`)).status, 404)
        yield* mark("after")
        assert.deepStrictEqual(yield* upTo(hers, "after"), [`typing ${jim.name}`])
        assert.deepStrictEqual(yield* upTo(his, "after"), [])
        const again = yield* listen(pam, { after: from })
        assert.deepStrictEqual(yield* upTo(again, "after"), [])
      }).pipe(Effect.scoped),
    )

    it.effect("X-14 the room asks who types, whichever door calls it, and shows nothing of those it refuses", () =>
      Effect.gen(function* () {
        const [jim, toby] = [yield* someone("agent"), yield* someone("agent")]
        const { admin } = yield* Guest
        const { space } = yield* opened("private", [jim, toby])
        const rule = { resource: `spaces/${space.name}`, actions: ["write"], effect: "deny" } as const
        yield* ask(() => admin.grants.add({ principal: toby.id, ...rule }))
        const [grants, spaces] = [yield* Grants, yield* Spaces]
        const shown: Array<unknown> = []
        yield* (yield* Deltas).listen(({ actor, kind, space }) => void shown.push([kind, actor, space]))
        const type = Effect.fnUntraced(function* ({ id }: Someone) {
          const viewer = yield* grants.viewerNow(id as PrincipalId, "agent", "spaces")
          yield* spaces.typing(yield* spaces.get(space.id, viewer), viewer)
        })
        const no = yield* Effect.flip(type(toby))
        assert.deepInclude(no, { _tag: "Forbidden", action: "type in" })
        yield* type(jim)
        assert.deepStrictEqual(shown, [["typing", jim.id, space.id]])
      }).pipe(Effect.scoped),
    )

    it.effect("S0-71 G-09 coming and going in mid-stream: nothing before, all within, nothing after", () =>
      Effect.gen(function* () {
        const toby = yield* someone()
        const { pam, space } = yield* opened("private", [])
        const mark = yield* square
        const stream = yield* listen(toby)
        yield* say(pam, space.id, "before")
        yield* ask(() => pam.client.spaces.addMember(space.id, toby.id))
        yield* say(pam, space.id, "within")
        const watching = yield* listen(toby, { path: `/spaces/${space.id}/events` })
        yield* say(pam, space.id, "within too")
        yield* ask(() => pam.client.spaces.removeMember(space.id, toby.id))
        yield* say(pam, space.id, "after")
        yield* ask(() => pam.client.spaces.addMember(space.id, toby.id))
        yield* say(pam, space.id, "back")
        yield* mark("done")
        assert.deepStrictEqual(yield* upTo(stream, "done"), [
          "member.added",
          "message.created within",
          "message.created within too",
          "member.removed",
          "member.added",
          "message.created back",
        ])
        assert.deepStrictEqual(yield* upTo(watching, "back"), [
          "message.created within too",
          "member.removed",
          "member.added",
        ])
      }).pipe(Effect.scoped),
    )

    it.effect(
      "S0-71 S1-75 the past is filtered by who one is now: shut out, one sees no more of it, not even one's own words",
      () =>
        Effect.gen(function* () {
          const toby = yield* someone()
          const { pam, space } = yield* opened("private", [toby])
          const mark = yield* square
          const from = yield* end
          yield* say(pam, space.id, "hers")
          yield* say(toby, space.id, "his")
          yield* mark("one")
          const during = yield* listen(toby, { after: from })
          assert.deepStrictEqual(yield* upTo(during, "one"), ["message.created hers", "message.created his"])
          yield* ask(() => pam.client.spaces.removeMember(space.id, toby.id))
          yield* say(pam, space.id, "later")
          yield* mark("two")
          const past = yield* listen(toby, { after: from })
          yield* upTo(past, "one")
          assert.deepStrictEqual(yield* upTo(past, "two"), ["member.removed"])
          assert.strictEqual((yield* listen(toby, { path: `/spaces/${space.id}/events` })).status, 404)
          assert.strictEqual((yield* listen(toby, { path: "/spaces/nowhere/events" })).status, 404)
          const fresh = yield* listen(toby, { after: from })
          assert.deepStrictEqual(yield* upTo(fresh, "one"), [])
          // Let in again, one may read all of it, and so the past shows it.
          yield* ask(() => pam.client.spaces.addMember(space.id, toby.id))
          const again = yield* listen(toby, { after: from })
          assert.deepStrictEqual(yield* upTo(again, "one"), ["message.created hers", "message.created his"])
        }).pipe(Effect.scoped),
    )

    it.effect(
      "S0-71 public is for everybody in the house, also after leaving; dm and private for their members alone",
      () =>
        Effect.gen(function* () {
          const { adminToken } = yield* Guest
          const [jim, toby] = [yield* someone("agent"), yield* someone()]
          const [his, all] = [yield* listen(toby), yield* listen({ token: adminToken })]
          const open = yield* opened("public", [toby])
          const dm = yield* opened("dm", [jim])
          const team = yield* opened("private", [jim])
          yield* say(dm.pam, dm.space.id, "dm")
          yield* say(jim, team.space.id, "private")
          yield* say(jim, open.space.id, "public")
          yield* ask(() => toby.client.spaces.removeMember(open.space.id, toby.id))
          yield* ask(() => open.pam.client.spaces.change(open.space.id, { topic: "new" }))
          yield* say(jim, open.space.id, "end")
          assert.deepStrictEqual(yield* upTo(his, "end"), [
            `space.added ${open.space.name}`,
            "message.created public",
            "member.removed",
            "space.changed",
          ])
          const seen = yield* upTo(all, "end")
          for (const text of ["dm", "private", "public"]) assert.include(seen, `message.created ${text}`)
        }).pipe(Effect.scoped),
    )

    it.effect("S1-75 G-09 a space's stream goes on where it broke, without gap or repeat", () =>
      Effect.gen(function* () {
        const { pam, space } = yield* opened("private")
        const from = yield* end
        const writing = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 40 }, (_, n) => n + 1),
            (n) => say(pam, space.id, `${n}`),
          ),
        )
        const seen: Array<number> = []
        let after = from
        while (seen.length < 40)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const stream = yield* listen(pam, { after, path: `/spaces/${space.id}/events` })
              for (let n = 0; n < 6 && seen.length < 40; n++) {
                const frame = yield* stream.next
                after = frame.id!
                seen.push((frame.data as unknown as { body: { message: { seq: number } } }).body.message.seq)
              }
            }),
          )
        assert.deepStrictEqual(
          seen,
          Array.from({ length: 40 }, (_, n) => n + 1),
        )
        assert.strictEqual(writing.pollUnsafe() === undefined, false)
      }),
    )

    it.effect("where somebody has read to is shown to nobody else", () =>
      Effect.gen(function* () {
        const jim = yield* someone("agent")
        const { pam, space } = yield* opened("private", [jim])
        yield* say(pam, space.id, "read me")
        const [hers, his] = [yield* listen(pam), yield* listen(jim)]
        yield* ask(() => jim.client.spaces.read(space.id, { seq: 1 }))
        yield* say(pam, space.id, "end")
        assert.deepStrictEqual(yield* upTo(his, "end"), ["space.read"])
        assert.deepStrictEqual(yield* upTo(hers, "end"), [])
        assert.strictEqual(Queue.sizeUnsafe(hers.frames), 0)
      }).pipe(Effect.scoped),
    )
  })
