/** The resource of a right: only its kind is known beforehand, and must not be almost one that exists. */
import { assert, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest, house, made } from "../house.ts"

const refused = <A>(question: () => Promise<A>) =>
  Effect.flip(ask(question) as Effect.Effect<A, StoaError>).pipe(Effect.orDie)

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`resources on ${store}`, (it) => {
    it.effect("a right on a resource that is almost of the house is refused; one that was stored before stays", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const pam = yield* ask(() => admin.principals.add({ kind: "agent", name: "pam" }))
        const right = { resource: "tool/foo", actions: ["execute" as const] }
        const words = /^there is no resource "tool\/foo"; did you mean "tools\/foo"\? .*tools\//
        for (const effect of ["allow", "ask", "deny"] as const) {
          const error = yield* refused(() => admin.grants.add({ principal: pam.name, ...right, effect }))
          assert.strictEqual(error.status, 400)
          assert.match(error.issues[0]!.message, words)
        }
        const lent = yield* refused(() => admin.delegations.add({ to: pam.name, ...right, reason: "covers for me" }))
        assert.strictEqual(lent.status, 400)
        assert.match(lent.issues[0]!.message, words)
        // Only the kind is known beforehand: a tool may come later.
        const later = { principal: pam.name, ...right, resource: "tools/not-there-yet" }
        const grant = made(yield* ask(() => admin.grants.add(later)))
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE grants SET resource = 'tool/foo' WHERE id = ${grant.id}`
        const { items } = yield* ask(() => admin.grants.list({ principal: pam.name }))
        assert.deepStrictEqual(
          items.map(({ resource }) => resource),
          ["tool/foo"],
        )
        const judged = yield* ask(() =>
          admin.grants.judge({ principal: pam.id, action: "execute", resource: "tool/foo" }),
        )
        assert.strictEqual(judged.rule, `grant:${grant.id}`)
        yield* ask(() => admin.grants.revoke(grant.id))
      }),
    )
  })
