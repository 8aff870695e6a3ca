/** What time does in spaces: files of deleted messages go, and a form that nobody fills ends. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { admin, callsHouse, callTool, configure, stores, told } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { until } from "../stores.ts"
import { call, fresh, someone, type Someone } from "./spacesGuests.ts"

const room = (owner: Someone, members: ReadonlyArray<Someone>, over: object = {}) =>
  ask(() =>
    owner.client.spaces.add({ name: fresh("room"), kind: "private", members: members.map(({ id }) => id), ...over }),
  )
const callsIn = (who: Someone, space: string) =>
  Effect.map(
    ask(() => who.client.spaces.messages(space)),
    ({ items }) => items.filter((one) => one.call !== null),
  )

for (const store of stores)
  layer(callsHouse({ store }), { timeout: 60_000 })(`time in spaces on ${store}`, (it) => {
    it.effect(
      "G-30 the file of a result goes with the message that showed it, and not with another's",
      () =>
        Effect.gen(function* () {
          const { raw } = yield* Guest
          const [boss, pam, bot] = [yield* admin, yield* someone(), yield* someone("agent")]
          const space = yield* room(pam, [bot])
          const service = yield* http((asked, response) => void response.end(JSON.stringify(asked.url!.repeat(8000))))
          const form = (visibility: string) =>
            configure({
              executionType: "gateway",
              inputSchema: { type: "object", properties: { to: { type: "string" } } },
              visibility,
              execution: { url: `${service.url}/{{input.to}}` },
            })
          const [visible, only] = [yield* form("visible"), yield* form("result-only")]
          const shown = Effect.fnUntraced(function* (tool: string, to: string) {
            const made = told(yield* callTool(bot, tool, { input: { to }, space: space.id }))
            const messages = yield* callsIn(pam, space.id)
            return { file: made.outputFile!.file, message: messages.find(({ call: of }) => of!.id === made.id)!.id }
          })
          const read = (who: Someone, file: string) =>
            Effect.map(
              ask(() => raw(`/api/v1/files/${file}`, { headers: { authorization: `Bearer ${who.token}` } })),
              ({ status }) => status,
            )
          const receipt = Effect.flatMap(Readers, (readers) => readers.receipt("deleted-files"))
          for (const { name } of [visible, only]) {
            const [one, twin, other] = [
              yield* shown(name, `${name}-a`),
              yield* shown(name, `${name}-a`),
              yield* shown(name, `${name}-b`),
            ]
            assert.strictEqual(one.file, twin.file)
            for (const who of [pam, bot]) assert.strictEqual(yield* read(who, one.file), 200)
            yield* ask(() => pam.client.messages.remove(other.message))
            assert.strictEqual(yield* read(pam, other.file), 403, "at once")
            yield* receipt
            assert.strictEqual(yield* read(bot, other.file), 403)
            yield* ask(() => bot.client.messages.remove(one.message))
            yield* receipt
            assert.strictEqual(yield* read(pam, twin.file), 200, "the twin's message still shows it")
            // Again and again: the timer may have looked at the clock just before it was moved.
            yield* until(
              Effect.andThen(
                TestClock.adjust({ minutes: 1 }),
                Effect.map(read(boss, other.file), (status) => status === 404),
              ),
            )
            assert.strictEqual(yield* read(boss, twin.file), 200)
          }
        }).pipe(Effect.scoped, Effect.orDie),
      { timeout: 120_000 },
    )

    it.effect("S1-83 a form that nobody fills ends after ten minutes, unless its tool says otherwise", () =>
      Effect.gen(function* () {
        const [pam, bot] = [yield* someone(), yield* someone("agent")]
        const space = yield* room(pam, [bot])
        const form = (execution: object) => configure({ executionType: "space", execution })
        const [usual, short] = [yield* form({}), yield* form({ timeout: 60_000 })]
        const ask2 = Effect.fnUntraced(function* (name: string) {
          const made = yield* callTool(bot, name, { input: {}, space: space.id, wait: 0 })
          assert.strictEqual(made.status, 202)
          return told(made).id
        })
        const [long, soon] = [yield* ask2(usual.name), yield* ask2(short.name)]
        const sql = yield* SqlClient.SqlClient
        const due = yield* sql<{ dueAt: string }>`SELECT due_at FROM timers ORDER BY due_at DESC`
        const now = DateTime.toEpochMillis(yield* DateTime.now)
        const inMinutes = due.map(({ dueAt }) => (Date.parse(dueAt) - now) / 60_000)
        assert.includeMembers(inMinutes, [10, 1])
        const state = (id: string) => Effect.map(call(bot, "GET", `/calls/${id}`), ({ body }) => body["state"])
        const passed = Effect.map(DateTime.now, (then) => (DateTime.toEpochMillis(then) - now) / 60_000)
        for (const id of [long, soon]) assert.strictEqual(yield* state(id), "waiting")
        // Half a minute at a time: the timer may have looked at the clock just before it was moved.
        const over = (id: string) =>
          until(
            Effect.andThen(
              TestClock.adjust({ seconds: 30 }),
              Effect.map(state(id), (is) => is !== "waiting"),
            ),
          )
        yield* over(soon)
        assert.isAtLeast(yield* passed, 1)
        assert.strictEqual(yield* state(soon), "expired")
        const then = yield* passed
        if (then < 9.5) {
          yield* TestClock.adjust({ seconds: (9.5 - then) * 60 })
          assert.strictEqual(yield* state(long), "waiting")
        }
        yield* over(long)
        assert.isAtLeast(yield* passed, 10)
        const { body } = yield* call(bot, "GET", `/calls/${long}`)
        assert.strictEqual(body["state"], "expired")
        assert.match(JSON.stringify(body["error"]), /in time|expired|nobody/i)
      }).pipe(Effect.orDie),
    )
  })
