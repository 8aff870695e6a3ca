/** G-38: where a policy says `ask`, a change of rights becomes a decision, and is made when a second person has agreed. */
import { assert, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import type { Principal } from "@stoa/contract"
import { SqlClient } from "effect/sql"
import { Effect } from "effect"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest, house, made, roomy } from "../house.ts"

const asks = (resource: string) => ({ principal: "role:admin", resource, actions: ["write"], effect: "ask" })
const resources = ["allow-lists/*", "grants/*", "principals/trusted*", "tokens/trusted*", "tokens/signing*"]
const config = { ...roomy, policies: resources.map(asks) }

const refused = <A>(question: () => Promise<A>) =>
  Effect.flip(ask(question) as Effect.Effect<A, StoaError>).pipe(Effect.orDie)

const waits = (answer: object): string => {
  assert.deepInclude(answer, { state: "waiting" })
  return (answer as { readonly on: { readonly id: string } }).on.id
}

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, config }), { excludeTestServices: true, timeout: 30_000 })(
    `a second person on ${store}`,
    (it) => {
      const settled = Effect.flatMap(Readers, (readers) => readers.receipt("rights-changes"))

      it.effect("G-38 a lone admin is told that nobody else may agree", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const error = yield* refused(() => admin.allowLists.set("stoa", "agent", { tools: ["whoami"] }))
          assert.deepStrictEqual([error.status, error.tag], [403, "Forbidden"])
          assert.match(error.message, /A second admin must agree to it, and there is none/)
        }),
      )

      it.effect(
        "G-38 a list, a grant, the end of a restriction and a role wait for a second admin: yes makes them, no does not",
        () =>
          Effect.gen(function* () {
            const { admin, as } = yield* Guest
            const grace = yield* ask(() => admin.principals.add({ kind: "person", name: "Grace", roles: ["admin"] }))
            const second = as((yield* ask(() => admin.tokens.add({ principal: grace.id }))).token)
            const bot = yield* Effect.orDie(
              (yield* Journal).transact((yield* Principals).add({ kind: "agent", name: "trusted bot" })),
            )
            const decide = Effect.fnUntraced(function* (id: string, verdict: "approve" | "deny") {
              yield* ask(() => second.decisions.answer(id, { verdict }))
              yield* settled
            })
            const tools = Effect.map(
              ask(() => admin.allowLists.get("stoa", "agent")),
              (list) => list.tools,
            )

            const denied = waits(yield* ask(() => admin.allowLists.set("stoa", "agent", { tools: ["whoami"] })))
            const shown = yield* ask(() => second.decisions.get(denied))
            assert.deepInclude(shown, { kind: "approval", call: null, state: "open" })
            assert.match(
              shown.question,
              /^admin wants to change rights: the allow list of stoa for the context agent becomes \[.*"whoami".*\]\. It is \["\*"\] now\.$/,
            )
            // Never by whoever asked.
            assert.strictEqual(
              (yield* refused(() => admin.decisions.answer(denied, { verdict: "approve" }))).status,
              403,
            )
            // It is agreed to as it is: there is no call whose input could be another.
            assert.deepStrictEqual(shown.options, { edit: false, reaches: ["once"] })
            const edited = () => second.decisions.answer(denied, { verdict: "approve", input: { tools: [] } })
            assert.strictEqual((yield* refused(edited)).status, 400)
            yield* decide(denied, "deny")
            assert.deepStrictEqual(yield* tools, ["*"])

            const approved = waits(yield* ask(() => admin.allowLists.set("stoa", "agent", { tools: ["whoami"] })))
            assert.deepStrictEqual(yield* tools, ["*"])
            yield* decide(approved, "approve")
            assert.deepStrictEqual(yield* tools, ["whoami"])

            const grant = { principal: bot.id, resource: "house/doctor", actions: ["read" as const] }
            // What could not be made is refused at once: nobody is asked about it.
            assert.strictEqual(
              (yield* refused(() => admin.grants.add({ ...grant, resource: "houses/doctor" }))).status,
              400,
            )
            yield* decide(waits(yield* ask(() => admin.grants.add(grant))), "approve")
            const { items } = yield* ask(() => admin.grants.list({ principal: bot.id }))
            assert.deepInclude(items[0]!, { resource: "house/doctor", effect: "allow" })
            // Made in the name of whoever asked for it; the approval is another event.
            const sql = yield* SqlClient.SqlClient
            const actors = yield* sql<{ actor: string }>`SELECT actor FROM journal
              WHERE kind = 'grant.added' AND body LIKE ${`%${items[0]!.id}%`}`
            const asker = yield* ask(() => admin.principals.me())
            assert.deepStrictEqual(
              actors.map(({ actor }) => actor),
              [asker.id],
            )
            // Taking a right away asks nobody: the policy speaks of writing.
            assert.isUndefined(yield* ask(() => admin.grants.revoke(items[0]!.id)))
            assert.strictEqual((yield* ask(() => admin.grants.list({ principal: bot.id }))).items.length, 0)
            // To lift a restriction is to give a right.
            yield* decide(waits(yield* ask(() => admin.grants.add({ ...grant, effect: "deny" }))), "approve")
            const [restriction] = (yield* ask(() => admin.grants.list({ principal: bot.id }))).items
            const lifted = waits((yield* ask(() => admin.grants.revoke(restriction!.id))) as object)
            assert.strictEqual((yield* ask(() => admin.grants.list({ principal: bot.id }))).items.length, 1)
            assert.include((yield* ask(() => second.decisions.get(lifted))).question, restriction!.id)
            yield* decide(lifted, "approve")
            assert.strictEqual((yield* ask(() => admin.grants.list({ principal: bot.id }))).items.length, 0)

            const roles = waits(yield* ask(() => admin.principals.change(bot.id, { roles: ["orchestrator"] })))
            assert.deepStrictEqual((yield* ask(() => admin.principals.get(bot.id))).roles, ["agent-standard"])
            yield* decide(roles, "approve")
            assert.deepStrictEqual((yield* ask(() => admin.principals.get(bot.id))).roles, ["orchestrator"])
            // Whoever has a wallet signs in by it: where tokens wait, it waits.
            const signing = yield* ask(() => admin.principals.add({ kind: "agent", name: "signing bot" }))
            const wallet = "0x52908400098527886E0F7030069857D2E4169EE7"
            const signs = waits(yield* ask(() => admin.principals.change(signing.id, { wallet })))
            assert.isNull((yield* ask(() => admin.principals.get(signing.id))).wallet)
            yield* decide(signs, "approve")
            assert.isNotNull((yield* ask(() => admin.principals.get(signing.id))).wallet)
            // What no policy speaks of is made at once.
            const other = yield* ask(() => admin.principals.add({ kind: "agent", name: "plain bot" }))
            assert.deepStrictEqual(
              made(yield* ask(() => admin.principals.change(other.id, { roles: ["guest"] }))).roles,
              ["guest"],
            )
            // The audit says who changed it and who agreed.
            yield* (yield* Readers).receipt("audit")
            const trail = (yield* ask(() => admin.audit.list({ limit: 100 }))).items
            const me = yield* ask(() => admin.principals.me())
            assert.isDefined(
              trail.find((row) => row.resource === "allow-lists/stoa/agent" && row.principal === me.id),
              "the change",
            )
            assert.isDefined(
              trail.find((row) => row.resource === `decisions/${approved}` && row.principal === grace.id),
              "the agreement",
            )
          }),
      )

      it.effect("G-38 what cannot wait is refused, however much right it would need: new principals and tokens", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const journal = yield* Journal
          const principals = yield* Principals
          const known = (kind: "agent" | "person", name: string, roles: Principal["roles"]) =>
            Effect.orDie(journal.transact(principals.add({ kind, name, roles })))
          const bot = yield* known("agent", "trusted robot", ["agent-standard"])
          const boss = yield* known("person", "trusted boss", ["admin"])
          const theirs = yield* Effect.orDie(journal.transact((yield* Tokens).issue({ principal: boss.id })))
          const attempts: ReadonlyArray<readonly [() => Promise<unknown>, RegExp]> = [
            [
              () => admin.principals.add({ kind: "agent", name: "trusted new" }),
              /declare it in the configuration file/,
            ],
            [
              () => admin.principals.add({ kind: "person", name: "trusted new", roles: ["admin"] }),
              /declare it in the configuration file/,
            ],
            [() => admin.tokens.add({ principal: bot.id }), /A token cannot wait for that/],
            [() => admin.tokens.add({ principal: bot.id, context: "internal" }), /A token cannot wait for that/],
          ]
          for (const [attempt, words] of attempts) {
            const error = yield* refused(attempt)
            assert.deepStrictEqual([error.status, error.tag], [403, "Forbidden"])
            assert.match(error.message, /rule: policy:\d\)\. A second person must agree to it\./)
            assert.match(error.message, words)
          }
          // To rotate somebody's token is to have one of theirs.
          assert.strictEqual((yield* refused(() => admin.tokens.rotate(theirs.id))).status, 404)
          assert.strictEqual((yield* refused(() => admin.principals.get("trusted new"))).status, 404)
          assert.lengthOf((yield* ask(() => admin.tokens.list({ principal: bot.id }))).items, 0)
          assert.isNull((yield* ask(() => admin.tokens.list({ principal: boss.id }))).items[0]!.revokedAt)
          // Taking away asks nobody, and neither does what no policy speaks of.
          yield* ask(() => admin.tokens.revoke(theirs.id))
          const other = yield* ask(() => admin.principals.add({ kind: "person", name: "Olga", roles: ["admin"] }))
          const made = yield* ask(() => admin.tokens.add({ principal: other.id }))
          yield* ask(() => admin.tokens.rotate(made.id))
        }),
      )

      it.effect("G-38 what was agreed to is not made when whoever wanted it may no longer", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const ada = yield* ask(() => admin.principals.add({ kind: "person", name: "Ada", roles: ["admin"] }))
          const token = yield* ask(() => admin.tokens.add({ principal: ada.id }))
          const bot = yield* ask(() => admin.principals.add({ kind: "agent", name: "other bot" }))
          const grant = { principal: bot.id, resource: "house/doctor", actions: ["read" as const] }
          const one = waits(yield* ask(() => as(token.token).grants.add(grant)))
          yield* ask(() => admin.tokens.revoke(token.id))
          yield* ask(() => admin.decisions.answer(one, { verdict: "approve" }))
          yield* settled
          assert.strictEqual((yield* ask(() => admin.grants.list({ principal: bot.id }))).items.length, 0)
        }),
      )

      it.effect("G-38 S4-103 what is refused when it is made, after the approval, is audited as denied", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const eve = yield* ask(() => admin.principals.add({ kind: "person", name: "Eve", roles: ["admin"] }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: eve.id }))
          const bot = yield* ask(() => admin.principals.add({ kind: "agent", name: "third bot" }))
          const grant = { principal: bot.id, resource: "house/doctor", actions: ["read" as const] }
          const one = waits(yield* ask(() => as(token).grants.add(grant)))
          // She stays, and her token too, but without the right.
          yield* ask(() => admin.principals.change(eve.id, { roles: ["member"] }))
          yield* ask(() => admin.decisions.answer(one, { verdict: "approve" }))
          yield* settled
          assert.strictEqual((yield* ask(() => admin.grants.list({ principal: bot.id }))).items.length, 0)
          yield* (yield* Readers).receipt("audit")
          const { items } = yield* ask(() => admin.audit.list({ principal: eve.id, result: "denied" }))
          assert.lengthOf(items, 1)
          assert.deepInclude(items[0]!, { principal: eve.id, resource: "grants/third bot" })
        }),
      )
    },
  )

