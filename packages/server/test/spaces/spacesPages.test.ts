/** Clauses that a careless change would break unseen: sizes of pages, the strict face, mentions in calls, who sees a call's message. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Grants } from "../../src/access/rights/Grants.ts"
import { houseViewer } from "../../src/access/rights/Viewer.ts"
import { Messages } from "../../src/spaces/messages/Messages.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { callsHouse, callTool, configure, settled, stores, told } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { until } from "../stores.ts"
import { call, fresh, someone, type Someone } from "./spacesGuests.ts"

const compute = (over: object = {}) =>
  configure({
    executionType: "gateway",
    execution: { operation: "evaluate", expression: "1 + 1" },
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    ...over,
  })
const room = (owner: Someone, members: ReadonlyArray<Someone>, over: object = {}) =>
  ask(() =>
    owner.client.spaces.add({ name: fresh("room"), kind: "private", members: members.map(({ id }) => id), ...over }),
  )
const toolsets = Effect.fnUntraced(function* (who: Someone, ...sets: ReadonlyArray<"gateway" | "stoa" | "office">) {
  const { transact } = yield* Journal
  yield* Effect.orDie(transact((yield* Principals).change(who.principal.id, { toolsets: sets })))
})
const deny = Effect.fnUntraced(function* (who: Someone, resource: string, action: "read" | "write") {
  const { transact } = yield* Journal
  const grants = yield* Grants
  const grant = { principal: who.id, resource, actions: [action], effect: "deny" as const }
  return yield* Effect.orDie(transact(grants.add(grant)))
})
const output = Effect.fnUntraced(function* (who: Someone, tool: string, input: object) {
  const { body } = yield* callTool(who, tool, { input })
  assert.strictEqual(body["state"], "done", JSON.stringify(body))
  return body["output"] as Record<string, ReadonlyArray<unknown>>
})
const callsIn = (who: Someone, space: string) =>
  Effect.map(
    ask(() => who.client.spaces.messages(space)),
    ({ items }) => items.filter((one) => one.call !== null),
  )

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `clauses of spaces on ${store}`,
    (it) => {
      it.effect("a tool that is given a cursor of nobody's answers with a page, and does not crash", () =>
        Effect.gen(function* () {
          const agent = yield* someone("agent")
          for (const tool of ["list_spaces", "list_decisions", "recall"]) {
            const { items = [] } = yield* output(agent, tool, { cursor: "AAAA", limit: 1 })
            assert.isArray(items)
          }
        }),
      )

      it.effect(
        "a page of a space ends early where its messages are long; all of them come, each once, both ways",
        () =>
          Effect.gen(function* () {
            const pam = yield* someone()
            const space = yield* room(pam, [])
            const long = "lantern ".repeat(7500)
            for (let at = 0; at < 12; at++)
              yield* ask(() => pam.client.spaces.post(space.id, { text: `${at} ${long}` }))
            for (const [edge, first] of [
              ["before", 1_000_000],
              ["after", 0],
            ] as const) {
              const seen: Array<number> = []
              for (let next: string | null = String(first); next !== null;) {
                const at: number = Number(next)
                const page = yield* ask(() => pam.client.spaces.messages(space.id, { limit: 20, [edge]: at }))
                assert.isAtMost(page.items.length, 4)
                assert.isAtLeast(page.items.length, 1)
                const numbers = page.items.map(({ seq }) => seq)
                if (edge === "after") seen.push(...numbers)
                else seen.unshift(...numbers)
                next = page.next
              }
              assert.deepStrictEqual(
                seen,
                Array.from({ length: 12 }, (_, at) => at + 1),
                edge,
              )
            }
          }),
      )

      it.effect("a page of found messages ends early where they are long; all of them come, each once", () =>
        Effect.gen(function* () {
          const pam = yield* someone()
          const space = yield* room(pam, [])
          const long = "lantern ".repeat(5000)
          for (let at = 0; at < 20; at++) yield* ask(() => pam.client.spaces.post(space.id, { text: `${at} ${long}` }))
          const pages: Array<number> = []
          const seen: Array<string> = []
          let cursor: string | null | undefined
          do {
            const page = yield* ask(() =>
              pam.client.messages.search({
                q: "lantern",
                space: space.id,
                limit: 100,
                ...(typeof cursor === "string" ? { cursor } : {}),
              }),
            )
            pages.push(page.items.length)
            seen.push(...page.items.map(({ id }) => id))
            cursor = page.next
          } while (cursor !== null)
          assert.isAbove(pages.length, 1)
          assert.isTrue(pages.every((count) => count > 0 && count <= 10))
          assert.strictEqual(new Set(seen).size, 20)
          assert.strictEqual(seen.length, 20)
        }),
      )

      it.effect("who waits for messages without naming a space waits in all of its own, however many", () =>
        Effect.gen(function* () {
          const [pam, bot] = [yield* someone(), yield* someone("agent")]
          yield* Effect.forEach(Array.from({ length: 101 }), () => room(pam, [bot]), { discard: true })
          const last = yield* room(pam, [bot], { name: fresh("zzz") })
          yield* ask(() => pam.client.spaces.post(last.id, { text: "here, at the end" }))
          // One that it sees and is no member of is not its own.
          const open = yield* room(pam, [], { kind: "public" })
          yield* ask(() => pam.client.spaces.post(open.id, { text: "elsewhere" }))
          for (const more of [{}, { after: 0 }]) {
            const { messages } = yield* output(bot, "wait_for_messages", { seconds: 0, ...more })
            assert.deepStrictEqual(
              messages!.map((one) => (one as { readonly text: string }).text),
              ["here, at the end"],
            )
          }
        }),
      )

      it.effect(
        "S0-77 S1-36 S1-51 a page has 50 unless another number is asked for, on every face, and 100 at most",
        () =>
          Effect.gen(function* () {
            const { transact } = yield* Journal
            const messages = yield* Messages
            const [pam, bot, strict] = [yield* someone(), yield* someone("agent"), yield* someone("agent")]
            yield* toolsets(strict, "gateway")
            const space = yield* room(pam, [bot, strict])
            yield* Effect.orDie(
              transact(
                Effect.forEach(
                  Array.from({ length: 120 }),
                  () => messages.post(space as never, houseViewer(pam.principal), { text: "quagga" }),
                  { discard: true },
                ),
              ),
            )
            const sizes = {
              http: (yield* ask(() => pam.client.spaces.messages(space.id))).items.length,
              search: (yield* ask(() => pam.client.messages.search({ q: "quagga" }))).items.length,
              read: (yield* output(bot, "read_messages", { space: space.id }))["items"]!.length,
              found: (yield* output(bot, "search_messages", { query: "quagga" }))["items"]!.length,
              waited: (yield* output(bot, "wait_for_messages", { space: space.id, after: 0 }))["messages"]!.length,
              entered: (yield* output(strict, "enter_space", { spaceId: space.id }))["history"]!.length,
              strict: (yield* output(strict, "read_messages", { spaceId: space.id }))["messages"]!.length,
            }
            assert.deepStrictEqual(sizes, {
              http: 50,
              search: 50,
              read: 50,
              found: 50,
              waited: 50,
              entered: 50,
              strict: 50,
            })
            assert.strictEqual(
              (yield* ask(() => pam.client.spaces.messages(space.id, { limit: 100 }))).items.length,
              100,
            )
            assert.strictEqual((yield* call(pam, "GET", `/spaces/${space.id}/messages?limit=101`)).status, 400)
            for (const [who, tool, input] of [
              [bot, "read_messages", { space: space.id, limit: 101 }],
              [strict, "read_messages", { spaceId: space.id, limit: 101 }],
            ] as const)
              assert.strictEqual((yield* callTool(who, tool, { input })).status, 400)
            // What is left is on the next page, and behind it is none.
            const page = yield* ask(() => pam.client.spaces.messages(space.id, { limit: 100 }))
            const before = Number(page.next)
            const rest = yield* ask(() => pam.client.spaces.messages(space.id, { limit: 100, before }))
            assert.deepStrictEqual(
              [...rest.items, ...page.items].map(({ seq }) => seq),
              Array.from({ length: 120 }, (_, at) => at + 1),
            )
            assert.isNull(rest.next)
            const twice = { name: space.name, kind: "public" }
            assert.strictEqual((yield* call(pam, "POST", "/spaces", twice)).status, 409)
            const many = yield* Effect.forEach(Array.from({ length: 52 }), () => room(bot, []))
            assert.strictEqual((yield* ask(() => bot.client.spaces.list())).items.length, 50)
            assert.strictEqual((yield* output(bot, "list_spaces", {}))["items"]!.length, 50)
            assert.lengthOf(many, 52)
          }),
      )

      it.effect("S1-38 S1-51 on the strict face nobody reads or enters a public space from outside", () =>
        Effect.gen(function* () {
          const [pam, bot] = [yield* someone(), yield* someone("agent")]
          yield* toolsets(bot, "gateway")
          const open = yield* room(pam, [], { kind: "public" })
          const said = yield* ask(() => pam.client.spaces.post(open.id, { text: "for members" }))
          assert.strictEqual((yield* call(bot, "GET", `/messages/${said.id}`)).status, 200, "others may")
          for (const tool of ["read_messages", "enter_space"]) {
            const answer = told(yield* callTool(bot, tool, { input: { spaceId: open.id } }))
            assert.strictEqual(answer.state, "failed")
            assert.match(answer.error!.message, /There is no space/)
          }
          yield* ask(() => bot.client.spaces.addMember(open.id, bot.id))
          assert.lengthOf((yield* output(bot, "read_messages", { spaceId: open.id }))["messages"]!, 1)
        }),
      )

      it.effect("S1-66 X-04 a mention in what a call was given or gave is for nobody", () =>
        Effect.gen(function* () {
          const [pam, bot, other] = [yield* someone(), yield* someone("agent"), yield* someone("agent")]
          const space = yield* room(pam, [bot, other])
          const said = `@${other.name} @${pam.name}`
          const service = yield* http((_, response) => void response.end(JSON.stringify(said)))
          const { name } = yield* compute({ execution: { url: service.url } })
          const from = yield* (yield* Journal).end
          const input = { to: said }
          const made = told(yield* callTool(bot, name, { input, space: space.id }))
          assert.strictEqual(made.state, "done", JSON.stringify(made))
          const [shown] = yield* callsIn(pam, space.id)
          assert.deepInclude(shown, { mentions: [] })
          assert.deepInclude(shown!.call, { input, output: said })
          const events = yield* (yield* Journal).read({ after: from, limit: 100, kinds: ["message.created"] })
          const bodies = events.flatMap((event) => (event.kind === "message.created" ? [event.body] : []))
          assert.deepStrictEqual(
            bodies.map(({ addressees, message }) => [addressees, message.mentions]),
            [[[], []]],
          )
        }),
      )

      it.effect("S1-02 one tool, one handler: seen when one agent calls it, unseen when another does", () =>
        Effect.gen(function* () {
          const [pam, loud, quiet, last] = [
            yield* someone(),
            yield* someone("agent"),
            yield* someone("agent"),
            yield* someone("agent"),
          ]
          const space = yield* room(pam, [loud, quiet, last])
          const { name } = yield* compute({
            visibilityFor: { [quiet.name.toUpperCase()]: "hidden", [last.name]: "result-only" },
          })
          for (const who of [loud, quiet, last])
            assert.deepInclude((yield* callTool(who, name, { input: {}, space: space.id })).body, { output: 2 })
          const shown = yield* callsIn(pam, space.id)
          assert.deepStrictEqual(
            shown.map(({ author }) => author.id),
            [loud.id, last.id],
          )
          const byRole = yield* compute({ visibility: "hidden", visibilityFor: { "role:agent-standard": "visible" } })
          yield* callTool(loud, byRole.name, { input: {}, space: space.id })
          yield* callTool(pam, byRole.name, { input: {}, space: space.id })
          assert.lengthOf(yield* callsIn(pam, space.id), 3)
          const { adminToken } = yield* Guest
          for (const [executionType, visibility] of [
            ["internal", "visible"],
            ["space", "hidden"],
          ]) {
            const form = {
              name: fresh("wrong"),
              description: "x",
              inputSchema: { type: "object" },
              executionType,
              visibilityFor: { pam: visibility },
            }
            const refused = yield* call({ token: adminToken } as Someone, "POST", "/tools", form)
            assert.strictEqual(refused.status, 400)
            assert.include(JSON.stringify(refused.body), "visibilityFor.pam")
          }
        }),
      )

      it.effect("X-63 a visible call posts where its caller may write, and nowhere else, whenever it ends", () =>
        Effect.gen(function* () {
          const [pam, bot] = [yield* someone(), yield* someone("agent")]
          yield* toolsets(bot, "gateway")
          const space = yield* room(pam, [bot])
          const { name } = yield* compute()
          yield* output(bot, "enter_space", { spaceId: space.id })
          yield* callTool(bot, name, { input: {} })
          assert.lengthOf(yield* callsIn(pam, space.id), 1)
          const { id } = yield* deny(bot, `spaces/${space.name}`, "write")
          // It runs, as it would in no space.
          assert.deepInclude((yield* callTool(bot, name, { input: {} })).body, { state: "done", output: 2 })
          assert.lengthOf(yield* callsIn(pam, space.id), 1)
          const named = yield* callTool(bot, name, { input: {}, space: space.id })
          assert.deepInclude(named.body, { status: 403, tag: "Forbidden" })
          const { transact } = yield* Journal
          yield* Effect.orDie(transact((yield* Grants).revoke(id)))
          yield* callTool(bot, name, { input: {} })
          assert.lengthOf(yield* callsIn(pam, space.id), 2)
          // A result that is shown alone, of a call whose caller was put out before it came.
          let answer: (() => void) | undefined
          const service = yield* http((_, response) => void (answer = () => void response.end("3")))
          const slow = yield* configure({
            executionType: "gateway",
            inputSchema: { type: "object" },
            visibility: "result-only",
            execution: { url: service.url },
          })
          const begun = told(yield* callTool(bot, slow.name, { input: {}, space: space.id, wait: 0 }))
          yield* until(Effect.sync(() => answer !== undefined))
          yield* ask(() => pam.client.spaces.removeMember(space.id, bot.id))
          answer!()
          assert.strictEqual((yield* settled(bot, begun.id)).state, "done")
          assert.lengthOf(yield* callsIn(pam, space.id), 2)
        }).pipe(Effect.scoped),
      )
    },
  )
