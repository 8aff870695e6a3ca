/** How long a judgement rests on what was read before: five minutes at most, and never past a change of rights. */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, Guest, house, made } from "../house.ts"
import { withBrokenDisk } from "../stores.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { timeout: 30_000 })(`judgements over time on ${store}`, (it) => {
    it.effect("S4-104 what was read of somebody's rules is read again after five minutes", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const pam = yield* ask(() => admin.principals.add({ kind: "service", name: "pam" }))
        const { token } = yield* ask(() => admin.tokens.add({ principal: pam.id }))
        const grant = made(
          yield* ask(() => admin.grants.add({ principal: pam.id, resource: "tools/x", actions: ["execute"] })),
        )
        const verdict = Effect.map(
          ask(() => as(token).grants.judge({ action: "execute", resource: "tools/x" })),
          (said) => said.verdict,
        )
        assert.strictEqual(yield* verdict, "allow")
        // Behind the house's back: no change of rights is told.
        yield* sql`UPDATE grants SET resource = 'elsewhere' WHERE id = ${grant.id}`
        yield* TestClock.adjust({ minutes: 4, seconds: 59 })
        assert.strictEqual(yield* verdict, "allow")
        yield* TestClock.adjust({ seconds: 2 })
        assert.strictEqual(yield* verdict, "deny")
      }).pipe(Effect.orDie),
    )

    // On Postgres the epoch is asked for with each request.
    if (store === "sqlite")
      it.effect("S4-104 a change of rights that the disk did not acknowledge is felt all the same", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const tom = yield* ask(() => admin.principals.add({ kind: "service", name: "tom" }))
          const { id, token } = yield* ask(() => admin.tokens.add({ principal: tom.id }))
          const me = Effect.exit(ask(() => as(token).principals.me()))
          assert.isTrue(Exit.isSuccess(yield* me))
          const revoked = yield* withBrokenDisk(Effect.exit(ask(() => admin.tokens.revoke(id))))
          assert.isTrue(Exit.isFailure(revoked))
          // It is in the database: whoever has a token that is revoked there does not come in.
          assert.isTrue(Exit.isFailure(yield* me))
        }).pipe(Effect.orDie),
      )
  })
