/** Wallets: one principal each, lent by whoever has it and by nobody else, and a way in for whoever can sign. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest, house } from "../house.ts"
import { WalletSignIn } from "../../src/access/identity/wallets/WalletSignIn.ts"
import { makeInsert } from "../../src/store/database/dialect/Inserts.ts"
import { ethereum, solana } from "./walletKit.ts"
import { addressOf, content, holder, type Holder } from "../toolsets/engramKit.ts"

const statusOf = (error: unknown) => (error as { readonly status?: number }).status
const create = (who: Holder, address: string, key: string) => ({
  wallet_address: address,
  engram_type: "knowledge",
  key,
  content: content(who.name),
})

for (const store of ["sqlite", "postgres"] as const) {
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`wallets on ${store}`, (it) => {
    it.effect("X-27 one principal a wallet, however it is written; free again when it leaves or gives it back", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const address = `0x${"aB".repeat(20)}`
        yield* ask(() => admin.principals.add({ kind: "agent", name: "first", wallet: address }))
        const taken = (wallet: string, name: string) =>
          Effect.map(Effect.flip(ask(() => admin.principals.add({ kind: "agent", name, wallet }))), statusOf)
        assert.strictEqual(yield* taken(address, "second"), 409)
        assert.strictEqual(yield* taken(address.toLowerCase(), "third"), 409)
        yield* ask(() => admin.principals.add({ kind: "agent", name: "fourth" }))
        assert.strictEqual(
          statusOf(yield* Effect.flip(ask(() => admin.principals.change("fourth", { wallet: address })))),
          409,
        )
        yield* ask(() => admin.principals.change("first", { wallet: null }))
        yield* ask(() => admin.principals.change("fourth", { wallet: address }))
        yield* ask(() => admin.principals.retire("fourth"))
        yield* ask(() => admin.principals.change("first", { wallet: address }))
        for (const wrong of ["a*", "a/b", "a b", "", "x".repeat(129)]) assert.strictEqual(yield* taken(wrong, "w"), 400)
      }),
    )

    it.effect("X-27 giving a wallet is no less than giving a token: nothing wider, longer or further in", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const refused = (attempt: () => Promise<unknown>) =>
          Effect.map(Effect.flip(ask(attempt)), (error) => assert.strictEqual(statusOf(error), 403))
        yield* ask(() => admin.principals.add({ kind: "service", name: "keeper", roles: ["guest"] }))
        yield* ask(() =>
          admin.grants.add({ principal: "keeper", resource: "principals/*", actions: ["admin", "write"] }),
        )
        const { token } = yield* ask(() => admin.tokens.add({ principal: "keeper" }))
        yield* refused(() => as(token).principals.change("admin", { wallet: ethereum().address }))
        yield* refused(() => as(token).principals.add({ kind: "agent", name: "puppet", wallet: ethereum().address }))
        const soon = DateTime.formatIso(DateTime.add(yield* DateTime.now, { minutes: 5 }))
        const short = yield* ask(() => admin.tokens.add({ principal: "admin", expiresAt: soon }))
        const outer = yield* ask(() => admin.tokens.add({ principal: "admin", context: "agent" }))
        for (const weak of [short, outer])
          yield* refused(() => as(weak.token).principals.change("keeper", { wallet: ethereum().address }))
      }),
    )

    it.effect("X-27 a wallet is given by an admin alone: nobody names its own", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        yield* ask(() => admin.principals.add({ kind: "agent", name: "poor", roles: ["orchestrator"] }))
        yield* ask(() => admin.grants.add({ principal: "poor", resource: "principals/*", actions: ["read", "write"] }))
        const { token } = yield* ask(() => admin.tokens.add({ principal: "poor" }))
        const poor = as(token)
        for (const attempt of [
          () => poor.principals.change("poor", { wallet: addressOf("rich") }),
          () => poor.principals.add({ kind: "agent", name: "richer", wallet: addressOf("rich") }),
        ])
          assert.strictEqual(statusOf(yield* Effect.flip(ask(attempt as () => Promise<unknown>))), 403)
      }),
    )

    it.effect(
      "S2-78 X-27 a wallet in the arguments is believed of nobody: not another's, not an admin's, not without one",
      () =>
        Effect.gen(function* () {
          const { admin, adminToken, url } = yield* Guest
          const [ann, bob] = [yield* holder("ann78"), yield* holder("bob78")]
          // An agent without a wallet does not even have the tools (S2-80); a person is told what is missing.
          const bare = yield* holder("bare78", { wallet: null, kind: "person" })
          const none = yield* holder("none78", { wallet: null })
          const writes = (address: string) =>
            [
              ["engram_create", create(ann, address, "forged")],
              ["user_profile_update", { wallet_address: address, field: "base", content: "1" }],
              ["hecate_remember", { wallet_address: address, key: "forged", content: "x" }],
              ["moros_remember", { wallet_address: address, key: "forged", content: "x" }],
              ["hecate_new_session", { wallet_address: address }],
              ["hecate_cleanup", { wallet_address: address }],
              ["moros_cleanup", { wallet_address: address }],
            ] as const
          for (const [tool, args] of writes(ann.wallet))
            assert.strictEqual(yield* none.told(tool, args), `Unknown tool: ${tool}`)
          for (const who of [bob, bare])
            for (const [tool, args] of writes(ann.wallet)) {
              const told = yield* who.told(tool, args)
              assert.include(told, "wallet", tool)
              // A wallet nobody has is refused in the same words: asking tells nothing.
              const unknown = addressOf("nobody78")
              const other = yield* who.told(tool, { ...args, wallet_address: unknown })
              assert.strictEqual(other.replaceAll(unknown, ann.wallet), told, tool)
            }
          const asAdmin = yield* ask(async () => {
            const response = await fetch(`${url}/mcp/jsonrpc`, {
              method: "POST",
              headers: { "content-type": "application/json", authorization: `Bearer ${adminToken}` },
              body: JSON.stringify({
                jsonrpc: "2.0",
                id: 1,
                method: "tools/call",
                params: { name: "engram_create", arguments: create(ann, ann.wallet, "forged") },
              }),
            })
            return JSON.stringify(await response.json())
          })
          assert.include(asAdmin, "a wallet is its holder's")
          assert.strictEqual((yield* ann.done("engram_search", { wallet_address: ann.wallet })).count, 0)
          assert.strictEqual((yield* ann.done("hecate_list_sessions", { wallet_address: ann.wallet })).count, 0)
          const { items } = yield* ask(() => admin.audit.list({ principal: "bob78", result: "denied" }))
          assert.isTrue(items.length > 0)
          // Written in another case it is the same wallet.
          yield* ann.done("engram_create", create(ann, ann.wallet.toUpperCase().replace("0X", "0x"), "mine"))
        }),
    )

    it.effect("X-27 a wallet that was lent may be used, as far as it was lent, until it is taken back", () =>
      Effect.gen(function* () {
        const [ann, bob] = [yield* holder("ann27"), yield* holder("bob27")]
        const resource = `wallets/${ann.wallet.toUpperCase().replace("0X", "0x")}`
        const refused = yield* Effect.flip(
          ask(() => bob.stoa.delegations.add({ to: "ann27", resource, actions: ["write"], reason: "not mine" })),
        )
        assert.strictEqual(statusOf(refused), 403)
        const mine = yield* ann.done("engram_create", create(ann, ann.wallet, "private"))
        const loan = yield* ask(() =>
          ann.stoa.delegations.add({ to: "bob27", resource, actions: ["read", "write"], reason: "help" }),
        )
        const read = yield* bob.done("engram_get", { wallet_address: ann.wallet, key: "private" })
        assert.strictEqual(read.id, mine.id)
        const made = yield* bob.done("engram_create", create(bob, ann.wallet, "by.bob"))
        assert.strictEqual(made.wallet_address, ann.wallet)
        const record = yield* ask(() => ann.stoa.memory.get(made.id.replace("eng_", "mem_")))
        assert.deepStrictEqual([record.owner, record.origin.principal], [ann.id, bob.id])
        assert.isNotNull(record.origin.call)
        yield* bob.done("engram_update", { id: mine.id, content: content("changed by bob") })
        // Deleting was not lent.
        assert.include(yield* bob.told("engram_delete", { id: mine.id }), mine.id)
        yield* bob.done("hecate_new_session", { wallet_address: ann.wallet })
        assert.strictEqual((yield* ann.done("hecate_list_sessions", { wallet_address: ann.wallet })).count, 1)
        yield* ask(() => ann.stoa.delegations.revoke(loan.id))
        assert.isFalse((yield* bob.done("engram_get", { wallet_address: ann.wallet, key: "private" })).found)
        assert.include(yield* bob.told("engram_update", { id: mine.id, content: "1" }), mine.id)
        assert.include(yield* bob.told("engram_create", create(bob, ann.wallet, "again")), "wallet")
      }),
    )

    it.effect("S2-78 an admin's leave to do everything is no leave to use a wallet", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const [ann, bob] = [yield* holder("ann79"), yield* holder("bob79")]
        yield* ask(() =>
          admin.delegations.add({ to: "bob79", resource: "*", actions: ["read", "write", "delete"], reason: "all" }),
        )
        yield* ask(() => admin.grants.add({ principal: "bob79", resource: "wallets/*", actions: ["write", "delete"] }))
        assert.include(yield* bob.told("engram_create", create(bob, ann.wallet, "forged")), "wallet")
      }),
    )

    for (const [name, made] of [
      ["EIP-191", ethereum],
      ["Ed25519", solana],
    ] as const)
      it.effect(`S2-78 X-27 ${name}: a challenge that names the house, signed, gives a token for an hour, once`, () =>
        Effect.gen(function* () {
          const { admin, as, url } = yield* Guest
          const key = made()
          const principal = yield* ask(() =>
            admin.principals.add({
              kind: "person",
              name: `signer ${name}`,
              wallet: key.address,
              toolsets: ["engrams"],
            }),
          )
          const nobody = as()
          const challenge = yield* ask(() => nobody.wallet.challenge({ wallet: key.address }))
          assert.include(challenge.message, new URL(url).host)
          assert.include(challenge.message.toLowerCase(), key.address.toLowerCase())
          const signature = key.sign(challenge.message)
          const issued = yield* ask(() => nobody.wallet.token({ challenge: challenge.id, signature }))
          const life = new Date(issued.expiresAt!).getTime() - new Date(issued.createdAt).getTime()
          assert.deepStrictEqual([issued.principal, issued.context], [principal.id, "agent"])
          assert.isTrue(life <= 3_600_000 && life > 3_500_000, String(life))
          const me = yield* ask(() => as(issued.token).principals.me())
          assert.strictEqual(me.id, principal.id)
          const refused = (signed: string, id = challenge.id) =>
            Effect.map(Effect.flip(ask(() => nobody.wallet.token({ challenge: id, signature: signed }))), statusOf)
          assert.strictEqual(yield* refused(signature), 401)
          // A wrong answer spends it, too.
          const second = yield* ask(() => nobody.wallet.challenge({ wallet: key.address }))
          assert.strictEqual(yield* refused(made().sign(second.message), second.id), 401)
          assert.strictEqual(yield* refused(key.sign(second.message), second.id), 401)
          // Another text than the one that was given.
          const third = yield* ask(() => nobody.wallet.challenge({ wallet: key.address }))
          assert.strictEqual(yield* refused(signature, third.id), 401)
        }),
      )

    it.effect(
      "S2-78 a wallet nobody has is asked like any other, and refused; so is an expired challenge, and one for two",
      () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const [stranger, known] = [ethereum(), ethereum()]
          const nobody = as()
          const challenge = yield* ask(() => nobody.wallet.challenge({ wallet: stranger.address }))
          const answer = (id: string, signature: string) => ask(() => nobody.wallet.token({ challenge: id, signature }))
          assert.strictEqual(statusOf(yield* Effect.flip(answer(challenge.id, stranger.sign(challenge.message)))), 401)
          yield* ask(() => admin.principals.add({ kind: "person", name: "known", wallet: known.address }))
          const late = yield* ask(() => nobody.wallet.challenge({ wallet: known.address }))
          yield* sql`UPDATE wallet_challenges SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${late.id}`
          assert.strictEqual(statusOf(yield* Effect.flip(answer(late.id, known.sign(late.message)))), 401)
          const raced = yield* ask(() => nobody.wallet.challenge({ wallet: known.address }))
          const signature = known.sign(raced.message)
          const both = yield* Effect.forEach([1, 2, 3], () => Effect.exit(answer(raced.id, signature)), {
            concurrency: "unbounded",
          })
          assert.lengthOf(
            both.filter((exit) => exit._tag === "Success"),
            1,
          )
          assert.strictEqual(
            statusOf(yield* Effect.flip(answer("wch_00000000-0000-7000-8000-000000000000", "0x00"))),
            401,
          )
          for (const wallet of ["0x1234...", "hello", ""])
            assert.strictEqual(statusOf(yield* Effect.flip(ask(() => nobody.wallet.challenge({ wallet })))), 400)
          yield* ask(() => admin.principals.retire("known"))
          const left = yield* ask(() => nobody.wallet.challenge({ wallet: known.address }))
          assert.strictEqual(statusOf(yield* Effect.flip(answer(left.id, known.sign(left.message)))), 401)
        }),
    )
  })

  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`challenges on ${store}`, (it) => {
    it.effect(
      "S2-78 one network gets 30 challenges a minute, and is told when to come again; spent ones do not pile up",
      () =>
        Effect.gen(function* () {
          const { raw } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const challenge = () =>
            raw("/api/v1/wallet/challenge", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ wallet: `0x${"cd".repeat(20)}` }),
            })
          const responses = yield* ask(async () => {
            const all: Array<Response> = []
            for (let at = 0; at < 31; at++) all.push(await challenge())
            return all
          })
          assert.isTrue(responses.slice(0, 30).every(({ status }) => status === 201))
          assert.deepStrictEqual([responses[30]!.status, responses[30]!.headers.get("retry-after")], [429, "60"])
          yield* sql`UPDATE wallet_challenges SET created_at = '2020-01-01T00:00:00.000Z', expires_at = '2020-01-01T00:05:00.000Z'`
          assert.strictEqual((yield* ask(challenge)).status, 201)
          assert.lengthOf(yield* sql`SELECT id FROM wallet_challenges`, 1)
          yield* sql`DELETE FROM wallet_challenges`
        }),
    )

    it.effect("S2-78 a flood from one network, or for one wallet, takes no other network's challenge away", () =>
      Effect.gen(function* () {
        const sign = yield* WalletSignIn
        const sql = yield* SqlClient.SqlClient
        const asked = (wallet: string, address: string) =>
          sign.challenge({ wallet, address, house: "http://127.0.0.1:4040" })
        const isThere = ({ id }: { readonly id: string }) =>
          Effect.map(sql`SELECT id FROM wallet_challenges WHERE id = ${id}`, (rows) => rows.length === 1)
        const [victim, other] = [ethereum().address, solana().address]
        const mine = yield* asked(victim, "192.0.2.1")
        const theirs = yield* asked(other, "192.0.2.1")
        // Thirty a minute of one network, from three networks, all for the victim's wallet.
        for (const network of ["198.51.100.7", "203.0.113.7", "2001:db8::1"])
          for (let at = 0; at < 30; at++)
            yield* asked(at % 2 === 0 ? victim : `0x${victim.slice(2).toUpperCase()}`, network)
        assert.isTrue(yield* isThere(mine))
        assert.isTrue(yield* isThere(theirs))
        assert.lengthOf(yield* sql`SELECT id FROM wallet_challenges WHERE wallet = ${victim.toLowerCase()}`, 50)
        // A house full of another network's challenges: those who come later are let in, at the flood's cost.
        const ends = DateTime.formatIso(mine.expiresAt)
        const begins = DateTime.formatIso(DateTime.subtract(mine.expiresAt, { minutes: 6 }))
        const flood = Array.from({ length: 9_960 }, (_, at) => ({
          id: `wch_flood${at}`,
          wallet: `flood ${at}`,
          network: "203.0.114.0/24",
          message: "",
          createdAt: begins,
          expiresAt: ends,
        }))
        const columns = ["id", "wallet", "network", "message", "createdAt", "expiresAt"] as const
        yield* makeInsert<(typeof flood)[number]>(sql, "wallet_challenges", columns).run(flood)
        const late = yield* asked(solana().address, "192.0.2.200")
        for (const one of [mine, theirs, late]) assert.isTrue(yield* isThere(one))
        const left = yield* sql`SELECT id FROM wallet_challenges WHERE network = '203.0.114.0/24'`
        assert.lengthOf(left, flood.length - 1)
      }),
    )
  })
}
