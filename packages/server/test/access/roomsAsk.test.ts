/** Rooms ask who may: what a caller gets from them directly, with no door or tool between that could have asked. */
import { assert, layer } from "@effect/vitest"
import { Caller, type ChatSessionId, type MemoryId, type Principal, type PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Wallets } from "../../src/access/identity/wallets/Wallets.ts"
import { Grants } from "../../src/access/rights/Grants.ts"
import { makeTokenList } from "../../src/access/rights/TokenList.ts"
import { makeHandedServiceKey } from "../../src/access/secrets/ServiceKeys.ts"
import { Explanations } from "../../src/calls/catalogue/Explanations.ts"
import { Tools } from "../../src/calls/catalogue/Tools.ts"
import { makeHandedCallbackKey } from "../../src/calls/waiting/Callbacks.ts"
import { makePausing } from "../../src/calls/waiting/Pausing.ts"
import { Demo } from "../../src/demo/Demo.ts"
import { Engrams } from "../../src/memory/Engrams.ts"
import { Portability } from "../../src/memory/portability/Portability.ts"
import { Runs } from "../../src/runs/Runs.ts"
import { DeadLetters } from "../../src/runs/upkeep/DeadLetters.ts"
import { ChatSessions } from "../../src/sessions/ChatSessions.ts"
import { makeWatching } from "../../src/spaces/Watching.ts"
import { ask, Guest, house, made, roomy } from "../house.ts"
import { fresh } from "../spaces/spacesGuests.ts"

const inputSchema = { type: "object", properties: {} }
const motto = {
  name: "motto",
  description: "Says it.",
  inputSchema,
  executionType: "internal",
  execution: { output: 1 },
}

type Asked = Effect.Effect<unknown, { readonly _tag: string }, Caller>

