/** A run that is repeated from within a run: counted, charged to the first cause, and never one of its own. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Tokens } from "../../../src/access/identity/Tokens.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { ask, Guest } from "../../house.ts"
import { refused, someone } from "../../spaces/spacesGuests.ts"
import { dm, ended, inState, runsHouse, runsOf, setRules, stores, thinker } from "../runsKit.ts"

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(`repeated on ${store}`, (it) => {
    it.effect("a turn repeats no run of its own agent or team, and others' only as deep as agents may wake", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const { transact } = yield* Journal
        const [pam, bot, child, other] = [yield* someone(), yield* thinker(), yield* thinker(), yield* thinker()]
        yield* ask(() => admin.principals.change(bot.id, { roles: ["admin"] }))
        yield* ask(() => admin.agents.change(child.id, { parent: bot.id }))
        yield* setRules([
          { when: { text: "first" }, say: "done" },
          { when: {}, say: "late", waitMs: 60_000 },
        ])
        for (const one of [bot, child, other]) yield* ask(() => admin.agents.trigger(one.id, { text: "first" }))
        const done = yield* Effect.forEach([bot, child, other], (one) => ended(one))
        const space = yield* dm(pam, bot)
        yield* ask(() => pam.client.spaces.post(space.id, { text: "again" }))
        const at = yield* inState(bot, "running")
        const until = DateTime.add(yield* DateTime.now, { minutes: 5 })
        const token = yield* Effect.orDie(
          transact((yield* Tokens).openTurn(bot.principal.id, { run: at.id, step: 1, root: at.id }, until)),
        )
        const turn = as(Redacted.value(token))
        for (const own of [done[0]![0]!, done[1]![0]!]) {
          const { message, status } = yield* refused(() => turn.runs.retry(own.id, {}))
          assert.strictEqual(status, 409)
          assert.include(message, "A run cannot repeat runs of its own agent or team")
        }
        const theirs = done[2]![0]!
        const { id } = yield* ask(() => turn.runs.retry(theirs.id, {}))
        const rows = yield* sql<{ causer: string; chainDepth: number }>`SELECT causer, chain_depth FROM runs
          WHERE id = ${id}`
        assert.deepEqual(rows[0], { causer: pam.id, chainDepth: at.chainDepth + 1 })
        yield* ended(other, 2)
        yield* ask(() => admin.agents.change(other.id, { limits: { depth: 0 } }))
        const deep = yield* refused(() => turn.runs.retry(theirs.id, {}))
        assert.include(deep.message, "The chain of agents is 1 deep")
        assert.lengthOf(yield* runsOf(other), 2)
        // A person begins anew.
        const again = yield* ask(() => admin.runs.retry(theirs.id, {}))
        assert.strictEqual(again.depth, 0)
        yield* ask(() => admin.runs.cancel(at.id))
      }),
    )
  })
