/** Allow lists: which tools a credential shows, changed while the house runs. */
import { assert, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { AllowLists } from "../../src/access/rights/AllowLists.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest, house, made } from "../house.ts"

const refused = <A>(question: () => Promise<A>) =>
  Effect.flip(ask(question) as Effect.Effect<A, StoaError>).pipe(Effect.orDie)

let named = 0
const someone = Effect.fnUntraced(function* (kind: "agent" | "person" | "service", over: object = {}) {
  const { admin, as } = yield* Guest
  const name = `${kind} ${++named}`
  const principal = yield* ask(() => admin.principals.add({ kind, name, ...over }))
  const token = yield* ask(() => admin.tokens.add({ principal: name }))
  return { name, principal, token, client: as(token.token) }
})
const audited = Effect.fnUntraced(function* (query: object) {
  yield* (yield* Readers).receipt("audit")
  const { admin } = yield* Guest
  return (yield* ask(() => admin.audit.list(query))).items
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`allow lists on ${store}`, (it) => {
    it.effect("S2-06, X-53 the context comes from the credential: three credentials, three lists", () =>
      Effect.gen(function* () {
        const lists = yield* AllowLists
        const { admin } = yield* Guest
        const agent = yield* someone("agent")
        const service = yield* someone("service")
        const contexts = [
          agent.token.context,
          service.token.context,
          (yield* ask(() => admin.tokens.add({ principal: "admin" }))).context,
        ]
        assert.deepStrictEqual(contexts, ["agent", "crossroads", "internal"])
        const engrams = yield* Effect.forEach(contexts, (context) => lists.get("engrams", context))
        assert.deepStrictEqual(
          engrams.map((list) => list.tools),
          [
            ["engram_create", "engram_get", "engram_search", "engram_update", "engram_delete", "engram_list_by_type"],
            [],
            ["*"],
          ],
        )
        const office = yield* Effect.forEach(contexts, (context) => lists.allows("office", context, "send_message"))
        assert.deepStrictEqual(office, [true, false, true])
        const chosen = yield* ask(() => admin.tokens.add({ principal: agent.name, context: "crossroads" }))
        assert.strictEqual(chosen.context, "crossroads")
      }),
    )

    it.effect("S2-05, X-28 one list answers listing and calling, and closes when a name is taken off", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const lists = yield* AllowLists
        assert.isFalse(yield* lists.allows("engrams", "agent", "hecate_cleanup"))
        yield* ask(() => admin.allowLists.set("office", "agent", { tools: ["do_nothing"] }))
        assert.isTrue(yield* lists.allows("office", "agent", "do_nothing"))
        assert.isFalse(yield* lists.allows("office", "agent", "send_message"))
        assert.deepStrictEqual((yield* lists.get("office", "agent")).tools, ["do_nothing"])
        yield* ask(() => admin.allowLists.set("office", "agent", { tools: [] }))
        assert.isFalse(yield* lists.allows("office", "agent", "do_nothing"))
        yield* ask(() => admin.allowLists.set("office", "agent", { tools: ["*"] }))
      }),
    )

    it.effect(
      "S2-07, X-60 an unknown built-in name is refused by path; the name of a server's tool is kept and noted",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const error = yield* refused(() =>
            admin.allowLists.set("engrams", "agent", { tools: ["engram_get", "engram_fly"] }),
          )
          assert.deepStrictEqual([error.status, error.issues[0]!.path], [400, "tools.1"])
          assert.strictEqual((yield* ask(() => admin.allowLists.get("engrams", "agent"))).tools.length, 6)
          const kept = made(
            yield* ask(() => admin.allowLists.set("upstream", "agent", { tools: ["github/create_issue"] })),
          )
          assert.deepStrictEqual(kept.tools, ["github/create_issue"])
        }),
    )

    it.effect("G-38 changing a list at run time leaves an audit row that says who, and needs the right to", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const pam = yield* someone("agent")
        assert.strictEqual(
          (yield* refused(() => pam.client.allowLists.set("team", "agent", { tools: [] }))).status,
          403,
        )
        yield* ask(() => admin.allowLists.set("team", "agent", { tools: ["check_inbox"] }))
        const me = yield* ask(() => admin.principals.me())
        const [entry] = yield* audited({ principal: me.id, limit: 1 })
        assert.deepStrictEqual([entry!.resource, entry!.result], ["allow-lists/team/agent", "success"])
        assert.strictEqual((yield* ask(() => admin.allowLists.get("team", "agent"))).changedBy, me.id)
        // Who was refused is in the trail too, and changed nothing.
        const [denied] = yield* audited({ principal: pam.principal.id, limit: 1 })
        assert.deepStrictEqual([denied!.resource, denied!.result], ["allow-lists/team/agent", "denied"])
        // It holds at once, without a new start: what is on the list, and nothing else.
        const lists = yield* AllowLists
        assert.isTrue(yield* lists.allows("team", "agent", "check_inbox"))
        assert.isFalse(yield* lists.allows("team", "agent", "send_message"))
        yield* ask(() => admin.allowLists.set("team", "agent", { tools: ["send_message"] }))
        assert.isFalse(yield* lists.allows("team", "agent", "check_inbox"))
        const [change] = yield* (yield* Journal)
          .read({ after: 0, limit: 100_000, kinds: ["allow-list.changed"] })
          .pipe(Effect.map((events) => events.slice(-1)))
        assert.deepStrictEqual(change!.body, {
          toolset: "team",
          context: "agent",
          before: ["check_inbox"],
          after: ["send_message"],
        })
      }),
    )
  })
