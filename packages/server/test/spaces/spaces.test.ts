/** Spaces and who is in them, through the door, on both databases. */
import { assert, layer } from "@effect/vitest"
import type { PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { call, fresh, refused, someone, statusOf } from "./spacesGuests.ts"

const eventsSince = Effect.fnUntraced(function* (from: number) {
  return yield* (yield* Journal).read({ after: from, limit: 500 })
})
const end = Effect.flatMap(Journal, (journal) => journal.end)

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`spaces on ${store}`, (it) => {
    it.effect("a space is opened with the law's shape, and whoever opens it is its owner", () =>
      Effect.gen(function* () {
        const [pam, jim] = [yield* someone(), yield* someone("agent")]
        const name = fresh("office")
        const made = yield* call(pam, "POST", "/spaces", { name, kind: "private", members: [jim.name], topic: "paper" })
        assert.strictEqual(made.status, 201)
        const { createdAt, id, ...rest } = made.body as Record<string, string>
        assert.match(id!, /^spc_[0-9a-f-]{36}$/)
        assert.match(createdAt!, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
        assert.deepStrictEqual<unknown>(rest, {
          name,
          kind: "private",
          trigger: "mention",
          topic: "paper",
          members: [
            { id: jim.id, name: jim.name, kind: "agent", role: "member" },
            { id: pam.id, name: pam.name, kind: "person", role: "owner" },
          ],
          archivedAt: null,
          lastSeq: 0,
          unread: 0,
        })
        // By id and by name, whatever the case.
        for (const ref of [id!, name, name.toUpperCase()])
          assert.strictEqual((yield* ask(() => jim.client.spaces.get(ref))).id, id)
      }),
    )

    it.effect("S0-09 S0-54 X-03 each kind, with its usual trigger, and one that was chosen", () =>
      Effect.gen(function* () {
        const [pam, jim] = [yield* someone(), yield* someone("agent")]
        const opened = (kind: "public" | "private" | "dm" | "team", more: object = {}) =>
          ask(() => pam.client.spaces.add({ name: fresh(kind), kind, members: [jim.id], ...more }))
        assert.strictEqual((yield* opened("public")).trigger, "mention")
        assert.strictEqual((yield* opened("private")).trigger, "mention")
        assert.strictEqual((yield* opened("dm")).trigger, "dm")
        assert.strictEqual((yield* opened("team")).trigger, "team-edge")
        const topical = yield* opened("public", { trigger: "human-all", topic: "What we sell" })
        assert.strictEqual(topical.trigger, "human-all")
        assert.strictEqual((yield* ask(() => jim.client.spaces.get(topical.id))).topic, "What we sell")
        const spaces = (yield* ask(() => jim.client.spaces.list())).items.filter((one) => one.members.length === 2)
        assert.deepStrictEqual(spaces.map((one) => one.kind).toSorted(), ["dm", "private", "public", "public", "team"])
        for (const space of spaces)
          assert.strictEqual((yield* ask(() => jim.client.spaces.post(space.name, { text: "here" }))).seq, 1)
      }),
    )

    it.effect("names are short, plain, unique whatever their case, and never look like an id", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const name = fresh("Stübe.小-1_")
        const space = yield* ask(() => pam.client.spaces.add({ name, kind: "public" }))
        const again = yield* refused(() => pam.client.spaces.add({ name: name.toUpperCase(), kind: "private" }))
        assert.deepStrictEqual([again.status, again.tag], [409, "NameTaken"])
        for (const bad of [
          "",
          " ",
          "a b",
          "-a",
          "a/b",
          "a".repeat(64),
          "a\n",
          "@a",
          space.id,
          space.id.toUpperCase(),
        ]) {
          const wrong = yield* refused(() => pam.client.spaces.add({ name: bad, kind: "public" }))
          assert.deepStrictEqual([wrong.status, wrong.issues[0]?.path], [400, "name"], JSON.stringify(bad))
        }
        const topic = yield* refused(() => pam.client.spaces.add({ name: fresh("t"), kind: "public", topic: "a\0b" }))
        assert.strictEqual(topic.status, 400)
        const nobody = yield* refused(() =>
          pam.client.spaces.add({ name: fresh("t"), kind: "public", members: ["Nobody"] }),
        )
        assert.deepStrictEqual([nobody.status, nobody.tag], [404, "Missing"])
        // Refused means that nothing was made.
        assert.strictEqual(yield* statusOf(() => pam.client.spaces.get(`t-${Number(fresh("t").slice(2)) - 1}`)), 404)
      }),
    )

    it.effect("S0-54 a dm has exactly two members, is theirs alone, and there is one a pair", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const [pam, jim, toby] = [yield* someone(), yield* someone("agent"), yield* someone()]
        const dm = (members: ReadonlyArray<string>, client = pam.client) =>
          client.spaces.add({ name: fresh("dm"), kind: "dm", members })
        for (const members of [[], [pam.name], [jim.id, toby.id, pam.id], [jim.id, jim.id]])
          assert.deepStrictEqual((yield* refused(() => dm(members))).issues[0]!.path, "members", members.join())
        // Whoever opens it is one of the two; the other alone need be named.
        const made = yield* ask(() => dm([jim.name]))
        assert.sameMembers(
          made.members.map((one) => one.id),
          [pam.id, jim.id],
        )
        for (const [who, members] of [
          [pam, [jim.id, pam.id]],
          [jim, [pam.id]],
        ] as const) {
          const second = yield* refused(() => dm(members, who.client))
          assert.deepStrictEqual([second.status, second.problem["name"]], [409, made.name])
        }
        // A stranger is not told that the two talk.
        const stranger = yield* refused(() => dm([pam.id, jim.id], toby.client))
        assert.deepStrictEqual([stranger.status, JSON.stringify(stranger.problem).includes(made.name)], [400, false])
        const opened = yield* ask(() => admin.spaces.add({ name: fresh("dm"), kind: "dm", members: [jim.id, toby.id] }))
        assert.sameMembers(
          opened.members.map((one) => one.id),
          [jim.id, toby.id],
        )
        // It stays between the two.
        assert.strictEqual(yield* statusOf(() => pam.client.spaces.addMember(made.id, toby.id)), 409)
        assert.strictEqual(yield* statusOf(() => pam.client.spaces.removeMember(made.id, jim.id)), 409)
        assert.strictEqual(yield* statusOf(() => pam.client.spaces.removeMember(made.id, pam.id)), 409)
      }),
    )

    it.effect("members come and go with 204, once, with one event each", () =>
      Effect.gen(function* () {
        const [pam, jim] = [yield* someone(), yield* someone("agent")]
        const space = yield* ask(() => pam.client.spaces.add({ name: fresh("room"), kind: "private" }))
        const from = yield* end
        const path = `/spaces/${space.name}/members/${encodeURIComponent(jim.name)}`
        for (const method of ["PUT", "PUT", "DELETE", "DELETE"]) {
          const { body, status } = yield* call(pam, method, path)
          assert.deepStrictEqual([status, body], [204, undefined])
        }
        const events = yield* eventsSince(from)
        assert.deepStrictEqual(
          events.map(({ actor, body, kind, space }) => [kind, space, actor, (body as { principal: string }).principal]),
          [
            ["member.added", space.id, pam.id, jim.id],
            ["member.removed", space.id, pam.id, jim.id],
          ],
        )
        assert.strictEqual((yield* call(pam, "PUT", `/spaces/${space.id}/members/Nobody`)).status, 404)
        assert.strictEqual((yield* call(pam, "PUT", `/spaces/Nowhere/members/${jim.id}`)).status, 404)
      }),
    )

    it.effect("members let others in; putting out, renaming and archiving is the owner's; anybody may leave", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const [pam, jim, toby, kelly] = [yield* someone(), yield* someone(), yield* someone(), yield* someone()]
        const space = yield* ask(() =>
          pam.client.spaces.add({ name: fresh("club"), kind: "public", members: [jim.id] }),
        )
        // A public space is open: one walks in oneself, but brings nobody.
        assert.strictEqual(yield* statusOf(() => toby.client.spaces.addMember(space.id, kelly.id)), 403)
        yield* ask(() => toby.client.spaces.addMember(space.id, toby.id))
        yield* ask(() => toby.client.spaces.addMember(space.id, kelly.id))
        assert.strictEqual(yield* statusOf(() => toby.client.spaces.removeMember(space.id, pam.id)), 403)
        for (const change of [{ name: fresh("mine") }, { archived: true }, { trigger: "human-all" as const }])
          assert.strictEqual(yield* statusOf(() => toby.client.spaces.change(space.id, change)), 403)
        const changed = yield* ask(() => toby.client.spaces.change(space.id, { topic: "hats" }))
        assert.strictEqual(changed.topic, "hats")
        yield* ask(() => toby.client.spaces.removeMember(space.id, toby.id))
        yield* ask(() => pam.client.spaces.removeMember(space.id, kelly.id))
        yield* ask(() => admin.spaces.removeMember(space.id, jim.id))
        assert.deepStrictEqual(
          (yield* ask(() => pam.client.spaces.get(space.id))).members.map((one) => one.id),
          [pam.id],
        )
        assert.strictEqual(yield* statusOf(() => toby.client.spaces.change(space.id, { topic: "no" })), 403)
      }),
    )

    it.effect("S0-16 X-29 what is hidden looks as if it were not there; what is public is open to the house", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const [pam, jim, toby] = [yield* someone(), yield* someone(), yield* someone()]
        const from = yield* end
        for (const kind of ["private", "team", "dm"] as const) {
          const name = fresh(kind)
          const space = yield* ask(() => pam.client.spaces.add({ name, kind, members: [jim.id] }))
          const said = yield* ask(() => pam.client.spaces.post(name, { text: "between us" }))
          const { client } = toby
          const nowhere = yield* refused(() => client.spaces.get("nowhere"))
          for (const ref of [name, space.id]) {
            const hidden = yield* refused(() => client.spaces.get(ref))
            assert.deepStrictEqual([hidden.status, hidden.message], [404, nowhere.message.replace("nowhere", ref)])
          }
          const tries: ReadonlyArray<() => Promise<unknown>> = [
            () => client.spaces.messages(name),
            () => client.spaces.post(name, { text: "me too" }),
            () => client.spaces.typing(name),
            () => client.spaces.read(name, { seq: 1 }),
            () => client.spaces.change(name, { topic: "x" }),
            () => client.spaces.addMember(name, toby.id),
            () => client.spaces.removeMember(name, jim.id),
            () => client.messages.get(said.id),
            () => client.messages.history(said.id),
            () => client.messages.edit(said.id, { text: "x" }),
            () => client.messages.remove(said.id),
            () => client.messages.react(said.id, "👍"),
            () => client.messages.unreact(said.id, "👍"),
            () => client.messages.pin(said.id),
            () => client.messages.unpin(said.id),
            () => client.messages.search({ q: "between", space: name }),
          ]
          for (const attempt of tries) assert.strictEqual(yield* statusOf(attempt), 404, attempt.toString())
          assert.isFalse(
            (yield* ask(() => client.spaces.list({ limit: 100 }))).items.some((one) => one.id === space.id),
          )
          // An admin sees it, and still speaks only where it is.
          assert.strictEqual((yield* ask(() => admin.spaces.get(name))).id, space.id)
          assert.strictEqual(yield* statusOf(() => admin.spaces.post(name, { text: "hello" })), 403)
          assert.strictEqual((yield* ask(() => pam.client.spaces.messages(name))).items.length, 1)
        }
        const written = (yield* eventsSince(from)).filter((event) => event.actor === toby.id)
        assert.deepStrictEqual(written, [])
        const open = yield* ask(() => pam.client.spaces.add({ name: fresh("open"), kind: "public" }))
        const seq = (yield* ask(() => toby.client.spaces.post(open.id, { text: "hello all" }))).seq
        assert.strictEqual(seq, 1)
      }),
    )

    it.effect("an archived space is read, not written, and comes back", () =>
      Effect.gen(function* () {
        const [pam, jim] = [yield* someone(), yield* someone()]
        const { id } = yield* ask(() =>
          pam.client.spaces.add({ name: fresh("old"), kind: "private", members: [jim.id] }),
        )
        const said = yield* ask(() => jim.client.spaces.post(id, { text: "the last word" }))
        const archived = yield* ask(() => pam.client.spaces.change(id, { archived: true }))
        assert.isNotNull(archived.archivedAt)
        const from = yield* end
        const tries: ReadonlyArray<() => Promise<unknown>> = [
          () => jim.client.spaces.post(id, { text: "more" }),
          () => jim.client.messages.edit(said.id, { text: "more" }),
          () => jim.client.messages.remove(said.id),
          () => jim.client.messages.react(said.id, "👍"),
          () => jim.client.messages.pin(said.id),
          () => pam.client.spaces.change(id, { topic: "x" }),
          () => pam.client.spaces.removeMember(id, jim.id),
        ]
        for (const attempt of tries) assert.strictEqual(yield* statusOf(attempt), 409, attempt.toString())
        assert.deepStrictEqual(yield* eventsSince(from), [])
        assert.strictEqual((yield* ask(() => jim.client.spaces.messages(id))).items[0]!.text, "the last word")
        assert.isFalse((yield* ask(() => pam.client.spaces.list())).items.some((one) => one.id === id))
        yield* ask(() => pam.client.spaces.change(id, { archived: false }))
        assert.strictEqual((yield* ask(() => jim.client.spaces.post(id, { text: "more" }))).seq, 2)
      }),
    )

    it.effect("a space is renamed, its old name is free, and a taken one is refused, also when two race", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const add = () => ask(() => pam.client.spaces.add({ name: fresh("name"), kind: "public" }))
        const [one, other] = [yield* add(), yield* add()]
        assert.strictEqual(yield* statusOf(() => pam.client.spaces.change(one.id, { name: other.name })), 409)
        const name = fresh("new")
        const both = yield* Effect.all(
          [one, other].map((space) => Effect.exit(ask(() => pam.client.spaces.change(space.id, { name })))),
          { concurrency: 2 },
        )
        assert.strictEqual(both.filter((exit) => exit._tag === "Success").length, 1)
        const kept = yield* ask(() => pam.client.spaces.get(name))
        const freed = [one, other].find((space) => space.id === kept.id)!.name
        assert.strictEqual(
          (yield* ask(() => pam.client.spaces.change(kept.id, { name: name.toUpperCase() }))).id,
          kept.id,
        )
        assert.strictEqual(yield* statusOf(() => pam.client.spaces.get(freed)), 404)
        assert.strictEqual((yield* ask(() => pam.client.spaces.add({ name: freed, kind: "public" }))).name, freed)
      }),
    )

    it.effect("an admin's list as a member has its own spaces and public ones, in the room and as resources", () =>
      Effect.gen(function* () {
        const { admin, url } = yield* Guest
        const pam = yield* someone()
        const boss = yield* ask(() =>
          admin.principals.add({ kind: "person", name: fresh("Boss"), roles: ["admin"], toolsets: ["stoa"] }),
        )
        const { token } = yield* ask(() => admin.tokens.add({ principal: boss.id }))
        // The first by name, so that all are on the first page.
        const open = (word: string, kind: "public" | "private", ...members: ReadonlyArray<string>) =>
          ask(() => pam.client.spaces.add({ name: fresh(`0-${word}`), kind, members }))
        const [hers, both, everybodys] = [
          yield* open("hers", "private"),
          yield* open("both", "private", boss.id),
          yield* open("square", "public"),
        ]
        const spaces = yield* Spaces
        const viewer = yield* (yield* Grants).viewerNow(boss.id as PrincipalId, "agent", "spaces")
        const listed = (options: { readonly asMember?: true }) =>
          Effect.map(spaces.list(viewer, { limit: 100 }, options), ({ items }) => items.map(({ id }) => id as string))
        assert.includeMembers(yield* listed({}), [hers.id, both.id, everybodys.id])
        const own = yield* listed({ asMember: true })
        assert.includeMembers(own, [both.id, everybodys.id])
        assert.notInclude(own, hers.id)
        const { body } = yield* ask(() => newRequest(`${url}/mcp/stoa`, token, "resources/list"))
        const resources = JSON.stringify(body)
        for (const { id } of [both, everybodys]) assert.include(resources, id)
        assert.notInclude(resources, hers.id)
      }),
    )

    it.effect("somebody renamed keeps their place and their mentions; somebody who left is in no space", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const [pam, jim, toby] = [yield* someone(), yield* someone("agent"), yield* someone()]
        const space = yield* ask(() =>
          pam.client.spaces.add({ name: fresh("room"), kind: "private", members: [jim.id, toby.id] }),
        )
        const old = yield* ask(() => pam.client.spaces.post(space.id, { text: `@${jim.name} hello` }))
        const [before, after] = [jim.name, fresh("renamed")]
        yield* ask(() => admin.principals.change(jim.id, { name: after }))
        assert.deepStrictEqual((yield* ask(() => pam.client.messages.get(old.id))).mentions, [jim.id])
        const said = yield* ask(() => pam.client.spaces.post(space.id, { text: `@${before} or @${after}?` }))
        assert.deepStrictEqual(said.mentions, [jim.id])
        assert.strictEqual(said.text, `@${before} or @${after}?`)
        yield* ask(() => admin.principals.retire(jim.id))
        const left = yield* ask(() => pam.client.spaces.get(space.id))
        assert.sameMembers(
          left.members.map((one) => one.id),
          [pam.id, toby.id],
        )
        const late = yield* ask(() => pam.client.spaces.post(space.id, { text: `@${after} again` }))
        assert.deepStrictEqual(late.mentions, [])
        assert.strictEqual((yield* ask(() => pam.client.messages.get(old.id))).mentions[0], jim.id)
        assert.strictEqual(yield* statusOf(() => pam.client.spaces.addMember(space.id, jim.id)), 409)
        const made = yield* refused(() =>
          pam.client.spaces.add({ name: fresh("x"), kind: "private", members: [jim.id] }),
        )
        assert.deepStrictEqual([made.status, made.issues[0]!.path], [400, "members.0"])
      }),
    )

    it.effect("G-22 a create that is repeated under one key opens one space", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const wanted = { name: fresh("once"), kind: "public" }
        const first = yield* call(pam, "POST", "/spaces", wanted, "open once")
        const second = yield* call(pam, "POST", "/spaces", wanted, "open once")
        assert.deepStrictEqual([first.status, second.status, second.body], [201, 200, first.body])
        assert.strictEqual((yield* call(pam, "POST", "/spaces", { ...wanted, kind: "team" }, "open once")).status, 409)
      }),
    )

    it.effect("the list comes in pages by name, without repeat", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const mine: Array<string> = []
        for (let n = 0; n < 7; n++) {
          const name = fresh("zz-page")
          yield* ask(() => pam.client.spaces.add({ name, kind: "private" }))
          mine.push(name)
        }
        const seen: Array<string> = []
        for (let cursor: string | undefined; ;) {
          const page = yield* ask(() =>
            pam.client.spaces.list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) }),
          )
          assert.isAtMost(page.items.length, 3)
          seen.push(...page.items.map((one) => one.name))
          if (page.next === null) break
          cursor = page.next
        }
        assert.strictEqual(new Set(seen).size, seen.length)
        assert.includeMembers(seen, mine)
        assert.strictEqual((yield* call(pam, "GET", "/spaces?limit=101")).status, 400)
        assert.strictEqual((yield* call(pam, "GET", "/spaces?cursor=%00")).status < 500, true)
        assert.strictEqual((yield* call(pam, "GET", "/spaces/%00")).status < 500, true)
      }),
    )
  })
