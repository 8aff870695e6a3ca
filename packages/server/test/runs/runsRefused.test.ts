/** What a run is refused in a space is audited as denied, as if its agent had asked at a door; and the run goes on. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"
import { programmed, setProgram } from "../team/teamKit.ts"
import { dm, ended, room, runsHouse, setRules, stores, thinker } from "./runsKit.ts"

/** It may read spaces, and write in none. Returns the rule that says so. */
const silence = Effect.fnUntraced(function* ({ id }: Someone) {
  const { admin } = yield* Guest
  const rule = { resource: "spaces/*", actions: ["write"], effect: "deny" } as const
  const made = yield* ask(() => admin.grants.add({ principal: id, ...rule }))
  if (!("id" in made)) throw new Error("nobody else has to agree")
  return `grant:${made.id}`
})

const deniedTo = Effect.fnUntraced(function* ({ id }: Someone) {
  yield* (yield* Readers).receipt("audit")
  const { admin } = yield* Guest
  const { items } = yield* ask(() => admin.audit.list({ principal: id, result: "denied", limit: 100 }))
  return items.map(({ action, resource, rule }) => [action, resource, rule])
})

for (const store of stores)
  layer(runsHouse({ store, env: { STOA_PROGRAMS: "unisolated" } }), { excludeTestServices: true, timeout: 90_000 })(
    `refusals of runs on ${store}`,
    (it) => {
      it.effect("S4-103 S2-81 the answer of a run that its session refuses is denied, and the run ends", () =>
        Effect.gen(function* () {
          const [ada, bot] = [yield* someone(), yield* thinker()]
          const sql = yield* SqlClient.SqlClient
          yield* setRules([{ when: { agent: bot.name, step: 1 }, say: "Here I am." }])
          const session = yield* ask(() => ada.client.chatSessions.add({ agent: bot.name }))
          const rule = yield* silence(bot)
          yield* ask(() => ada.client.chatSessions.post(session.id, { text: "are you there?" }))
          const [run] = yield* ended(bot)
          assert.strictEqual(run!.state, "completed")
          const [space] = yield* sql<{ name: string }>`SELECT s.name FROM spaces s JOIN runs r ON r.trigger_space = s.id
            WHERE r.id = ${run!.id}`
          assert.deepStrictEqual(yield* deniedTo(bot), [["post to", `spaces/${space!.name}`, rule]])
        }),
      )

      it.effect("S4-103 the answer of a program that a space refuses is denied, and the run ends", () =>
        Effect.gen(function* () {
          const [ada, bot] = [yield* someone(), yield* programmed()]
          yield* setProgram([{ when: { agent: bot.name }, say: "Here I am." }])
          const space = yield* dm(ada, bot)
          const rule = yield* silence(bot)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "are you there?" }))
          const [run] = yield* ended(bot)
          assert.strictEqual(run!.state, "completed")
          assert.deepStrictEqual(yield* deniedTo(bot), [["post to", `spaces/${space.name}`, rule]])
        }),
      )

      it.effect("S4-103 a call that is refused in the space of its run is denied there, and made without a space", () =>
        Effect.gen(function* () {
          const [ada, bot] = [yield* someone(), yield* thinker()]
          const sql = yield* SqlClient.SqlClient
          yield* setRules([{ when: { agent: bot.name, step: 1 }, call: [{ tool: "whoami" }] }])
          const space = yield* room("private", ada, bot)
          const rule = yield* silence(bot)
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} who are you?` }))
          const [run] = yield* ended(bot)
          const calls = yield* sql`SELECT state, space FROM calls WHERE run = ${run!.id}`
          assert.deepStrictEqual(calls, [{ state: "done", space: null }])
          assert.deepStrictEqual(yield* deniedTo(bot), [["call tools in", `spaces/${space.name}`, rule]])
        }),
      )
    },
  )
