/**
 * No way up: whatever a token makes, rotates or lends is no stronger, longer or wider than itself. Tried with random acts
 * from many standings, on both databases; what came of it is read from the rows.
 */
import { assert, layer } from "@effect/vitest"
import { type AccessContext, Action, type Principal } from "@stoa/contract"
import type { StoaError } from "@stoa/sdk"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest, house, made, roomy } from "../house.ts"

const refused = <A>(question: () => Promise<A>) =>
  Effect.flip(ask(question) as Effect.Effect<A, StoaError>).pipe(Effect.orDie)

const contexts: ReadonlyArray<AccessContext> = ["crossroads", "agent", "internal"]
const isWithin = (one: AccessContext, bound: AccessContext) => contexts.indexOf(one) <= contexts.indexOf(bound)
const rank = { deny: 0, ask: 1, allow: 2 }
const probes = [
  "tools/x",
  "tools/danger",
  "spaces/s",
  "tokens/victim",
  "grants/g",
  "secrets/s",
  "house/backup",
  "principals/p",
]

let count = 0
const someone = Effect.fnUntraced(function* (kind: Principal["kind"], over: object = {}) {
  const { admin } = yield* Guest
  const name = `${kind}-${++count}`
  return yield* ask(() => admin.principals.add({ kind, name, ...over }))
})
const soon = Effect.map(DateTime.now, (now) => DateTime.formatIso(DateTime.add(now, { minutes: 1 })))

/** What the rules say of somebody for every probe, where its token stands. */
const coverageOf = Effect.fnUntraced(function* (who: string, context: AccessContext) {
  const grants = yield* Grants
  const principal = yield* (yield* Principals).get(who)
  const all: Array<number> = []
  for (const resource of probes)
    for (const action of Action.literals)
      all.push(rank[(yield* grants.judgeOf(principal, action, resource, context)).verdict])
  return all
})
const widest = (some: ReadonlyArray<number>, others: ReadonlyArray<number>) =>
  some.map((one, at) => Math.max(one, others[at]!))

