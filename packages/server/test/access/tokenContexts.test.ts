/** What has been open or waiting for a while is judged in the context of its token, as every request is. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { makeWatching } from "../../src/spaces/Watching.ts"
import { admin, callsHouse, callTool, configure, request, stores, told } from "../calls/callsKit.ts"
import { fresh, listen, someone, type Someone } from "../spaces/spacesGuests.ts"

/** A guest's tokens: the usual one and one inside. What she is lent with a token of context `agent` is for the first. */
const guest = Effect.fnUntraced(function* () {
  const usual = yield* someone()
  assert.strictEqual(
    (yield* request(yield* admin, "PATCH", `/principals/${usual.id}`, { roles: ["guest"] })).status,
    200,
  )
  const issued = yield* request(yield* admin, "POST", "/tokens", { principal: usual.id, context: "internal" })
  const inside: Someone = { ...usual, token: (issued.body as { readonly token: string }).token }
  return { usual, inside }
})

const lend = Effect.fnUntraced(function* (giver: Someone, to: Someone, resource: string, action: string) {
  const loan = { to: to.name, resource, actions: [action], reason: "help" }
  const lent = yield* request(giver, "POST", "/delegations", loan)
  assert.deepInclude(lent.body, { context: "agent" }, JSON.stringify(lent.body))
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `contexts of tokens on ${store}`,
    (it) => {
      it.effect("the feed shows what its token shows over HTTP, and nothing that is lent in another context", () =>
        Effect.gen(function* () {
          const pam = yield* someone()
          const { inside, usual } = yield* guest()
          const opened = yield* request(pam, "POST", "/spaces", { name: fresh("open"), kind: "public" })
          const space = (opened.body as { readonly id: string }).id
          yield* lend(pam, usual, "spaces/*", "read")
          assert.strictEqual((yield* request(usual, "GET", "/spaces")).status, 200)
          assert.strictEqual((yield* request(inside, "GET", "/spaces")).status, 403)
          const heard: Array<string> = []
          const [outer, inner] = [
            yield* listen(usual),
            yield* listen(inside, {}, ({ event }) => void heard.push(String(event))),
          ]
          assert.strictEqual((yield* request(pam, "POST", `/spaces/${space}/messages`, { text: "hello" })).status, 201)
          let last = yield* outer.next
          while (last.event !== "message.created") last = yield* outer.next
          // Whatever it would have been shown comes before its end.
          const tokens = (yield* request(yield* admin, "GET", `/tokens?principal=${usual.id}`)).body as {
            readonly items: ReadonlyArray<{ readonly id: string; readonly context: string }>
          }
          const own = tokens.items.find(({ context }) => context === "internal")!
          yield* request(yield* admin, "DELETE", `/tokens/${own.id}`)
          let end = yield* inner.next
          while (end.event !== "close") end = yield* inner.next
          assert.notInclude(heard, "message.created")
        }).pipe(Effect.scoped),
      )

      it.effect("a stream that began by a loan of another context neither begins with it nor is ended by it", () =>
        Effect.gen(function* () {
          const { inside, usual } = yield* guest()
          const boss = yield* someone()
          yield* request(yield* admin, "POST", "/grants", {
            principal: boss.id,
            resource: "events/*",
            actions: ["read"],
          })
          yield* lend(boss, usual, "events/*", "read")
          const tokens = yield* Tokens
          const begin = yield* makeWatching
          for (const { token } of [usual, inside]) {
            const watch = yield* begin(yield* tokens.authenticate(token), 0)
            assert.isTrue(yield* watch.still)
          }
        }),
      )

      it.effect("whoever is lent the decisions answers with a token that may see them, and with no other", () =>
        Effect.gen(function* () {
          const { inside, usual } = yield* guest()
          const [bot, chief] = [yield* someone("agent"), yield* someone()]
          yield* request(yield* admin, "POST", "/grants", {
            principal: chief.id,
            resource: "decisions/*",
            actions: ["admin"],
          })
          yield* lend(chief, usual, "decisions/*", "admin")
          const { name } = yield* configure({ requiresApproval: true })
          const { id } = told(yield* callTool(bot, name)).on!
          const answer = (who: Someone) => request(who, "POST", `/decisions/${id}/answer`, { verdict: "deny" })
          const get = (who: Someone) => request(who, "GET", `/decisions/${id}`)
          assert.deepStrictEqual([(yield* get(usual)).status, (yield* get(inside)).status], [200, 404])
          // She is not asked, so she may not answer; but only the second token is told that there is nothing.
          assert.deepStrictEqual([(yield* answer(usual)).status, (yield* answer(inside)).status], [403, 404])
        }),
      )
    },
  )
