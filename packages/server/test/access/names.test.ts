/** What nobody can learn or keep who has lost the right to it, on both databases: names, and rules of a change that was undone. */
import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { type Principal, toolNames } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { rightsChanged } from "../../src/access/rights/Rights.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"
import { samples } from "./authorizationSamples.ts"
import { inputWith, namedPlaces, requestWith, textsIn } from "./nameKit.ts"

let named = 0
const fresh = (word: string) => `${word}-${++named}`
const someone = Effect.fnUntraced(function* (kind: Principal["kind"], over: object = {}) {
  const { admin, as } = yield* Guest
  const { id, name } = yield* ask(() => admin.principals.add({ kind, name: fresh(kind), ...over }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: id }))
  return { id, name, token, client: as(token) }
})

/** What an answer says, apart from the name that was given and from what is new in every answer. */
const saidTo = (ref: string, answer: string): string =>
  answer
    .replaceAll(ref, "REF")
    .replaceAll(/"(?:instance|correlationId|traceId)":"[^"]*"/g, "")
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`names and epochs on ${store}`, (it) => {
    it.effect("whoever may not know of somebody cannot tell a name that is taken from one that is free", () =>
      Effect.gen(function* () {
        const { admin, raw } = yield* Guest
        const known = yield* Effect.forEach(["agent", "person", "service"] as const, (kind) => someone(kind))
        const pairs = known.flatMap(({ id, name }) => [
          [name, `${name} free`],
          [name.toUpperCase(), `${name} FREE`],
          [id, `prn_${randomUUID()}`],
        ])
        const other = yield* someone("agent")
        const plain = yield* someone("agent", { roles: ["guest"] })
        const busy = yield* someone("agent", { roles: ["guest"] })
        for (const [actions, resource] of [
          [["read", "write"], "spaces/*"],
          [["execute"], "tools/*"],
          [["write"], "principals/new-*"],
        ] as const)
          yield* ask(() => admin.grants.add({ principal: busy.id, actions, resource }))
        const mine = yield* ask(() => busy.client.spaces.add({ name: fresh("mine"), kind: "private" }))
        const others = yield* ask(() => admin.spaces.add({ name: fresh("public"), kind: "public" }))

        const told: Array<string> = []
        // One without a right asks about things of others, one with a few rights about its own.
        for (const [guest, owner, room] of [
          [plain, other, others.id],
          [busy, busy, mine.id],
        ] as const)
          for (const place of namedPlaces) {
            const given = yield* ask(() => samples[place.route]!({ admin, agent: async () => owner, fresh, room }))
            // Whoever has something to lend is told whether there is somebody to lend it to; what is its own, everybody has.
            const lends = guest === busy && place.route === "delegations.add"
            const sample = lends ? { ...given, body: { ...Object(given.body), resource: "self/tokens" } } : given
            const answer = Effect.fnUntraced(function* (ref: string) {
              const { init, path } = requestWith(place, sample, ref)
              const headers = { authorization: `Bearer ${guest.token}`, "content-type": "application/json" }
              const response = yield* ask(() => raw(path, { ...init, headers }))
              return `${response.status} ${saidTo(ref, yield* ask(() => response.text()))}`
            })
            const where = `${place.route} ${place.where}.${place.field}`
            // A request that nobody understands would look the same for every name.
            assert.notInclude(yield* answer("nobody has this"), "BadInput", where)
            for (const [taken, free] of pairs) {
              const [one, two] = [yield* answer(taken!), yield* answer(free!)]
              if (one !== two) told.push(`${where} of ${taken}: ${one} and not ${two}`)
            }
          }
        assert.deepStrictEqual(told, [])
      }),
    )

    it.effect("no tool of the house tells a guest which names are taken", () =>
      Effect.gen(function* () {
        const { admin, raw } = yield* Guest
        const words = [1, 2, 3].map(() => `n${randomUUID().slice(0, 8)}`)
        yield* someone("agent", { name: words[1] })
        const guest = yield* someone("agent", { roles: ["guest"], toolsets: Object.keys(toolNames) })
        yield* ask(() => admin.grants.add({ principal: guest.id, actions: ["execute"], resource: "tools/*" }))
        yield* ask(() => admin.grants.add({ principal: guest.id, actions: ["read", "write"], resource: "spaces/*" }))
        const { items } = yield* ask(() => guest.client.tools.list({ limit: 100 }))
        const told: Array<string> = []
        for (const { inputSchema, name, requiresApproval } of items)
          for (const field of textsIn(inputSchema)) {
            // Whoever may create agents is told which names are taken; a tool that waits for a person says nothing; and
            // a search finds what the tools before it have written.
            if (requiresApproval || (name === "spawn_agent" && field === "name") || name.startsWith("search")) continue
            const answer = Effect.fnUntraced(function* (ref: string) {
              const input = inputWith(inputSchema, field, ref)
              const path = `/api/v1/tools/${encodeURIComponent(name)}/call`
              const headers = { authorization: `Bearer ${guest.token}`, "content-type": "application/json" }
              const body = JSON.stringify({ input, wait: 1 })
              const response = yield* ask(() => raw(path, { method: "POST", headers, body }))
              return `${response.status} ${saidTo(ref, yield* ask(() => response.text()))}`
            })
            // What a tool says can depend on what it was told before: two free names show it.
            for (const names of [words, words.map((word) => word.toUpperCase())]) {
              const [one, two, three] = yield* Effect.forEach(names, answer)
              if (one !== two && two !== three) told.push(`${name} ${field}: ${two} and not ${three}`)
            }
          }
        assert.deepStrictEqual(told, [])
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
