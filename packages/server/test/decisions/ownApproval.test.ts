/** An approval is a person's own: a request without a token gives none; and what its link says to whoever guesses. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { admin, callNow, callTool, configure, request, told } from "../calls/callsKit.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { someone } from "../spaces/spacesGuests.ts"
import { ethereum, signIn } from "../access/walletKit.ts"

layer(house({ store: "sqlite", config: roomy, env: { STOA_ANONYMOUS: "admin" } }), {
  excludeTestServices: true,
  timeout: 60_000,
})("own approvals", (it) => {
  it.effect(
    "the stand-in of STOA_ANONYMOUS sees questions and may deny them, but neither approves nor gets a link",
    () =>
      Effect.gen(function* () {
        const { raw } = yield* Guest
        const bot = yield* someone("agent")
        const { name } = yield* configure({ requiresApproval: true })
        const nobody = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
          const sent = body === undefined ? {} : { body: JSON.stringify(body) }
          const headers = { "content-type": "application/json" }
          const answer = yield* ask(() => raw(`/api/v1${path}`, { method, headers, ...sent }))
          return {
            status: answer.status,
            body: (yield* ask(() => answer.json())) as { readonly [key: string]: unknown },
          }
        })
        const first = told(yield* callTool(bot, name))
        const decision = first.on!.id
        assert.strictEqual((yield* nobody("GET", `/decisions/${decision}`)).status, 200)
        for (const [path, body] of [
          ["answer", { verdict: "approve" }],
          ["link", {}],
        ] as const) {
          const refused = yield* nobody("POST", `/decisions/${decision}/${path}`, body)
          assert.strictEqual(refused.status, 403, path)
          assert.strictEqual(refused.body["rule"], "only your own token")
          assert.include(refused.body["detail"], "A request without a token cannot approve.")
        }
        assert.strictEqual((yield* callNow(bot, first.id)).state, "waiting")
        assert.strictEqual((yield* nobody("POST", `/decisions/${decision}/answer`, { verdict: "deny" })).status, 200)
        // The same person with their token.
        const second = told(yield* callTool(bot, name)).on!.id
        const own = yield* request(yield* admin, "POST", `/decisions/${second}/answer`, { verdict: "approve" })
        assert.strictEqual(own.status, 200)
      }),
  )

  it.effect("a wallet that an admin gives a person after the question, with whosever token, does not approve", () =>
    Effect.gen(function* () {
      const { admin: house, as } = yield* Guest
      const adding = (name: string) =>
        Effect.gen(function* () {
          yield* ask(() => house.principals.add({ kind: "person", name, roles: ["admin"] }))
          return yield* ask(() => house.tokens.add({ principal: name }))
        })
      const [alice, bob] = [as((yield* adding("alice")).token), yield* adding("bob")]
      const bot = yield* someone("agent")
      const { name } = yield* configure({ requiresApproval: true })
      const decision = told(yield* callTool(bot, name)).on!.id
      const answer = (token: string) =>
        request({ ...bot, token }, "POST", `/decisions/${decision}/answer`, { verdict: "approve" })
      const made = yield* ask(() => alice.tokens.add({ principal: "bob" }))
      const refused = (token: string, way: string) =>
        Effect.map(answer(token), ({ body, status }) =>
          assert.deepStrictEqual(
            [status, (body as { readonly rule?: string }).rule],
            [403, "only your own token"],
            way,
          ),
        )
      yield* refused(made.token, "her token for him")
      const [hers, another, third] = [ethereum(), ethereum(), ethereum()]
      yield* ask(() => as(made.token).principals.change("bob", { wallet: hers.address }))
      yield* refused(yield* signIn(hers), "her wallet, given with her token for him")
      yield* ask(() => alice.principals.change("bob", { wallet: another.address }))
      yield* refused(yield* signIn(another), "her wallet, given with her own token")
      // Of a person that she adds: may answer nothing yet, or is refused for the wallet.
      const dave = { kind: "person", name: "dave", roles: ["admin"], wallet: third.address } as const
      yield* ask(() => alice.principals.add(dave))
      assert.strictEqual((yield* answer(yield* signIn(third))).status, 403)
      // A wallet that he takes with his own token, from before the question, is his own.
      const his = ethereum()
      yield* ask(() => as(bob.token).principals.change("bob", { wallet: his.address }))
      assert.strictEqual((yield* answer(yield* signIn(his))).status, 200)
    }),
  )

  it.effect("whoever guesses links too often is told when to try again", () =>
    Effect.gen(function* () {
      const { raw } = yield* Guest
      const guess = ask(() => raw("/d/nothing"))
      let last = yield* guess
      for (let sent = 1; last.status !== 429 && sent < 20_000; sent++) last = yield* guess
      assert.strictEqual(last.status, 429)
      assert.isAbove(Number(last.headers.get("retry-after")), 0)
    }),
  )
})
