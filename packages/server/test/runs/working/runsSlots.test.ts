/** Slots are shared by those who wait for them, and belong to whoever is alone. */
import { assert, it as alone, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { pause } from "../../../../../test/pause.ts"
import { ask, Guest } from "../../house.ts"
import { send, token } from "../../killedHouse.ts"
import { someone } from "../../spaces/spacesGuests.ts"
import { cluster, open } from "../houses/housesKit.ts"
import { ended, runsHouse, runsOf, setRules, settled, stores, thinker, until } from "../runsKit.ts"

const slots = 4
const many = Array.from({ length: 12 }, (_, at) => at)

interface Worked {
  readonly createdAt: string
  readonly startedAt: string
  readonly endedAt: string
}

for (const store of stores)
  layer(runsHouse({ store, env: { STOA_SLOTS: String(slots) } }), { excludeTestServices: true, timeout: 90_000 })(
    `slots on ${store}`,
    (it) => {
      const service = Effect.fnUntraced(function* (
        bots: ReadonlyArray<{ readonly id: string; readonly name: string }>,
      ) {
        const { admin } = yield* Guest
        const who = yield* someone("service")
        for (const { name } of bots)
          yield* ask(() => admin.grants.add({ principal: who.id, resource: `agents/${name}`, actions: ["execute"] }))
        return who
      })
      const running = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ n: number }>`SELECT count(*) AS n FROM runs WHERE state = 'running'`
        return rows[0]!.n === slots ? true : undefined
      })
      /** How many slots were released, and given to others, between the moment it was asked for and its beginning. */
      const waited = Effect.fnUntraced(function* (bots: ReadonlyArray<{ readonly id: string }>, late: string) {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<Worked>`SELECT created_at, started_at, ended_at FROM runs WHERE ${sql.in(
          "agent",
          bots.map(({ id }) => id),
        )}`
        const own = (yield* sql<Worked>`SELECT created_at, started_at, ended_at FROM runs WHERE agent = ${late}`)[0]!
        const isMeanwhile = (at: string) => at >= own.createdAt && at < own.startedAt
        return {
          released: rows.filter(({ endedAt }) => isMeanwhile(endedAt)).length,
          given: rows.filter(({ startedAt }) => isMeanwhile(startedAt)).length,
        }
      })

      for (const [name, isTree] of [
        ["twelve agents that one service wakes", false],
        ["twelve children of one agent", true],
      ] as const)
        it.effect(`${name} take all slots, and of those released the next is for another`, () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            yield* settled
            const bots = yield* Effect.forEach(many, () => thinker())
            const late = yield* thinker()
            if (isTree) {
              const root = yield* someone("agent")
              for (const { id } of bots) yield* ask(() => admin.agents.change(id, { parent: root.id }))
            }
            yield* setRules([
              { when: { agent: late.name }, say: "done" },
              { when: {}, say: "done", waitMs: 400 },
            ])
            const [busy, other] = [yield* service(bots), yield* service([late])]
            // In a tree the same person wakes all, so that the tree alone tells them apart.
            const waker = isTree ? admin : busy.client
            yield* Effect.forEach(bots, ({ id }) => ask(() => waker.agents.trigger(id, { text: "work" })), {
              concurrency: "unbounded",
            })
            yield* until(running)
            yield* ask(() => (isTree ? admin : other.client).agents.trigger(late.id, { text: "work" }))
            yield* ended(late)
            for (const bot of bots) yield* ended(bot)
            const { given, released } = yield* waited(bots, late.id)
            assert.isAtMost(released, slots, "those that worked when it was asked for, which may end together")
            // One may be on its way when it is asked for.
            assert.isAtMost(given, 1, "the other eight had been there before it")
          }),
        )

      it.effect("a run of many steps lets another in at the end of its step", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          yield* settled
          const bots = yield* Effect.forEach(many, () => thinker())
          const late = yield* thinker()
          const busy = yield* service(bots)
          yield* setRules([
            { when: { agent: late.name }, say: "done" },
            ...[1, 2, 3, 4, 5, 6].map((step) => ({ when: { step }, call: [{ tool: "whoami" }], waitMs: 150 })),
            { when: {}, say: "done" },
          ])
          for (const { id } of bots) yield* ask(() => busy.client.agents.trigger(id, { text: "work" }))
          yield* until(running)
          yield* ask(() => admin.agents.trigger(late.id, { text: "work" }))
          yield* ended(late)
          const over = (yield* Effect.forEach(bots, runsOf)).flat().filter(({ endedAt }) => endedAt !== null)
          assert.lengthOf(over, 0, "none of theirs had to end for it")
          for (const bot of bots) {
            const [run] = yield* ended(bot)
            assert.deepStrictEqual([run!.state, run!.step], ["completed", 7])
          }
        }),
      )
    },
  )

alone.live(
  "two houses on one database share their slots in the same way",
  () =>
    Effect.gen(function* () {
      const on = yield* cluster
      on.rules([
        { when: { agent: "late" }, say: "done" },
        { when: {}, say: "done", waitMs: 400 },
      ])
      const houses = [yield* open(on), yield* open(on)]
      const sent = (at: number, method: string, path: string, body?: object, who = token) =>
        send(houses[at]!.url, who, method, path, body)
      const add = Effect.fnUntraced(function* (name: string) {
        yield* sent(0, "POST", "/principals", { kind: "agent", name })
        yield* sent(0, "PATCH", `/agents/${name}`, { model: "demo" })
      })
      const names = Array.from({ length: 60 }, (_, at) => `bot-${at}`)
      yield* Effect.forEach([...names, "late"], add)
      yield* sent(0, "POST", "/principals", { kind: "service", name: "other", roles: ["member"] })
      yield* sent(0, "POST", "/grants", { principal: "other", resource: "agents/late", actions: ["execute"] })
      const { body } = yield* sent(0, "POST", "/tokens", { principal: "other" })
      yield* Effect.forEach(names, (name, at) => sent(at % 2, "POST", `/agents/${name}/trigger`, { text: "work" }), {
        concurrency: "unbounded",
      })
      yield* sent(1, "POST", "/agents/late/trigger", { text: "work" }, body["token"] as string)
      const runs = Effect.map(
        Effect.suspend(() => sent(0, "GET", "/runs?limit=100")),
        (answer) =>
          answer.body["items"] as ReadonlyArray<{ endedAt: string | null; startedAt: string; createdAt: string }>,
      )
      while ((yield* runs).some(({ endedAt }) => endedAt === null)) yield* Effect.promise(pause)
      const [late, ...others] = yield* runs
      const before = others.filter(({ endedAt }) => endedAt! >= late!.createdAt && endedAt! < late!.startedAt)
      const behind = others.filter(({ startedAt }) => startedAt > late!.startedAt)
      assert.isAtMost(before.length, 16, "at most as many as one round of all slots")
      assert.isAtLeast(behind.length, 1, "those who came before it, and had their share, come after it")
      for (const { child } of houses) yield* child.kill
    }),
  90_000,
)