/** Whoever begins: roles, grants of an admin, and where its token stands and when it ends. */
const standings = [
  { kind: "person", roles: ["admin"], grants: [], context: "crossroads", ends: true },
  { kind: "person", roles: ["admin"], grants: [], context: "internal", ends: true },
  { kind: "person", roles: ["admin"], grants: [], context: "agent", ends: false },
  {
    kind: "agent",
    roles: ["agent-standard"],
    grants: ["principals/*", "tokens/*", "grants/*"],
    context: "agent",
    ends: false,
  },
  { kind: "agent", roles: ["guest"], grants: ["tokens/*", "principals/*"], context: "agent", ends: true },
  {
    kind: "service",
    roles: ["orchestrator"],
    grants: ["allow-lists/*", "delegations/*"],
    context: "crossroads",
    ends: false,
  },
] as const

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, config: roomy }), { excludeTestServices: true, timeout: 120_000 })(
    `no way up on ${store}`,
    (it) => {
      it.effect(
        "the house's own admin token is neither rotated nor revoked: the next start would bring the old one back",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const { items } = yield* ask(() => admin.tokens.list({ principal: "admin" }))
            const own = items.find(({ madeFor }) => madeFor === "house")!
            const refusal = yield* refused(() => admin.tokens.rotate(own.id))
            assert.deepStrictEqual([refusal.status, refusal.tag], [409, "WrongState"])
            assert.match(refusal.message, /STOA_ADMIN_TOKEN/)
            const locked = yield* refused(() => admin.tokens.revoke(own.id))
            assert.deepStrictEqual([locked.status, locked.tag], [409, "WrongState"])
            assert.match(locked.message, /delete admin\.token/)
            assert.strictEqual((yield* ask(() => admin.principals.me())).name, "admin")
          }),
      )

      it.effect("a token that stands outside and ends soon does not get its principal's inner, endless one", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const boss = yield* someone("person", { roles: ["admin"] })
          const inner = yield* ask(() => admin.tokens.add({ principal: boss.id }))
          assert.deepInclude(inner, { context: "internal", expiresAt: null })
          const expiresAt = yield* soon
          const outside = yield* ask(() => admin.tokens.add({ principal: boss.id, context: "crossroads", expiresAt }))
          const { tokens } = as(outside.token)
          const stronger = yield* refused(() => tokens.rotate(inner.id))
          assert.deepStrictEqual([stronger.status, stronger.tag], [403, "Forbidden"])
          assert.match(stronger.message, /not beyond your token's context/)
          assert.match(
            (yield* refused(() => tokens.add({ principal: boss.id, context: "internal" }))).message,
            /stronger/,
          )
          const later = DateTime.formatIso(DateTime.add(yield* DateTime.now, { hours: 1 }))
          assert.match(
            (yield* refused(() => tokens.add({ principal: boss.id, expiresAt: later }))).message,
            /token's expiry/,
          )
          // What is not said is as the token is.
          const plain = yield* ask(() => tokens.add({ principal: boss.id }))
          assert.deepInclude(plain, { context: "crossroads", expiresAt: outside.expiresAt })
          // One that stands where it stands and has no end: the new one ends with the one that asked.
          const endless = yield* ask(() => admin.tokens.add({ principal: boss.id, context: "crossroads" }))
          const ended = yield* ask(() => tokens.rotate(endless.id))
          assert.deepInclude(ended, { context: "crossroads", expiresAt: outside.expiresAt })
          assert.strictEqual((yield* refused(() => as(endless.token).principals.me())).status, 401)
          const own = yield* ask(() => tokens.rotate(outside.id))
          assert.deepInclude(own, { context: "crossroads", expiresAt: outside.expiresAt })
          assert.strictEqual((yield* ask(() => as(inner.token).principals.me())).id, boss.id)
          // Audited as what it is.
          yield* (yield* Readers).receipt("audit")
          const { items } = yield* ask(() => admin.audit.list({ principal: boss.id, result: "denied" }))
          assert.include(
            items.map(({ rule }) => rule),
            "not beyond your token's context",
          )
        }),
      )

      it.effect(
        "an answer kept for an Idempotency-Key is told to the token that asked, and to no other of its principal",
        () =>
          Effect.gen(function* () {
            const { admin, as } = yield* Guest
            const boss = yield* someone("person", { roles: ["admin"] })
            const inner = yield* ask(() => admin.tokens.add({ principal: boss.id }))
            const outside = yield* ask(() => admin.tokens.add({ principal: boss.id, context: "crossroads" }))
            const idempotencyKey = `key-${store}`
            const first = yield* ask(() => as(inner.token).tokens.add({ principal: boss.id }, { idempotencyKey }))
            const again = yield* ask(() => as(inner.token).tokens.add({ principal: boss.id }, { idempotencyKey }))
            assert.strictEqual(again.token, first.token)
            const other = yield* refused(() => as(outside.token).tokens.add({ principal: boss.id }, { idempotencyKey }))
            assert.deepStrictEqual([other.status, other.tag], [409, "WrongState"])
          }),
      )

      it.effect("renaming oneself to whom the file favours, or away from whom it holds back, is no way up", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const clerk = yield* someone("agent")
          yield* ask(() =>
            admin.grants.add({ principal: clerk.id, resource: "principals/*", actions: ["read", "write"] }),
          )
          const held = yield* ask(() =>
            admin.grants.add({ principal: clerk.id, resource: "tools/danger", actions: ["execute"], effect: "deny" }),
          )
          yield* ask(() => admin.grants.add({ principal: clerk.id, resource: "grants/*", actions: ["read", "delete"] }))
          const { client } = { client: as((yield* ask(() => admin.tokens.add({ principal: clerk.id }))).token) }
          assert.strictEqual((yield* refused(() => client.grants.revoke(made(held).id))).status, 403)
          assert.strictEqual(
            (yield* refused(() => client.principals.change(clerk.id, { toolsets: ["engrams"] }))).status,
            403,
          )
          // A name of which no rule speaks may be taken.
          const renamed = made(yield* ask(() => client.principals.change(clerk.id, { name: `plain-${store}` })))
          assert.strictEqual(renamed.name, `plain-${store}`)
        }),
      )

      it.effect("S4-101 what is lent ends with the lender's token, and stands where it stood", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const [giver, taker] = yield* Effect.all([someone("agent"), someone("agent", { roles: ["guest"] })])
          const expiresAt = yield* soon
          const short = yield* ask(() => admin.tokens.add({ principal: giver.id, context: "crossroads", expiresAt }))
          const loan = yield* ask(() =>
            as(short.token).delegations.add({
              to: taker.id,
              resource: "tools/x",
              actions: ["execute"],
              reason: "help",
            }),
          )
          assert.deepInclude(loan, { expiresAt: short.expiresAt!, context: "crossroads" })
          const at = (context: AccessContext) =>
            Effect.gen(function* () {
              const token = yield* ask(() => admin.tokens.add({ principal: taker.id, context }))
              return (yield* ask(() => as(token.token).grants.judge({ action: "execute", resource: "tools/x" })))
                .verdict
            })
          assert.deepStrictEqual(yield* Effect.all([at("crossroads"), at("agent"), at("internal")]), [
            "allow",
            "deny",
            "deny",
          ])
        }),
      )

      it.effect("S4-101 what is lent ends at once when its token is revoked or rotated, with what was handed on", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const [giver, taker, third] = [
            yield* someone("agent"),
            yield* someone("agent", { roles: ["guest"] }),
            yield* someone("agent", { roles: ["guest"] }),
          ]
          const token = (who: { readonly id: string }) => ask(() => admin.tokens.add({ principal: who.id }))
          const help = { resource: "tools/x", actions: ["execute"], reason: "help" } as const
          const lend = (by: { readonly token: string }, to: { readonly id: string }) =>
            ask(() => as(by.token).delegations.add({ ...help, to: to.id }))
          const [takers, thirds] = [yield* token(taker), yield* token(third)]
          const may = (who: { readonly token: string }) =>
            ask(() => as(who.token).grants.judge({ action: "execute", resource: "tools/x" })).pipe(
              Effect.map(({ verdict }) => verdict === "allow"),
            )
          const both = Effect.all([may(takers), may(thirds)])
          for (const end of ["revoke", "rotate"] as const) {
            const [lost, other] = [yield* token(giver), yield* token(giver)]
            const first = yield* lend(lost, taker)
            const next = yield* lend(takers, third)
            const { id: kept } = yield* ask(() =>
              as(other.token).delegations.add({ ...help, to: taker.id, resource: "tools/y" }),
            )
            assert.deepStrictEqual(yield* both, [true, true])
            yield* ask(() => Promise.resolve(admin.tokens[end](lost.id)))
            assert.deepStrictEqual(yield* both, [false, false], end)
            const { items } = yield* ask(() => as(other.token).delegations.list())
            assert.isNotNull(items.find(({ id }) => id === first.id)!.revokedAt)
            // What another token has lent goes on.
            assert.isNull(items.find(({ id }) => id === kept)!.revokedAt)
            for (const { id } of [first, next]) {
              const said =
                yield* sql`SELECT kind FROM journal WHERE kind = 'delegation.revoked' AND body LIKE ${`%${id}%`}`
              assert.lengthOf(said, 1)
            }
          }
        }),
      )

      it.effect("nobody is freed from the rules of those above by being moved: that takes an admin of it", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const [lead, kid, other] = [yield* someone("agent"), yield* someone("agent"), yield* someone("agent")]
          yield* ask(() => admin.agents.change(kid.id, { parent: lead.id }))
          yield* ask(() =>
            admin.grants.add({ principal: lead.id, resource: "tools/danger", actions: ["execute"], effect: "deny" }),
          )
          const helper = yield* someone("person")
          yield* ask(() => admin.grants.add({ principal: helper.id, resource: "principals/*", actions: ["write"] }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: helper.id }))
          const before = yield* coverageOf(kid.id, "agent")
          for (const parent of [null, other.id, other.name])
            assert.strictEqual((yield* refused(() => as(token).agents.change(kid.id, { parent }))).status, 403)
          // What writing gives stays: who it is told to be.
          yield* ask(() => as(token).agents.change(kid.id, { persona: "Works." }))
          assert.deepStrictEqual(yield* coverageOf(kid.id, "agent"), before)
          yield* ask(() => admin.agents.change(kid.id, { parent: null }))
          assert.notDeepEqual(yield* coverageOf(kid.id, "agent"), before)
        }),
      )

      it.effect("an ask that came with a loan does not make the receiver's own calls wait", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const lender = yield* someone("agent")
          const boss = yield* someone("person", { roles: ["admin"] })
          const guest = yield* someone("agent", { roles: ["guest"] })
          const before = yield* coverageOf(boss.id, "agent")
          const { token } = yield* ask(() => admin.tokens.add({ principal: lender.id }))
          for (const to of [boss.id, guest.id])
            yield* ask(() =>
              as(token).delegations.add({ to, resource: "tools/*", actions: ["execute"], reason: "holiday" }),
            )
          yield* ask(() =>
            admin.grants.add({ principal: lender.id, resource: "tools/*", actions: ["execute"], effect: "ask" }),
          )
          assert.deepStrictEqual(yield* coverageOf(boss.id, "agent"), before)
          const judged = yield* ask(() =>
            admin.grants.judge({ principal: guest.id, action: "execute", resource: "tools/x" }),
          )
          assert.strictEqual(judged.verdict, "ask")
        }),
      )

      for (const [number, standing] of standings.entries())
        it.effect(
          `random acts of ${standing.roles[0]} (${standing.context}${standing.ends ? ", ending" : ""}) reach nothing wider`,
          () =>
            Effect.gen(function* () {
              const { admin, as } = yield* Guest
              const sql = yield* SqlClient.SqlClient
              const start = yield* someone(standing.kind, { roles: standing.roles })
              for (const resource of standing.grants)
                yield* ask(() =>
                  admin.grants.add({ principal: start.id, resource, actions: ["read", "write", "delete"] }),
                )
              yield* ask(() =>
                admin.grants.add({
                  principal: start.id,
                  resource: "tools/danger",
                  actions: ["execute"],
                  effect: "deny",
                }),
              )
              const ends = standing.ends ? { expiresAt: yield* soon } : {}
              const token = yield* ask(() =>
                admin.tokens.add({ principal: start.id, context: standing.context, ...ends }),
              )
              const strong = yield* ask(() => admin.tokens.add({ principal: start.id }))
              const friend = yield* someone("agent", { roles: ["agent-basic"] })
              const friendToken = yield* ask(() => admin.tokens.add({ principal: friend.id }))
              const victim = yield* someone("person", { roles: ["admin"] })
              const victimToken = yield* ask(() => admin.tokens.add({ principal: victim.id }))
              const bound = yield* coverageOf(start.id, standing.context)
              const friendBefore = yield* coverageOf(friend.id, "agent")
              const since = DateTime.formatIso(yield* DateTime.now)
              const known: Array<{ readonly id: string; readonly token: string; readonly principal: string }> = [
                token,
                friendToken,
              ]
              const ids = [token.id, strong.id, friendToken.id, victimToken.id]
              const people = [start.id, friend.id, victim.id]

              const pick = <A>(all: ReadonlyArray<A>) => fc.constantFrom(...all)
              const act = fc.record({
                by: fc.nat(20),
                what: pick(["add", "rotate", "lend", "grant", "roles", "list", "principal", "revoke"] as const),
                whom: fc.nat(20),
                id: fc.nat(20),
                context: fc.option(pick(contexts), { nil: undefined }),
                hours: fc.option(fc.integer({ min: -1, max: 23 }), { nil: undefined }),
                resource: pick(["*", "tools/*", "tools/danger", "tokens/*", "grants/*", "spaces/*"]),
                action: pick(Action.literals),
                role: pick(["admin", "orchestrator", "member", "agent-standard"] as const),
              })
              const acts = fc.sample(act, { numRuns: 80, seed: 1100 + number })
              let worked = 0
              for (const one of acts) {
                const { token: by } = known[one.by % known.length]!
                const client = as(by)
                const whom = people[one.whom % people.length]!
                const id = ids[one.id % ids.length]!
                const when =
                  one.hours === undefined
                    ? {}
                    : {
                        expiresAt: DateTime.formatIso(
                          DateTime.add(yield* DateTime.now, { hours: one.hours, seconds: 20 }),
                        ),
                      }
                const where = one.context === undefined ? {} : { context: one.context }
                const rights = { resource: one.resource, actions: [one.action] }
                const tries: Record<typeof one.what, () => Promise<unknown>> = {
                  add: () => client.tokens.add({ principal: whom, ...where, ...when }),
                  rotate: () => client.tokens.rotate(id),
                  lend: () => client.delegations.add({ to: whom, reason: "r", ...rights, ...when }),
                  grant: () => client.grants.add({ principal: whom, ...rights, ...when }),
                  roles: () => client.principals.change(whom, { roles: [one.role] }),
                  list: () => client.allowLists.set("stoa", "crossroads", { tools: ["*"] }),
                  principal: () => client.principals.add({ kind: "agent", name: `new-${++count}`, roles: [one.role] }),
                  revoke: () => client.grants.list({ principal: whom }),
                }
                const got = yield* Effect.option(ask(tries[one.what]))
                if (got._tag === "None") continue
                worked++
                const value = got.value as { id?: string; token?: string; principal?: string; kind?: string }
                if (value.token !== undefined && known.length < 12) {
                  known.push(value as (typeof known)[number])
                  ids.push(value.id!)
                }
                if (value.kind === "agent") people.push(value.id!)
              }
              assert.isAbove(worked, 0)

              // Every token that was got is within the one it began with, or within the friend's own.
              const rows = yield* sql<{
                id: string
                principal: string
                context: AccessContext
                expiresAt: string | null
              }>`
            SELECT id, principal, context, expires_at FROM tokens WHERE created_at >= ${since}`
              for (const row of rows) {
                const gotten = known.find((one) => one.id === row.id)
                if (gotten === undefined) continue
                const ofFriend = row.principal === friend.id && row.context === "agent"
                assert.isTrue(ofFriend || isWithin(row.context, standing.context), `${row.id} stands in ${row.context}`)
                if (standing.ends && !ofFriend)
                  assert.isTrue(
                    row.expiresAt !== null && row.expiresAt <= token.expiresAt!,
                    `${row.id} ends ${row.expiresAt}`,
                  )
                const reach = yield* coverageOf(row.principal, row.context)
                const most = widest(bound, friendBefore)
                reach.forEach((now, at) =>
                  assert.isAtMost(now, most[at]!, `${row.principal}: ${probes[Math.floor(at / 5)]}`),
                )
              }
              // What was given or lent ends with the token it was given with.
              const given = yield* sql<{ expiresAt: string | null; context: AccessContext }>`
            SELECT expires_at, context FROM delegations WHERE giver = ${start.id} AND created_at >= ${since}`
              for (const loan of given) {
                assert.isTrue(isWithin(loan.context, standing.context))
                if (standing.ends) assert.isTrue(loan.expiresAt! <= token.expiresAt!)
              }
              const grants = yield* sql<{ expiresAt: string | null }>`
            SELECT expires_at FROM grants WHERE created_at >= ${since} AND effect = 'allow'`
              if (standing.context !== "internal") assert.strictEqual(grants.length, 0)
              for (const grant of grants) assert.isTrue(grant.expiresAt !== null && grant.expiresAt <= token.expiresAt!)
              // Whoever was there before is what they were: no role outlives a token that ends, or comes from outside.
              const now = yield* Effect.all([friend, victim].map(({ id }) => ask(() => admin.principals.get(id))))
              assert.deepStrictEqual(
                now.map(({ roles }) => roles.includes("admin")),
                [false, standing.roles[0] !== "admin" || now[1]!.roles.includes("admin")],
              )
            }),
        )
    },
  )
