/** What nobody can learn or keep who has lost the right to it, on both databases: names, and rules of a change that was undone. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { rightsChanged } from "../../src/access/rights/Rights.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"

let named = 0
const someone = Effect.fnUntraced(function* (kind: "agent" | "service", over: object = {}) {
  const { admin } = yield* Guest
  const name = `${kind} ${++named}`
  yield* ask(() => admin.principals.add({ kind, name, ...over }))
  return { name, token: yield* ask(() => admin.tokens.add({ principal: name })) }
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`names and epochs on ${store}`, (it) => {
    it.effect("whoever may not know of somebody cannot tell a name that is taken from one that is free", () =>
      Effect.gen(function* () {
        const { raw } = yield* Guest
        const guest = yield* someone("service", { roles: ["guest"] })
        const agent = yield* someone("agent")
        const answer = Effect.fnUntraced(function* (path: string, ref: string, init: RequestInit = {}) {
          const response = yield* ask(() =>
            raw(`/api/v1${path.replace("REF", encodeURIComponent(ref))}`, {
              ...init,
              ...(typeof init.body === "string" ? { body: init.body.replace("REF", ref) } : {}),
              headers: { authorization: `Bearer ${guest.token.token}`, "content-type": "application/json" },
            }),
          )
          const body = yield* ask(() => response.text())
          return `${response.status} ${body.replaceAll(ref, "REF").replaceAll(/"(?:instance|correlationId|traceId)":"[^"]*"/g, "")}`
        })
        const asked: ReadonlyArray<readonly [string, RequestInit?]> = [
          ["/principals/REF"],
          ["/principals/REF", { method: "DELETE" }],
          ["/agents/REF"],
          ["/agents/REF/prompt"],
          ["/agents/REF/trigger", { method: "POST", body: '{"text":"hello"}' }],
          ["/runs?agent=REF"],
          ["/tokens?principal=REF"],
          ["/judge?principal=REF&action=read&resource=tools/x"],
          ["/judge?principal=REF&action=read&resource=tools/x&explain=true"],
          [
            "/delegations",
            { method: "POST", body: '{"to":"REF","resource":"tools/x","actions":["execute"],"reason":"work"}' },
          ],
          ["/tools?as=REF"],
          ["/tokens", { method: "POST", body: '{"principal":"REF"}' }],
          [
            "/grants",
            { method: "POST", body: '{"principal":"REF","effect":"allow","actions":["read"],"resource":"tools/x"}' },
          ],
        ]
        for (const [path, init] of asked)
          assert.strictEqual(
            yield* answer(path, agent.name, init),
            yield* answer(path, `${agent.name} free`, init),
            path,
          )
      }),
    )

    it.effect("an epoch that was rolled back is no later one: what was remembered under it counts for nothing", () =>
      Effect.gen(function* () {
        const { transact } = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const epoch = Effect.map(sql<{ epoch: number }>`SELECT epoch FROM access_epoch`, (rows) => rows[0]!.epoch)
        const undone = new Set<number>()
        for (let times = 0; times < 20; times++)
          yield* Effect.ignore(
            transact(
              Effect.gen(function* () {
                yield* rightsChanged
                undone.add(yield* epoch)
                return yield* Effect.fail("undone")
              }),
            ),
          )
        for (let times = 0; times < 20; times++) {
          yield* transact(rightsChanged)
          assert.isFalse(undone.has(yield* epoch))
        }
      }),
    )
  })
