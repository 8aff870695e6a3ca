/** The token of a turn: it acts for its run, and nothing made with it outlives it. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest, house } from "../house.ts"
import { call, someone } from "../spaces/spacesGuests.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`the token of a turn on ${store}`, (it) => {
    it.effect(
      "is not renewed, makes, rotates and revokes no token, makes no session and no loan, and ends with its turn",
      () =>
        Effect.gen(function* () {
          const tokens = yield* Tokens
          const { transact } = yield* Journal
          const [agent, mate] = [yield* someone("agent"), yield* someone("agent")]
          // However much right its agent has.
          const { adminToken } = yield* Guest
          const grant = { principal: agent.id, resource: "tokens/*", actions: ["write"] }
          assert.strictEqual((yield* call({ ...mate, token: adminToken }, "POST", "/grants", grant)).status, 201)
          assert.strictEqual((yield* call(agent, "POST", "/tokens", { principal: agent.id })).status, 201)
          const turn = { run: "run_1", step: 1, root: "run_1" }
          const expiresAt = DateTime.add(yield* DateTime.now, { hours: 1 })
          const token = Redacted.value(yield* transact(tokens.openTurn(agent.id as never, turn, expiresAt)))
          const program = { ...agent, token }
          const own = (yield* call(program, "GET", `/tokens?principal=${agent.id}`)).body as {
            items: ReadonlyArray<{ id: string; label: string }>
          }
          const { id } = own.items.find(({ label }) => label === "turn 1 of run_1")!
          const asked = [
            ["/tokens/" + id + "/rotate", {}],
            ["/tokens", { principal: agent.id }],
            ["/session", { token }],
            ["/delegations", { to: mate.id, resource: "tools/*", actions: ["execute"], reason: "help" }],
          ] as const
          const statuses: Array<number> = []
          for (const [path, body] of asked) statuses.push((yield* call(program, "POST", path, body)).status)
          assert.deepStrictEqual(statuses, [409, 403, 403, 403])
          // An auditor sees what it tried.
          yield* (yield* Readers).receipt("audit")
          const { admin } = yield* Guest
          const { items } = yield* ask(() => admin.audit.list({ principal: agent.id, result: "denied" }))
          assert.deepStrictEqual(
            items.map(({ rule }) => rule),
            ["cannot delegate", "opens no session", "makes no tokens"].map(
              (not) => `the token of a program's turn ${not}`,
            ),
          )
          // However it tries, the tokens of its agent stay as they are, and nothing of it lasts longer than the turn.
          const lasting = own.items.find(({ label }) => label === null)!
          const rotated = yield* call(program, "POST", `/tokens/${lasting.id}/rotate`)
          const revoked = yield* call(program, "DELETE", `/tokens/${lasting.id}`)
          assert.deepStrictEqual(
            [rotated, revoked].map(({ body, status }) => [status, body["rule"]]),
            [
              [403, "the token of a program's turn rotates no tokens"],
              [403, "the token of a program's turn ends no other token"],
            ],
          )
          yield* (yield* Readers).receipt("audit")
          const denied = yield* ask(() => admin.audit.list({ principal: agent.id, result: "denied" }))
          assert.includeMembers(
            denied.items.map(({ rule }) => rule),
            [rotated, revoked].map(({ body }) => body["rule"]),
          )
          assert.strictEqual((yield* call(agent, "GET", "/me")).status, 200)
          assert.strictEqual((yield* call(program, "GET", "/me")).status, 200)
          // The end of another turn of the same run leaves it.
          yield* transact(tokens.closeTurn("run_1", 2))
          assert.strictEqual((yield* call(program, "GET", "/me")).status, 200)
          yield* transact(tokens.closeTurn("run_1", 1))
          assert.strictEqual((yield* call(program, "GET", "/me")).status, 401)
        }),
    )
  })
