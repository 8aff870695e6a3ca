/** A name that one cannot see is free, and one that means two spaces is never guessed: on both databases, through the door. */
import { writeFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { call, fresh, refused, someone, type Someone } from "./spacesGuests.ts"

const open = (
  who: Someone,
  name: string,
  kind: "public" | "private" = "private",
  members: ReadonlyArray<Someone> = [],
) => ask(() => who.client.spaces.add({ name, kind, members: members.map(({ id }) => id) }))

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`names of spaces on ${store}`, (it) => {
    it.effect("X-30 whoever cannot see a space may have its name, and is told nothing of it", () =>
      Effect.gen(function* () {
        const [pam, jim] = [yield* someone(), yield* someone("agent")]
        const name = fresh("plans")
        const hers = yield* open(pam, name)
        const his = yield* open(jim, name.toUpperCase())
        assert.notStrictEqual(his.id, hers.id)
        assert.strictEqual((yield* ask(() => pam.client.spaces.get(name))).id, hers.id)
        assert.strictEqual((yield* ask(() => jim.client.spaces.get(name))).id, his.id)
        // What one sees is taken.
        for (const who of [pam, jim]) {
          const again = yield* refused(() => who.client.spaces.add({ name, kind: "public" }))
          assert.deepStrictEqual([again.status, again.tag], [409, "NameTaken"])
        }
        // The same for a change of name.
        const third = yield* open(jim, fresh("third"))
        const renamed = yield* refused(() => jim.client.spaces.change(third.id, { name }))
        assert.deepStrictEqual([renamed.status, renamed.tag], [409, "NameTaken"])
        const toby = yield* someone()
        const fourth = yield* open(toby, fresh("fourth"))
        assert.strictEqual((yield* ask(() => toby.client.spaces.change(fourth.id, { name }))).name, name)
        // Its own name in another case is no other name.
        assert.strictEqual(
          (yield* ask(() => pam.client.spaces.change(hers.id, { name: name.toUpperCase() }))).name,
          name.toUpperCase(),
        )
      }),
    )

    it.effect("a name that means two spaces is a 409 with both ids, at every door, and an id always works", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const [pam, jim, toby] = [yield* someone(), yield* someone(), yield* someone("agent")]
        const name = fresh("fleet")
        const [one, two] = [yield* open(pam, name, "private", [toby]), yield* open(jim, name)]
        assert.strictEqual((yield* ask(() => toby.client.spaces.get(name))).id, one.id)
        yield* ask(() => jim.client.spaces.addMember(two.id, toby.id))
        const ids = [one.id, two.id].toSorted()
        for (const [method, path, body] of [
          ["GET", `/spaces/${name}`],
          ["PATCH", `/spaces/${name}`, { topic: "x" }],
          ["GET", `/spaces/${name}/messages`],
          ["POST", `/spaces/${name}/messages`, { text: "to whom?" }],
          ["POST", `/spaces/${name}/typing`],
          ["PUT", `/spaces/${name}/read`, { seq: 0 }],
          ["PUT", `/spaces/${name}/members/${toby.id}`],
          ["DELETE", `/spaces/${name}/members/${toby.id}`],
          ["GET", `/spaces/${name}/events`],
          ["GET", `/messages?q=x&space=${name}`],
          ["POST", "/tools/whoami/call", { space: name }],
        ] as const) {
          const answer = yield* call(toby, method, path, body)
          assert.deepStrictEqual([answer.status, answer.body["tag"], answer.body["ids"]], [409, "Ambiguous", ids], path)
        }
        const input = { space: name, text: "to whom?" }
        const said = yield* ask(() =>
          newRequest(`${url}/mcp/stoa`, toby.token, "tools/call", { name: "post_message", arguments: input }),
        )
        for (const id of ids) assert.include(said.text, id)
        for (const id of ids) assert.strictEqual((yield* call(toby, "GET", `/spaces/${id}`)).status, 200)
        for (const id of ids)
          assert.lengthOf((yield* ask(() => toby.client.spaces.messages(id))).items, 0, "nothing was guessed")
        // For those who see one, it means that one.
        assert.strictEqual((yield* ask(() => pam.client.spaces.get(name))).id, one.id)
        // Lists have both, page by page.
        const listed: Array<string> = []
        for (let cursor: string | undefined; ;) {
          const page = yield* ask(() =>
            toby.client.spaces.list({ limit: 1, ...(cursor === undefined ? {} : { cursor }) }),
          )
          listed.push(...page.items.map(({ id }) => id))
          if (page.next === null) break
          cursor = page.next
        }
        assert.sameMembers(
          listed.filter((id) => ids.includes(id as never)),
          ids,
        )
        assert.strictEqual(new Set(listed).size, listed.length)
      }),
    )

    it.effect("of many who take one name at once, all seeing each other's, one gets it", () =>
      Effect.gen(function* () {
        const pam = yield* someone()
        const name = fresh("race")
        const answers = yield* Effect.forEach(
          Array.from({ length: 10 }),
          () => call(pam, "POST", "/spaces", { name, kind: "public" }),
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, ...Array<number>(9).fill(409)])
      }),
    )

    it.effect("a space of the file is found by the file, whoever has named another like it since", () =>
      Effect.gen(function* () {
        const { admin, configFile } = yield* Guest
        const [pam, jim] = [yield* someone(), yield* someone()]
        const name = fresh("declared")
        const apply = (topic: string) => {
          const spaces = [{ name, kind: "private", members: [pam.name], topic }]
          writeFileSync(configFile, JSON.stringify({ ...roomy, spaces }))
          return ask(() => admin.house.reload())
        }
        yield* apply("one")
        const own = yield* ask(() => pam.client.spaces.get(name))
        const his = yield* open(jim, name)
        yield* apply("two")
        assert.deepInclude(yield* ask(() => pam.client.spaces.get(name)), { id: own.id, topic: "two" })
        assert.deepInclude(yield* ask(() => jim.client.spaces.get(name)), { id: his.id, topic: null })
        writeFileSync(configFile, JSON.stringify(roomy))
        yield* ask(() => admin.house.reload())
        assert.isNotNull((yield* ask(() => admin.spaces.get(own.id))).archivedAt)
        assert.isNull((yield* ask(() => admin.spaces.get(his.id))).archivedAt)
      }),
    )
  })