const careful = {
  ...roomy,
  policies: [{ principal: "role:admin", resource: "grants/*", actions: ["delete"], effect: "ask" }],
}
layer(house({ store: "sqlite", config: careful }), { excludeTestServices: true, timeout: 30_000 })(
  "a second person for what is taken away",
  (it) => {
    it.effect("G-38 what a program asks for is agreed to by two people: one of them may have its token", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const names = ["Ivy", "Jon"]
        const people = yield* Effect.forEach(names, (name) =>
          ask(() => admin.principals.add({ kind: "person", name, roles: ["admin"] })),
        )
        const [ivy, jon] = yield* Effect.forEach(people, ({ id }) =>
          Effect.map(
            ask(() => admin.tokens.add({ principal: id })),
            ({ token }) => as(token),
          ),
        )
        const robot = yield* ask(() => admin.principals.add({ kind: "service", name: "robot", roles: ["admin"] }))
        const service = as((yield* ask(() => ivy!.tokens.add({ principal: robot.id }))).token)
        const bot = yield* ask(() => admin.principals.add({ kind: "agent", name: "scout-two" }))
        yield* ask(() => admin.grants.add({ principal: bot.id, resource: "house/doctor", actions: ["read"] }))
        const grants = Effect.map(
          ask(() => admin.grants.list({ principal: bot.id })),
          ({ items }) => items,
        )
        const [grant] = yield* grants
        const id = waits((yield* ask(() => service.grants.revoke(grant!.id))) as object)
        assert.deepInclude(yield* ask(() => ivy!.decisions.answer(id, { verdict: "approve" })), { state: "open" })
        yield* (yield* Readers).receipt("rights-changes")
        assert.lengthOf(yield* grants, 1)
        assert.deepInclude(yield* ask(() => jon!.decisions.answer(id, { verdict: "approve" })), { state: "answered" })
        yield* (yield* Readers).receipt("rights-changes")
        assert.lengthOf(yield* grants, 0)
      }),
    )

    it.effect("G-38 the revocation of a grant waits where the policy speaks of deleting", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const grace = yield* ask(() => admin.principals.add({ kind: "person", name: "Grace", roles: ["admin"] }))
        const second = as((yield* ask(() => admin.tokens.add({ principal: grace.id }))).token)
        const bot = yield* ask(() => admin.principals.add({ kind: "agent", name: "bot" }))
        const grants = Effect.map(
          ask(() => admin.grants.list({ principal: bot.id })),
          ({ items }) => items,
        )
        yield* ask(() => admin.grants.add({ principal: bot.id, resource: "house/doctor", actions: ["read"] }))
        const [grant] = yield* grants
        const answer = yield* ask(() => admin.grants.revoke(grant!.id))
        assert.deepInclude(answer as object, { state: "waiting" })
        assert.lengthOf(yield* grants, 1)
        const [revoked] = (yield* ask(() => second.decisions.list({ state: "open" }))).items
        yield* ask(() => second.decisions.answer(revoked!.id, { verdict: "approve" }))
        yield* (yield* Readers).receipt("rights-changes")
        assert.lengthOf(yield* grants, 0)
      }),
    )
  },
)

