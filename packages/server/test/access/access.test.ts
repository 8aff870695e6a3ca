/** Access through the door, on both databases: who is asking, may they, and what is written down of it. */
import { assert, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import { DateTime, Effect, Redacted, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { pause } from "../../../../test/pause.ts"
import { Audit } from "../../src/access/audit/Audit.ts"
import { hashOfRow } from "../../src/access/audit/auditOf.ts"
import { endsOf, lastingIn, moveHead } from "../../src/access/audit/ends.ts"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Secrets } from "../../src/access/secrets/Secrets.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { rightsChanged } from "../../src/access/rights/Rights.ts"
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
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`access on ${store}`, (it) => {
    it.effect("X-27 the caller is who the token says, whatever the request claims", () =>
      Effect.gen(function* () {
        const { raw } = yield* Guest
        const pam = yield* someone("agent")
        const headers = { authorization: `Bearer ${pam.token.token}`, "x-agent-id": "admin", "x-principal": "admin" }
        const answer = yield* ask(() => raw("/api/v1/me?principal=admin&agentId=admin", { headers }))
        assert.strictEqual(((yield* ask(() => answer.json())) as { id: string }).id, pam.principal.id)
      }),
    )

    it.effect("a token is 256 random bits, shown once, stored as a hash, and its last use is shown", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const pam = yield* someone("agent")
        assert.match(pam.token.token, /^stoa_[A-Za-z0-9_-]{43}$/)
        const rows = yield* sql`SELECT * FROM tokens`
        assert.isFalse(JSON.stringify(rows).includes(pam.token.token))
        yield* ask(() => pam.client.principals.me())
        const listed = yield* ask(() => admin.tokens.list({ principal: pam.name }))
        assert.isFalse("token" in listed.items[0]!)
        // Noted in the background: asked for until it is there.
        const used = yield* ask(() => admin.tokens.list({ principal: pam.name })).pipe(
          Effect.repeat({ until: (page) => page.items[0]!.lastUsedAt !== null }),
        )
        assert.isNotNull(used.items[0]!.lastUsedAt)
      }),
    )

    it.effect("revoked, expired and unknown tokens are refused alike, and at once", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const pam = yield* someone("agent")
        yield* ask(() => pam.client.principals.me())
        yield* ask(() => admin.tokens.revoke(pam.token.id))
        const revoked = yield* refused(() => pam.client.principals.me())
        const unknown = yield* refused(() => as("stoa_nobody").principals.me())
        assert.deepStrictEqual(
          [revoked.status, revoked.tag, revoked.message],
          [401, "Unauthenticated", unknown.message],
        )
        // Long enough to be used once, which a slow machine decides.
        const short = yield* Effect.gen(function* () {
          for (let milliseconds = 300; ; milliseconds *= 3) {
            const expiresAt = DateTime.formatIso(DateTime.add(yield* DateTime.now, { milliseconds }))
            const issued = yield* ask(() => admin.tokens.add({ principal: pam.name, expiresAt }))
            const used = yield* Effect.exit(ask(() => as(issued.token).principals.me()))
            if (used._tag === "Success") return issued
          }
        })
        const expired = yield* ask(() => as(short.token).principals.me().then(pause)).pipe(Effect.forever, Effect.flip)
        assert.strictEqual((expired as StoaError).status, 401)
        const past = yield* refused(() => admin.tokens.add({ principal: pam.name, expiresAt: "2020-01-01T00:00:00Z" }))
        assert.deepStrictEqual([past.status, past.issues[0]!.path], [400, "expiresAt"])
      }),
    )

    it.effect(
      "S4-102 a certificate lives seven days; rotation revokes the old one; revoked and expired are refused",
      () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const pam = yield* someone("agent")
          const first = yield* ask(() => admin.tokens.add({ principal: pam.name, certificate: true }))
          const life = Date.parse(first.expiresAt!) - Date.parse(first.createdAt)
          assert.strictEqual(life, 7 * 24 * 3600 * 1000)
          const second = yield* ask(() => as(first.token).tokens.rotate(first.id))
          assert.strictEqual((yield* refused(() => as(first.token).principals.me())).status, 401)
          assert.strictEqual((yield* ask(() => as(second.token).principals.me())).name, pam.name)
          assert.strictEqual(Date.parse(second.expiresAt!) - Date.parse(second.createdAt), life)
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${second.id}`
          yield* (yield* Journal).transact(rightsChanged)
          assert.strictEqual((yield* refused(() => as(second.token).principals.me())).status, 401)
        }),
    )

    it.effect(
      "S4-101 delegation: what one has, a day at most, three deep, with a reason, and revocable with all that follows",
      () =>
        Effect.gen(function* () {
          const [one, two, three, four, five] = yield* Effect.all(
            [1, 2, 3, 4, 5].map(() => someone("agent", { roles: ["guest"] })),
          )
          const { admin } = yield* Guest
          yield* ask(() => admin.grants.add({ principal: one!.name, resource: "tools/search/*", actions: ["execute"] }))
          const give =
            (from: typeof one, to: typeof one, over: object = {}) =>
            () =>
              from!.client.delegations.add({
                to: to!.name,
                resource: "tools/search/web",
                actions: ["execute"],
                reason: "holiday",
                ...over,
              })
          const may = (who: typeof one) =>
            Effect.map(
              ask(() => who!.client.grants.judge({ action: "execute", resource: "tools/search/web" })),
              (it) => it.verdict,
            )
          assert.strictEqual((yield* refused(give(one, two, { resource: "tools/*" }))).status, 403)
          assert.strictEqual((yield* refused(give(one, two, { reason: " " }))).status, 400)
          const late = DateTime.formatIso(DateTime.add(yield* DateTime.now, { hours: 25 }))
          assert.strictEqual((yield* refused(give(one, two, { expiresAt: late }))).status, 400)
          const first = yield* ask(give(one, two))
          assert.strictEqual(first.depth, 1)
          assert.isAtMost(Date.parse(first.expiresAt) - Date.parse(first.createdAt), 24 * 3600 * 1000)
          assert.strictEqual((yield* ask(give(two, three))).depth, 2)
          assert.strictEqual((yield* ask(give(three, four))).depth, 3)
          assert.strictEqual((yield* refused(give(four, five))).status, 403)
          assert.deepStrictEqual(yield* Effect.all([may(two), may(four)]), ["allow", "allow"])
          assert.strictEqual((yield* refused(() => four!.client.delegations.revoke(first.id))).status, 404)
          yield* ask(() => one!.client.delegations.revoke(first.id))
          assert.deepStrictEqual(yield* Effect.all([may(two), may(three), may(four)]), ["deny", "deny", "deny"])
        }),
    )

    it.effect(
      "S4-101 what is lent reaches no further than the giver's own rights, now: denies, asks and leaving count",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [giver, taker] = yield* Effect.all([
            someone("agent", { roles: ["guest"] }),
            someone("agent", { roles: ["guest"] }),
          ])
          const grant = (resource: string, effect: "allow" | "deny" | "ask") =>
            ask(() => admin.grants.add({ principal: giver.name, resource, actions: ["execute", "read"], effect }))
          yield* grant("tools/*", "allow")
          yield* ask(() =>
            giver.client.delegations.add({ to: taker.name, resource: "tools/*", actions: ["execute"], reason: "help" }),
          )
          const may = (tool: string) =>
            Effect.map(
              ask(() => taker.client.grants.judge({ action: "execute", resource: `tools/${tool}` })),
              (it) => it.verdict,
            )
          yield* grant("tools/danger", "deny")
          yield* grant("tools/careful", "ask")
          assert.deepStrictEqual(yield* Effect.all([may("plain"), may("danger"), may("careful")]), [
            "allow",
            "deny",
            "ask",
          ])
          const denied = yield* refused(() =>
            giver.client.delegations.add({
              to: taker.name,
              resource: "tools/danger",
              actions: ["read", "execute"],
              reason: "x",
            }),
          )
          assert.strictEqual(denied.status, 403)
          yield* ask(() => admin.principals.retire(giver.name))
          assert.strictEqual(yield* may("plain"), "deny")
        }),
    )

    it.effect("lending in circles and to oneself costs nobody anything, and there is an end to loans", () =>
      Effect.gen(function* () {
        const [one, two] = yield* Effect.all([someone("agent"), someone("agent")])
        const lend = (from: typeof one, to: typeof one, n: number) => () =>
          from.client.delegations.add({ to: to.name, resource: `tools/z${n}`, actions: ["execute"], reason: "r" })
        assert.strictEqual((yield* refused(lend(one, one, 0))).status, 400)
        for (let n = 0; n < 50; n++) yield* ask(lend(n % 2 === 0 ? one : two, n % 2 === 0 ? two : one, n))
        const started = performance.now()
        const { verdict } = yield* ask(() => one.client.grants.judge({ action: "execute", resource: "tools/z1" }))
        assert.strictEqual(verdict, "allow")
        // Not a figure: it used to take minutes.
        assert.isBelow(performance.now() - started, 5000)
        for (let n = 50; n < 100; n++) yield* Effect.exit(ask(lend(one, two, n)))
        const full = yield* refused(lend(one, two, 100))
        assert.strictEqual(full.status, 400)
      }),
    )

    it.effect(
      "loans that are made at once are counted one after the other: of twelve, the two that there is room for",
      () =>
        Effect.gen(function* () {
          const [one, two] = yield* Effect.all([someone("agent"), someone("agent")])
          const lend = (n: number) =>
            Effect.exit(
              ask(() =>
                one.client.delegations.add({
                  to: two.name,
                  resource: `tools/y${n}`,
                  actions: ["execute"],
                  reason: "r",
                }),
              ),
            )
          const all = (from: number, to: number) =>
            Effect.map(
              Effect.forEach(
                Array.from({ length: to - from }, (_, at) => from + at),
                lend,
                { concurrency: "unbounded" },
              ),
              (exits) => exits.filter(Exit.isSuccess).length,
            )
          assert.strictEqual(yield* all(0, 48), 48)
          assert.strictEqual(yield* all(48, 60), 2)
        }),
    )

    it.effect("whoever may write principals, tokens or grants cannot make itself an admin by it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const clerk = yield* someone("agent")
        for (const resource of ["principals/*", "tokens/*", "grants/*"])
          yield* ask(() => admin.grants.add({ principal: clerk.name, resource, actions: ["read", "write", "delete"] }))
        const attempts: ReadonlyArray<() => Promise<unknown>> = [
          () => clerk.client.principals.change(clerk.name, { roles: ["admin"] }),
          () => clerk.client.principals.add({ kind: "person", name: `boss ${named}`, roles: ["admin"] }),
          () => clerk.client.tokens.add({ principal: "admin" }),
          () => clerk.client.tokens.add({ principal: clerk.name, context: "internal" }),
          () => clerk.client.grants.add({ principal: clerk.name, resource: "*", actions: ["admin"] }),
        ]
        for (const attempt of attempts) assert.strictEqual((yield* refused(attempt)).status, 403)
        // What it may do, it may.
        const made = yield* ask(() => clerk.client.principals.add({ kind: "agent", name: `plain ${named}` }))
        assert.deepStrictEqual(made.roles, ["agent-standard"])
        yield* ask(() => clerk.client.tokens.add({ principal: made.id }))
      }),
    )

    it.effect("only a certificate renews itself: any other token keeps its end through rotation", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const pam = yield* someone("agent")
        const expiresAt = DateTime.formatIso(DateTime.add(yield* DateTime.now, { minutes: 5 }))
        const first = yield* ask(() => admin.tokens.add({ principal: pam.name, expiresAt }))
        const second = yield* ask(() => as(first.token).tokens.rotate(first.id))
        assert.strictEqual(second.expiresAt, first.expiresAt)
      }),
    )

    it.effect("an admin that is one no more has no token that stands inside", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const boss = yield* someone("person", { roles: ["admin"] })
        assert.strictEqual(boss.token.context, "internal")
        yield* ask(() => admin.principals.change(boss.name, { roles: ["member"] }))
        const { items } = yield* ask(() => admin.tokens.list({ principal: boss.name }))
        assert.deepStrictEqual(
          items.map((token) => token.context),
          ["agent"],
        )
      }),
    )

    it.effect("the house's admin token replaces the one before it", () =>
      Effect.gen(function* () {
        const { adminToken, as } = yield* Guest
        const tokens = yield* Tokens
        yield* tokens.keepAdmin(Redacted.make("another admin token, long enough"))
        assert.strictEqual((yield* refused(() => as(adminToken).principals.me())).status, 401)
        assert.strictEqual((yield* ask(() => as("another admin token, long enough").principals.me())).name, "admin")
        yield* tokens.keepAdmin(Redacted.make(adminToken))
        assert.strictEqual((yield* ask(() => as(adminToken).principals.me())).name, "admin")
      }),
    )

    it.effect("a right is judged by whom it is for, however the request spells the name", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const clerk = yield* someone("agent", { roles: ["guest"] })
        const give = (resource: string, effect: "allow" | "deny") =>
          ask(() => admin.grants.add({ principal: clerk.name, resource, actions: ["write"], effect }))
        yield* Effect.all([
          give("tokens/*", "allow"),
          give("tokens/admin", "deny"),
          give("grants/*", "allow"),
          give("grants/admin", "deny"),
        ])
        const me = yield* ask(() => admin.principals.me())
        for (const principal of ["admin", "Admin", "ADMIN", me.id]) {
          assert.strictEqual((yield* refused(() => clerk.client.tokens.add({ principal }))).status, 403, principal)
          const grant = { principal, resource: "tools/x", actions: ["read" as const] }
          assert.strictEqual((yield* refused(() => clerk.client.grants.add(grant))).status, 403, principal)
        }
      }),
    )

    it.effect("S4-104 judgements are remembered, and revoking is felt at the next one", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const pam = yield* someone("service")
        const judge = ask(() => pam.client.grants.judge({ action: "execute", resource: "tools/x" }))
        const grant = made(
          yield* ask(() => admin.grants.add({ principal: pam.name, resource: "tools/x", actions: ["execute"] })),
        )
        assert.deepStrictEqual(yield* judge, { verdict: "allow", rule: `grant:${grant.id}` })
        // Remembered: a row that vanishes without a change of rights is not noticed …
        yield* sql`UPDATE grants SET resource = 'elsewhere' WHERE id = ${grant.id}`
        assert.strictEqual((yield* judge).verdict, "allow")
        // … and a revocation is, at once.
        yield* ask(() => admin.grants.revoke(grant.id))
        assert.deepStrictEqual(yield* judge, { verdict: "deny", rule: "silence" })
      }),
    )

    it.effect("S4-99, S4-100 a new agent may run a low-risk tool, a basic one may not run web-search", () =>
      Effect.gen(function* () {
        const judge = (who: { readonly client: (typeof pam)["client"] }) =>
          Effect.map(
            ask(() => who.client.grants.judge({ action: "execute", resource: "tools/web-search" })),
            (it) => it.verdict,
          )
        const pam = yield* someone("agent")
        const basic = yield* someone("agent", { roles: ["agent-basic"] })
        assert.deepStrictEqual(yield* Effect.all([judge(pam), judge(basic)]), ["allow", "deny"])
        assert.deepStrictEqual(pam.principal.roles, ["agent-standard"])
      }),
    )

    it.effect(
      "S4-103 a refusal is audited as denied and announced as identity.access-denied; nothing can change the trail",
      () =>
        Effect.gen(function* () {
          const { admin, raw } = yield* Guest
          const pam = yield* someone("agent")
          const error = yield* refused(() => pam.client.secrets.list())
          assert.deepStrictEqual([error.status, error.tag], [403, "Forbidden"])
          const [entry] = yield* audited({ principal: pam.name, result: "denied" })
          assert.deepStrictEqual(
            [entry!.principal, entry!.action, entry!.resource, entry!.rule],
            [pam.principal.id, "read", "secrets/*", "silence"],
          )
          const stop = new AbortController()
          const feed = admin.feed({ after: 0, names: "skills", signal: stop.signal })
          const seen = yield* ask(async () => {
            for await (const item of feed)
              if (item.type === "event" && item.name === "identity.access-denied") return item
          })
          stop.abort()
          assert.strictEqual(seen?.type, "event")
          const headers = { authorization: `Bearer ${(yield* Guest).adminToken}` }
          for (const method of ["PUT", "PATCH", "DELETE", "POST"])
            for (const path of ["/api/v1/audit", `/api/v1/audit/${entry!.seq}`])
              assert.strictEqual((yield* ask(() => raw(path, { method, headers }))).status, 404, `${method} ${path}`)
        }),
    )

    it.effect(
      "the trail of nobody is missing, that of somebody who did nothing is empty, and who has left is found by id",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const pam = yield* someone("agent")
          assert.deepStrictEqual(yield* audited({ principal: pam.name.toUpperCase() }), [])
          for (const principal of [`${pam.name}x`, "prn_0", ""]) {
            const error = yield* refused(() => admin.audit.list({ principal }))
            assert.deepStrictEqual([error.status, error.tag], [404, "Missing"], principal)
          }
          // Who may not read the trail does not learn from it who is there.
          assert.strictEqual((yield* refused(() => pam.client.audit.list({ principal: "nobody" }))).status, 403)
          yield* ask(() => admin.principals.retire(pam.name))
          assert.strictEqual((yield* refused(() => admin.audit.list({ principal: pam.name }))).status, 404)
          const theirs = yield* audited({ principal: pam.principal.id })
          assert.deepStrictEqual(
            theirs.map(({ result }) => result),
            ["denied"],
          )
        }),
    )

    it.effect("a refused create leaves nothing behind but its refusal, with an idempotency key too", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const pam = yield* someone("agent")
        const name = `intruder ${named}`
        const idempotencyKey = `key ${named}`
        const error = yield* refused(() =>
          pam.client.principals.add({ kind: "person", name, roles: ["admin"] }, { idempotencyKey }),
        )
        assert.strictEqual(error.status, 403)
        assert.strictEqual((yield* refused(() => admin.principals.get(name))).status, 404)
        const entries = yield* audited({ principal: pam.principal.id, result: "denied" })
        assert.strictEqual(entries[0]!.resource, `principals/${name}`)
      }),
    )

    it.effect("where the trail ends is found by a range of the journal, however many calls were made", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [text, params] = lastingIn(sql, 5, 9).compile()
        const explain = store === "sqlite" ? "EXPLAIN QUERY PLAN" : "EXPLAIN"
        const plan = JSON.stringify(yield* sql.unsafe(`${explain} ${text}`, params))
        assert.match(plan, store === "sqlite" ? /USING INTEGER PRIMARY KEY/ : /journal_pkey|Seq Scan/)
      }),
    )

    it.effect("G-41 the trail is hash-chained: a changed, a removed and an added row are each found", () =>
      Effect.gen(function* () {
        yield* someone("agent")
        yield* (yield* Readers).receipt("audit")
        const sql = yield* SqlClient.SqlClient
        const audit = yield* Audit
        const whole = yield* audit.verify
        assert.isNull(whole.brokenAt)
        assert.isAbove(whole.rows, 3)
        const undone = <A>(tamper: Effect.Effect<A, unknown>) =>
          Effect.andThen(tamper, audit.verify).pipe(
            Effect.flatMap((found) => Effect.fail(found)),
            sql.withTransaction,
            Effect.flip,
          )
        const broken = (found: unknown) => (found as { brokenAt: number | null }).brokenAt
        assert.strictEqual(
          broken(yield* undone(sql`UPDATE audit SET result = 'success', action = 'x' WHERE seq = 2`)),
          2,
        )
        assert.strictEqual(broken(yield* undone(sql`DELETE FROM audit WHERE seq = 3`)), 3)
        assert.strictEqual(broken(yield* undone(sql`UPDATE audit SET hash = 'x' WHERE seq = 1`)), 1)
        assert.isNull((yield* audit.verify).brokenAt)
      }),
    )

    it.effect("S4-103, G-41 after 90 days a prefix is cut, its last hash stays as anchor, and the rest verifies", () =>
      Effect.gen(function* () {
        yield* (yield* Readers).receipt("audit")
        const sql = yield* SqlClient.SqlClient
        const audit = yield* Audit
        yield* Effect.gen(function* () {
          const before = (yield* audit.verify).rows
          const now = yield* DateTime.now
          const ago = (hours: number) => DateTime.formatIso(DateTime.subtract(now, { hours }))
          // Age is part of the hash, so the old rows are written again as the chain would have written them.
          yield* ageRows(sql, [ago(90 * 24 + 2), ago(90 * 24 + 1), ago(90 * 24 - 1)])
          assert.strictEqual(yield* audit.retain, 2)
          assert.deepStrictEqual(yield* audit.verify, { rows: before - 2, brokenAt: null, why: null, sealed: true })
          return yield* Effect.fail("undo")
        }).pipe(sql.withTransaction, Effect.flip)
      }),
    )

    it.effect("X-30 another's token looks unknown, one's own can be revoked", () =>
      Effect.gen(function* () {
        const [pam, jim] = yield* Effect.all([someone("agent"), someone("person")])
        const foreign = yield* refused(() => jim.client.tokens.revoke(pam.token.id))
        const unknown = yield* refused(() => jim.client.tokens.revoke("tok_00000000-0000-4000-8000-000000000000"))
        assert.deepStrictEqual([foreign.status, unknown.status, foreign.tag], [404, 404, unknown.tag])
        yield* ask(() => jim.client.tokens.revoke(jim.token.id))
        assert.strictEqual((yield* refused(() => jim.client.principals.me())).status, 401)
      }),
    )

    it.effect("X-48 ids are opaque, prefixed and uuid-shaped; a name does wherever an id does", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const pam = yield* someone("agent")
        assert.match(pam.principal.id, /^prn_[0-9a-f-]{36}$/)
        assert.match(pam.token.id, /^tok_[0-9a-f-]{36}$/)
        const byName = yield* ask(() => admin.principals.get(pam.name.toUpperCase()))
        const byId = yield* ask(() => admin.principals.get(pam.principal.id))
        assert.deepStrictEqual(byName, byId)
      }),
    )

    it.effect("retiring frees the name, stops the tokens, and keeps the past", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const pam = yield* someone("agent")
        const other = yield* ask(() => admin.tokens.add({ principal: pam.name }))
        yield* ask(() => admin.principals.retire(pam.name))
        // Each token that stops is in the audit, after whom it belonged to.
        const ends = (yield* audited({ limit: 3 })).map(({ action, resource }) => `${action} ${resource}`).toReversed()
        const tokens = [pam.token.id, other.id].toSorted().map((id) => `revoke tokens/${id}`)
        assert.deepStrictEqual(ends, [`retire principals/${pam.name}`, ...tokens])
        assert.strictEqual((yield* refused(() => pam.client.principals.me())).status, 401)
        assert.isNotNull((yield* ask(() => admin.principals.get(pam.principal.id))).retiredAt)
        assert.strictEqual((yield* refused(() => admin.principals.get(pam.name))).status, 404)
        const next = yield* ask(() => admin.principals.add({ kind: "agent", name: pam.name }))
        assert.notStrictEqual(next.id, pam.principal.id)
        assert.strictEqual((yield* refused(() => admin.principals.retire("admin"))).status, 409)
      }),
    )

    it.effect("G-17 a secret goes in and is found in no sink: rows, events, audit, answers, errors", () =>
      Effect.gen(function* () {
        const { admin, raw, adminToken } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const value = "PLANTED value, PLANTED twice"
        yield* ask(() => admin.secrets.set("openai", { value }))
        const revealed = yield* (yield* Secrets).reveal("openai")
        assert.isFalse(JSON.stringify(revealed).includes(value))
        yield* (yield* Readers).receipt("audit")
        for (const table of ["journal", "audit", "secrets", "answers", "tokens", "readers", "timers"]) {
          const rows = yield* sql<Record<string, unknown>>`SELECT * FROM ${sql(table)}`
          for (const row of rows)
            for (const cell of Object.values(row))
              assert.isFalse(
                (cell instanceof Uint8Array ? Buffer.from(cell).toString("latin1") : String(cell)).includes("PLANTED"),
                table,
              )
        }
        const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" }
        const wrong = yield* ask(() =>
          raw("/api/v1/secrets/bad name", { method: "PUT", headers, body: JSON.stringify({ value }) }),
        )
        assert.isFalse((yield* ask(() => wrong.text())).includes("PLANTED"))
        const tooLong = yield* ask(() =>
          raw("/api/v1/secrets/long", {
            method: "PUT",
            headers,
            body: JSON.stringify({ value: `${value}${"x".repeat(70_000)}` }),
          }),
        )
        assert.strictEqual(tooLong.status, 400)
        assert.isFalse((yield* ask(() => tooLong.text())).includes("PLANTED"))
        assert.deepStrictEqual(Object.keys((yield* ask(() => admin.secrets.list())).items[0]!), ["name", "setAt"])
      }),
    )

    it.effect("G-15 every event says where it came from", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const boss = yield* someone("agent", { roles: ["admin"] })
        yield* ask(() => boss.client.principals.add({ kind: "agent", name: `made by an agent ${named}` }))
        const events = yield* journal.read({ after: (yield* journal.end) - 1, limit: 10 })
        assert.deepStrictEqual([events[0]!.provenance, events[0]!.actor], ["agent", boss.principal.id])
      }),
    )

    it.effect("X-31 identity is never optional: no token, no answer, and the admin cannot be locked out", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const error = yield* refused(() => as().principals.me())
        assert.deepStrictEqual([error.status, error.tag], [401, "Unauthenticated"])
        // A token that is sent bare is told how to send it.
        const { adminToken, raw } = yield* Guest
        const bare = yield* ask(() => raw("/api/v1/me", { headers: { authorization: adminToken } }))
        assert.strictEqual(bare.status, 401)
        assert.match(yield* ask(() => bare.text()), /Send \\"Authorization: Bearer <token>\\"/)
        assert.strictEqual((yield* refused(() => admin.principals.change("admin", { roles: ["member"] }))).status, 409)
        const principals = yield* Principals
        assert.deepStrictEqual((yield* principals.get("admin")).roles, ["admin"])
      }),
    )

    it.effect("two at once cannot take one name", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const answers = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => Effect.exit(ask(() => admin.principals.add({ kind: "agent", name: `wanted ${named}` }))),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(answers.filter((exit) => exit._tag === "Success").length, 1)
      }),
    )

    it.effect("a stand-in without a credential never stands inside", () =>
      Effect.gen(function* () {
        const caller = yield* (yield* Tokens).standIn("admin")
        assert.strictEqual(caller.context, "agent")
        const { verdict } = yield* (yield* Grants).judge({ ...caller, principal: caller.principal }, "read", "self/x")
        assert.strictEqual(verdict, "allow")
      }),
    )
  })

/** Rewrites the whole chain with the first rows a hundred days older. */
const ageRows = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, moments: ReadonlyArray<string>) {
  const rows = yield* sql<Parameters<typeof hashOfRow>[1]>`SELECT * FROM audit ORDER BY seq`
  let hash = (yield* sql<{ hash: string }>`SELECT hash FROM audit_anchor`)[0]!.hash
  for (const [place, row] of rows.entries()) {
    const at = moments[place] ?? row.at
    hash = hashOfRow(hash, { ...row, at })
    yield* sql`UPDATE audit SET at = ${at}, hash = ${hash} WHERE seq = ${row.seq}`
  }
  const { head } = yield* endsOf(sql)
  yield* moveHead(sql, (yield* Secrets).derive("audit"), { ...head, hash }).run
})
