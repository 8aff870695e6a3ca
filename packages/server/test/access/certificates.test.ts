/** Certificates (S4-102) renew themselves, and nothing else comes from them or lasts longer than what made them. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest, house } from "../house.ts"
import { fresh, refused } from "../spaces/spacesGuests.ts"

const adminWith = Effect.fnUntraced(function* (token: object) {
  const { admin } = yield* Guest
  const principal = yield* ask(() => admin.principals.add({ kind: "person", name: fresh("boss"), roles: ["admin"] }))
  return { principal, issued: yield* ask(() => admin.tokens.add({ principal: principal.id, ...token })) }
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`certificates on ${store}`, (it) => {
    it.effect("a certificate makes no token and rotates no other, nor does a browser that signed in with it", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const tokens = yield* Tokens
        const { transact } = yield* Journal
        const { issued, principal } = yield* adminWith({ certificate: true })
        const plain = yield* ask(() => admin.tokens.add({ principal: principal.id }))
        const boss = as(issued.token)
        const makes = "a certificate makes no other token"
        const tried = [
          yield* refused(() => boss.tokens.add({ principal: principal.id })),
          yield* refused(() => boss.tokens.add({ principal: principal.id, certificate: true })),
          yield* refused(() => boss.tokens.rotate(plain.id)),
        ]
        const rules = [makes, makes, "a certificate rotates only itself"]
        assert.deepStrictEqual(
          tried.map(({ status }) => status),
          [403, 403, 403],
        )
        yield* (yield* Readers).receipt("audit")
        const { items } = yield* ask(() => admin.audit.list({ principal: principal.id, result: "denied" }))
        assert.includeMembers(
          items.map(({ rule }) => rule),
          rules,
        )
        const session = yield* transact(tokens.openSession(yield* tokens.authenticate(issued.token)))
        const browser = yield* tokens.authenticateSession(Redacted.value(session.token))
        const error = yield* Effect.flip(transact(tokens.issue({ principal: principal.id }, { caller: browser })))
        assert.strictEqual((error as { readonly rule?: string }).rule, makes)
        // Itself it renews.
        const next = yield* ask(() => boss.tokens.rotate(issued.id))
        assert.strictEqual((yield* ask(() => as(next.token).principals.me())).id, principal.id)
      }),
    )

    it.effect("a certificate is not renewed past the end of a token that made or rotated it", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const end = DateTime.formatIso(DateTime.add(yield* DateTime.now, { minutes: 10 }))
        const { issued: short, principal } = yield* adminWith({ expiresAt: end })
        const made = yield* ask(() => as(short.token).tokens.add({ principal: principal.id, certificate: true }))
        const lasting = yield* ask(() => admin.tokens.add({ principal: principal.id, certificate: true }))
        const rotated = yield* ask(() => as(short.token).tokens.rotate(lasting.id))
        for (const first of [made, rotated]) {
          const second = yield* ask(() => as(first.token).tokens.rotate(first.id))
          const third = yield* ask(() => as(second.token).tokens.rotate(second.id))
          // Nor by somebody whose token does not expire.
          const fourth = yield* ask(() => admin.tokens.rotate(third.id))
          assert.deepStrictEqual(
            [first, second, third, fourth].map(({ expiresAt }) => expiresAt),
            [end, end, end, end],
          )
        }
      }),
    )
  })