// Who may is the same code on both databases.
layer(house({ store: "sqlite", config: { ...roomy, tools: [motto] } }), { excludeTestServices: true })(
  "rooms ask who may",
  (it) => {
    const someone = Effect.fnUntraced(function* (kind: Principal["kind"], over: object = {}) {
      const { admin, as } = yield* Guest
      const principal = yield* ask(() => admin.principals.add({ kind, name: fresh(kind), ...over }))
      const { id, token } = yield* ask(() => admin.tokens.add({ principal: principal.id }))
      return { principal: { ...principal, id: principal.id as PrincipalId }, token, tokenId: id, client: as(token) }
    })
    const stranger = someone("agent", { roles: ["guest"] })
    const callerOf = (token: string) => Effect.flatMap(Tokens, ({ authenticate }) => authenticate(token))
    const as = <A, E, R>(token: string, what: Effect.Effect<A, E, R>) =>
      Effect.flatMap(callerOf(token), (caller) => Effect.provideService(what, Caller, caller))
    const tagOf = <A, E extends { readonly _tag: string }, R>(token: string, what: Effect.Effect<A, E, R>) =>
      Effect.match(as(token, what), { onSuccess: () => "in", onFailure: (error) => error._tag })

    it.effect("rights, keys, pauses, dead letters and the demo are for those who may have them", () =>
      Effect.gen(function* () {
        const { admin, adminToken } = yield* Guest
        const { token } = yield* stranger
        const service = yield* someone("service")
        const hook = { name: fresh("hook"), description: "Calls.", inputSchema, executionType: "external" as const }
        yield* ask(() => admin.tools.add({ ...hook, execution: { webhookUrl: "https://example.com/hook" } }))
        const explanations = yield* Explanations
        const grants = yield* Grants
        const letters = yield* DeadLetters
        const demo = yield* Demo
        const pausing = yield* makePausing
        const tokenKey = yield* makeHandedServiceKey
        const callbackKey = yield* makeHandedCallbackKey
        const tokens = yield* makeTokenList
        const question = { principal: "admin", action: "read", resource: "grants/*" } as const
        const asked: Record<string, Asked> = {
          judge: explanations.judge(question),
          explain: explanations.explain(question),
          grants: grants.list({}),
          tokens: tokens({}),
          "another's tokens": tokens({ principal: "admin" }),
          "a service's key": tokenKey(service.principal.name),
          "a tool's key": callbackKey(hook.name),
          "dead letters": letters.list,
          "the demo": demo.get,
          "to pause": pausing.set({ subject: `tools/${motto.name}` }),
          "to lift": pausing.lift(`tools/${motto.name}`),
        }
        for (const [what, one] of Object.entries(asked)) {
          assert.strictEqual(yield* tagOf(token, one), "Forbidden", what)
          assert.strictEqual(yield* tagOf(adminToken, one), "in", what)
        }
        const changes: ReadonlyArray<Asked> = [
          letters.retry("none"),
          letters.dismiss("none"),
          demo.change({}),
          demo.remove,
        ]
        for (const change of changes) {
          assert.strictEqual(yield* tagOf(token, change), "Forbidden")
          assert.notStrictEqual(yield* tagOf(adminToken, change), "Forbidden")
        }
        const own = yield* someone("person")
        assert.strictEqual(yield* tagOf(own.token, tokens({ principal: own.principal.id })), "in")
        assert.strictEqual(yield* tagOf(own.token, tokens({ principal: service.principal.id })), "Forbidden")
      }),
    )

    it.effect("what somebody has not, and where a tool is declared, is said only to those who may know", () =>
      Effect.gen(function* () {
        const { adminToken } = yield* Guest
        const { token } = yield* stranger
        const { leftOut } = yield* Explanations
        const { declarations } = yield* Tools
        const who = yield* callerOf(token)
        assert.isUndefined(yield* as(token, leftOut(who)))
        assert.isNotEmpty(yield* as(adminToken, leftOut(who)))
        assert.isUndefined((yield* as(token, declarations))(motto.name))
        assert.strictEqual((yield* as(adminToken, declarations))(motto.name)?.key, "tools")
        assert.isUndefined((yield* as(adminToken, declarations))("no such tool"))
      }),
    )

    it.effect("who may not know of an agent gets none of its runs, whether it exists or not", () =>
      Effect.gen(function* () {
        const { adminToken } = yield* Guest
        const { token } = yield* stranger
        const bot = yield* someone("agent")
        const runs = yield* Runs
        const none = { items: [], next: null }
        assert.deepStrictEqual(yield* as(token, runs.listNamed({ agent: bot.principal.name })), none)
        assert.deepStrictEqual(yield* as(token, runs.listNamed({ agent: fresh("nobody") })), none)
        assert.strictEqual(yield* tagOf(adminToken, runs.listNamed({ agent: fresh("nobody") })), "Missing")
      }),
    )

    it.effect("S2-17 S2-28 S2-78 a wallet is its holder's: its records, its sessions, and the right to erase", () =>
      Effect.gen(function* () {
        const wallet = "0x52908400098527886E0F7030069857D2E4169EE7"
        const holder = yield* someone("person", { wallet })
        const { principal, token } = yield* someone("agent")
        const wallets = yield* Wallets
        assert.strictEqual(yield* tagOf(token, wallets.require("write", wallet)), "Forbidden")
        assert.strictEqual((yield* as(holder.token, wallets.require("write", wallet))).id, holder.principal.id)
        const reading = { owner: holder.principal.id, reader: principal.id }
        assert.deepStrictEqual(yield* as(token, wallets.readable(wallet)), reading)
        assert.strictEqual((yield* as(holder.token, wallets.readable(wallet)))!.reader, holder.principal.id)

        const bot = yield* someone("agent")
        const session = yield* ask(() => holder.client.chatSessions.add({ agent: bot.principal.name }))
        const sessions = yield* ChatSessions
        const { id: owner } = holder.principal
        const { viewerNow } = yield* Grants
        const own = yield* viewerNow(owner, "agent", "spaces")
        assert.lengthOf((yield* sessions.list(own, {})).items, 1)
        const lent = yield* viewerNow(principal.id, "agent", "spaces")
        assert.deepStrictEqual((yield* sessions.list(lent, { owner })).items, [])
        const id = session.id as ChatSessionId
        assert.strictEqual((yield* sessions.between(id, own, bot.principal.name)).id, id)
        for (const [who, agent] of [
          [own, "another"],
          [yield* viewerNow(bot.principal.id, "agent", "spaces"), bot.principal.name],
        ] as const)
          assert.strictEqual((yield* Effect.flip(sessions.between(id, who, agent)))._tag, "Missing")

        const engrams = yield* Engrams
        const memory = session.memory as MemoryId
        assert.strictEqual((yield* engrams.byId([principal.id, owner], memory))?.owner, owner)
        assert.isUndefined(yield* engrams.byId([principal.id], memory))
        const other = yield* ask(() => holder.client.memory.put({ kind: "note", key: "note", content: "mine" }))
        assert.isUndefined(yield* engrams.byId([owner], other.id as MemoryId))

        const { eraseOwn } = yield* Portability
        const wrong = yield* Effect.flip(eraseOwn(holder.principal, { confirm: "admin", dryRun: false }))
        assert.strictEqual(wrong._tag, "BadInput")
        assert.strictEqual(yield* eraseOwn(holder.principal, { confirm: holder.principal.name, dryRun: true }), 3)
        assert.strictEqual((yield* ask(() => holder.client.memory.list())).items.length, 3)
      }),
    )

    it.effect("a stream is one of so many, and stands while its token and its right to all events do", () =>
      Effect.gen(function* () {
        const { admin, adminToken } = yield* Guest
        const begin = yield* makeWatching
        const { principal, token, tokenId } = yield* stranger
        const open = (given: string, streams: number) =>
          tagOf(
            given,
            Effect.flatMap(Caller, (who) => begin(who, streams)),
          )
        assert.deepStrictEqual([yield* open(token, 199), yield* open(token, 200)], ["in", "TooManyRequests"])
        assert.deepStrictEqual(
          [yield* open(adminToken, 4999), yield* open(adminToken, 5000)],
          ["in", "TooManyRequests"],
        )

        const before = yield* begin(yield* callerOf(token), 0)
        assert.isTrue(yield* before.still)
        made(yield* ask(() => admin.grants.add({ principal: principal.id, resource: "events/*", actions: ["read"] })))
        assert.isFalse(yield* before.still, "it sees more now, and begins again")
        const after = yield* begin(yield* callerOf(token), 0)
        assert.isTrue(yield* after.still)
        assert.strictEqual(yield* open(token, 200), "in")
        yield* ask(() => admin.tokens.revoke(tokenId))
        assert.isFalse(yield* after.still, "its token has ended")
      }),
    )
  },
)