// "admin" includes reading, and nobody can be asked about that.
const tooWide = {
  ...roomy,
  policies: [
    { principal: "role:admin", resource: "grants/*", actions: ["admin"], effect: "ask" },
    { principal: "role:admin", resource: "pauses/*", actions: ["admin"], effect: "ask" },
  ],
}
layer(house({ store: "sqlite", config: tooWide }), { excludeTestServices: true, timeout: 30_000 })(
  "a policy that asks about what cannot wait",
  (it) => {
    it.effect("G-38 the refusal names the policy and what to change in it, and no grant", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const reading = yield* refused(() => admin.grants.list())
        assert.deepStrictEqual([reading.status, reading.tag], [403, "Forbidden"])
        assert.match(
          reading.message,
          /rule: policy:0\)\. policies\.0 of the configuration file says "ask", .* a grant does not help\. .* its actions are \["write"\]/,
        )
        assert.notInclude(reading.message, "An admin can grant")
        const pausing = yield* refused(() => admin.pauses.set({ subject: "everything" }))
        assert.match(pausing.message, /rule: policy:1\)\. policies\.1 .* An operator can change that policy\.$/)
      }),
    )
  },
)

// As docs/user/rights.md gives it.
const documented = {
  ...roomy,
  policies: [
    { principal: "role:admin", resource: "grants/*", actions: ["write", "delete"], effect: "ask" },
    { principal: "role:admin", resource: "principals/*", actions: ["write"], effect: "ask" },
  ],
}
layer(house({ store: "sqlite", config: documented }), { excludeTestServices: true, timeout: 30_000 })(
  "a second person for grants and roles",
  (it) => {
    it.effect(
      "G-38 grants and roles wait, and can be read meanwhile; a pause of everything leaves the questions about them open",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { journal, principals } = yield* Effect.all({ journal: Journal, principals: Principals })
          const [second, bot] = yield* Effect.orDie(
            journal.transact(
              Effect.all([
                principals.add({ kind: "person", name: "Kim", roles: ["admin"] }),
                principals.add({ kind: "agent", name: "scout-three" }),
              ]),
            ),
          )
          const grant = { principal: bot.id, resource: "house/doctor", actions: ["read"] } as const
          const first = waits(yield* ask(() => admin.grants.add(grant)))
          const role = waits(yield* ask(() => admin.principals.change(bot.id, { roles: ["agent-basic"] })))
          assert.deepStrictEqual((yield* ask(() => admin.grants.list({ principal: bot.id }))).items, [])
          assert.strictEqual((yield* ask(() => admin.principals.get(second.id))).name, "Kim")
          yield* ask(() => admin.pauses.set({ subject: "everything" }))
          for (const reader of ["calls", "decisions", "rights-changes"]) yield* (yield* Readers).receipt(reader)
          for (const id of [first, role])
            assert.deepInclude(yield* ask(() => admin.decisions.get(id)), { state: "open" })
          yield* ask(() => admin.pauses.lift("everything"))
        }),
    )
  },
)

