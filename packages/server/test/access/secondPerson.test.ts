/** G-38: where a policy says `ask`, a change of rights becomes a decision, and is made when a second person has agreed. */
import { assert, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/Readers.ts"
import { ask, Guest, house, made, roomy } from "../house.ts"

const asks = (resource: string) => ({ principal: "role:admin", resource, actions: ["write"], effect: "ask" })
const config = { ...roomy, policies: [asks("allow-lists/*"), asks("grants/*"), asks("principals/trusted*")] }

const refused = <A>(question: () => Promise<A>) =>
  Effect.flip(ask(question) as Effect.Effect<A, StoaError>).pipe(Effect.orDie)

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, config }), { excludeTestServices: true, timeout: 30_000 })(
    `a second person on ${store}`,
    (it) => {
      const waits = (answer: object): string => {
        assert.deepInclude(answer, { state: "waiting" })
        return (answer as { readonly on: { readonly id: string } }).on.id
      }
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
        "G-38 a list, a grant, its revocation and a role wait for a second admin: yes makes them, no does not",
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
            assert.match(shown.question, /admin wants to change rights: .*"whoami".* It is \["\*"\] now\./)
            // Never by whoever asked.
            assert.strictEqual(
              (yield* refused(() => admin.decisions.answer(denied, { verdict: "approve" }))).status,
              403,
            )
            yield* decide(denied, "deny")
            assert.deepStrictEqual(yield* tools, ["*"])

            const approved = waits(yield* ask(() => admin.allowLists.set("stoa", "agent", { tools: ["whoami"] })))
            assert.deepStrictEqual(yield* tools, ["*"])
            yield* decide(approved, "approve")
            assert.deepStrictEqual(yield* tools, ["whoami"])

            const grant = { principal: bot.id, resource: "house/doctor", actions: ["read" as const] }
            yield* decide(waits(yield* ask(() => admin.grants.add(grant))), "approve")
            const { items } = yield* ask(() => admin.grants.list({ principal: bot.id }))
            assert.deepInclude(items[0]!, { resource: "house/doctor", effect: "allow" })
            // Taking a right away asks nobody: the policy speaks of writing.
            yield* ask(() => admin.grants.revoke(items[0]!.id))
            assert.strictEqual((yield* ask(() => admin.grants.list({ principal: bot.id }))).items.length, 0)

            const roles = waits(yield* ask(() => admin.principals.change(bot.id, { roles: ["orchestrator"] })))
            assert.deepStrictEqual((yield* ask(() => admin.principals.get(bot.id))).roles, ["agent-standard"])
            yield* decide(roles, "approve")
            assert.deepStrictEqual((yield* ask(() => admin.principals.get(bot.id))).roles, ["orchestrator"])
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
    },
  )