const named = {
  ...roomy,
  policies: [
    { principal: "role:admin", resource: "grants/scout", actions: ["write", "admin", "delete"], effect: "ask" },
  ],
}
layer(house({ store: "sqlite", config: named }), { excludeTestServices: true, timeout: 30_000 })(
  "a second person for the grants of somebody",
  (it) => {
    it.effect(
      "G-38 grants are given and taken away with a second person where the policy names whose grants they are; the question says what it forbids",
      () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const hal = yield* ask(() => admin.principals.add({ kind: "person", name: "Hal", roles: ["admin"] }))
          const second = as((yield* ask(() => admin.tokens.add({ principal: hal.id }))).token)
          const scout = yield* ask(() => admin.principals.add({ kind: "agent", name: "scout" }))
          const wanted = { resource: "secrets/*", actions: ["read"], effect: "deny" } as const
          const id = waits(yield* ask(() => admin.grants.add({ principal: "scout", ...wanted })))
          assert.match(
            (yield* ask(() => second.decisions.get(id))).question,
            /^admin wants to change rights: scout may no longer read "secrets\/\*"\.$/,
          )
          // It is for who was meant, whoever has the name by then.
          yield* ask(() => admin.principals.change(scout.id, { name: "scout-old" }))
          const other = yield* ask(() => admin.principals.add({ kind: "agent", name: "scout" }))
          yield* ask(() => second.decisions.answer(id, { verdict: "approve" }))
          yield* (yield* Readers).receipt("rights-changes")
          const grants = (of: { readonly id: string }) => ask(() => admin.grants.list({ principal: of.id }))
          assert.lengthOf((yield* grants(other)).items, 0)
          const [grant] = (yield* grants(scout)).items
          yield* ask(() => admin.principals.change(other.id, { name: "scout-new" }))
          yield* ask(() => admin.principals.change(scout.id, { name: "scout" }))
          const revoked = waits((yield* ask(() => admin.grants.revoke(grant!.id))) as object)
          const { question } = yield* ask(() => second.decisions.get(revoked))
          assert.match(question, /: scout loses the grant gnt_\S+: deny read on "secrets\/\*"\.$/)
          assert.lengthOf((yield* grants(scout)).items, 1)
        }),
    )
  },
)
