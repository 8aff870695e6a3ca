/** Runs and the other doors: what ends with a right ends a wait too, and what a program does anywhere is its run's doing. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { call, fresh, someone, type Someone } from "../spaces/spacesGuests.ts"
import { dm, ended, inState, room, runsHouse, runsOf, setRules, stores, thinker, until } from "./runsKit.ts"

const gateway = { toolsets: ["gateway" as const] }

/** An agent in a turn of a run that others have woken so many times, with the token of that turn. */
const inTurn = Effect.fnUntraced(function* (agent: Someone, depth: number) {
  const { admin } = yield* Guest
  const sql = yield* SqlClient.SqlClient
  const { transact } = yield* Journal
  const before = (yield* runsOf(agent)).length
  yield* ask(() => admin.agents.trigger(agent.name, { text: "go" }))
  const run = (yield* ended(agent, before + 1)).at(-1)!
  yield* Effect.orDie(sql`UPDATE runs SET chain_depth = ${depth} WHERE id = ${run.id}`)
  const turn = { run: run.id, step: 1, root: run.id }
  const expiresAt = DateTime.add(yield* DateTime.now, { hours: 1 })
  const token = yield* Effect.orDie(transact((yield* Tokens).openTurn(agent.id as never, turn, expiresAt)))
  return { ...agent, token: Redacted.value(token) } satisfies Someone
})

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(
    `runs at other doors on ${store}`,
    (it) => {
      const ways: Record<string, (bot: Someone, space: string) => Effect.Effect<unknown, never, Guest>> = {
        "put out of the space": (bot, space) =>
          Effect.flatMap(Guest, ({ admin }) => ask(() => admin.spaces.removeMember(space, bot.id))),
        "denied the space": (bot, space) =>
          Effect.flatMap(Guest, ({ admin }) =>
            ask(() =>
              admin.grants.add({ principal: bot.id, resource: `spaces/${space}`, actions: ["read"], effect: "deny" }),
            ),
          ),
        "denied all spaces": (bot) =>
          Effect.flatMap(Guest, ({ admin }) =>
            ask(() => admin.grants.add({ principal: bot.id, resource: "spaces/*", actions: ["read"], effect: "deny" })),
          ),
      }
      for (const [way, end] of Object.entries(ways))
        it.effect(`X-30 S1-98 an agent that waits for a reply and is ${way} gets none that is said then`, () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const [ada, ben] = [yield* someone(), yield* someone()]
            const bot = yield* thinker(gateway)
            const space = yield* room("private", ada, ben, bot)
            yield* setRules([
              {
                when: { agent: bot.name, step: 1 },
                call: [{ tool: "send_message", input: { text: `@${ben.name} well?`, wait: true } }],
              },
            ])
            yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} start` }))
            yield* inState(bot, "waiting_reply")
            yield* end(bot, space.id)
            const secret = fresh("behind-its-back")
            yield* ask(() => ben.client.spaces.post(space.id, { text: secret }))
            const [run] = yield* ended(bot)
            const { items } = yield* ask(() => admin.runs.messages(run!.id))
            assert.notInclude(JSON.stringify(items), secret)
            const sql = yield* SqlClient.SqlClient
            const waits = yield* sql`SELECT w.state FROM waits w WHERE w.agent = ${bot.id}`
            assert.deepStrictEqual(
              waits.map((one) => one["state"]),
              ["released"],
            )
          }),
        )

      it.effect("X-05 S0-64 whichever door a program uses in its turn, what it wakes is deeper than its run", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const most = 4
          const maker = yield* thinker(gateway)
          yield* setRules([{ say: "Done." }])
          const acts: Record<string, (who: Someone, other: Someone) => Effect.Effect<unknown, never, never>> = {
            "a message": (who, other) =>
              Effect.gen(function* () {
                const space = yield* dm(who, other)
                return yield* call(who, "POST", `/spaces/${space.id}/messages`, { text: "go on" })
              }) as never,
            "a chat session": (who, other) =>
              Effect.gen(function* () {
                const { body } = yield* call(who, "POST", "/chat-sessions", { agent: other.id })
                return yield* call(who, "POST", `/chat-sessions/${String(body["id"])}/messages`, { text: "go on" })
              }) as never,
            "a trigger": (who, other) => call(who, "POST", `/agents/${other.id}/trigger`, { text: "go on" }) as never,
          }
          for (const [act, make] of Object.entries(acts))
            for (const depth of [most - 1, most]) {
              const other = yield* thinker({ ...gateway, limits: { depth: most } })
              yield* ask(() =>
                admin.grants.add({ principal: maker.id, resource: `agents/${other.name}`, actions: ["execute"] }),
              )
              const who = yield* inTurn(maker, depth)
              yield* make({ ...who, client: (yield* Guest).as(who.token) }, other)
              yield* (yield* Readers).receipt("runs")
              if (depth < most) assert.strictEqual((yield* ended(other))[0]!.chainDepth, depth + 1, act)
              else assert.lengthOf(yield* runsOf(other), 0, act)
            }
        }),
      )

      it.effect(
        "X-05 what a run says after a person has approved it is said in the run, and wakes one level deeper",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const sql = yield* SqlClient.SqlClient
            const [bot, other] = [yield* thinker(gateway), yield* thinker(gateway)]
            const space = yield* room("private", bot, other)
            yield* ask(() =>
              admin.grants.add({
                principal: bot.id,
                resource: "tools/send_message",
                actions: ["execute"],
                effect: "ask",
              }),
            )
            yield* setRules([
              {
                when: { agent: bot.name, step: 1 },
                call: [{ tool: "send_message", input: { text: `@${other.name} go on` } }],
              },
              { say: "Done." },
            ])
            yield* ask(() => admin.spaces.post(space.id, { text: `@${bot.name} start` }))
            const decision = yield* until(
              Effect.map(
                ask(() => admin.decisions.list({ state: "open" })),
                ({ items }) => items.find(({ askedBy }) => askedBy === bot.id),
              ),
            )
            yield* ask(() => admin.decisions.answer(decision.id, { verdict: "approve" }))
            const [run] = yield* ended(bot)
            const [woken] = yield* ended(other)
            const said =
              yield* sql`SELECT run FROM messages WHERE space = ${space.id} AND text = ${`@${other.name} go on`}`
            assert.deepStrictEqual([said.map((one) => one["run"]), woken!.chainDepth], [[run!.id], run!.chainDepth + 1])
          }),
      )

      it.effect(
        "S1-97 a run whose approved message waits for a reply waits for the reply, too, and goes on with it",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const [ada, bot] = [yield* someone(), yield* thinker(gateway)]
            const space = yield* room("private", ada, bot)
            yield* ask(() =>
              admin.grants.add({
                principal: bot.id,
                resource: "tools/send_message",
                actions: ["execute"],
                effect: "ask",
              }),
            )
            yield* setRules([
              {
                when: { agent: bot.name, step: 1 },
                call: [{ tool: "send_message", input: { text: `@${ada.name} well?`, wait: true } }],
              },
              { say: "Done." },
            ])
            yield* ask(() => admin.spaces.post(space.id, { text: `@${bot.name} start` }))
            const { id } = yield* inState(bot, "waiting_tool")
            const { items } = yield* ask(() => admin.decisions.list({ state: "open" }))
            const decision = items.find(({ askedBy }) => askedBy === bot.id)!
            yield* ask(() => admin.decisions.answer(decision.id, { verdict: "approve" }))
            assert.strictEqual((yield* inState(bot, "waiting_reply")).id, id)
            yield* ask(() => ada.client.spaces.post(space.id, { text: "All is well." }))
            assert.deepInclude((yield* ended(bot))[0]!, { id, state: "completed", step: 2 })
          }),
      )

      it.effect(
        "X-63 in a run, an approved complete answers who wrote to it, and an approved enter_space moves the run",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const [pam, bot] = [yield* someone(), yield* thinker(gateway)]
            yield* ask(() => admin.principals.change(bot.id, { toolsets: ["gateway", "team"] }))
            for (const tool of ["complete", "enter_space"])
              yield* ask(() =>
                admin.grants.add({
                  principal: bot.id,
                  resource: `tools/${tool}`,
                  actions: ["execute"],
                  effect: "ask",
                }),
              )
            const elsewhere = yield* room("private", pam, bot)
            const here = yield* dm(pam, bot)
            yield* setRules([
              {
                when: { agent: bot.name, step: 1 },
                call: [{ tool: "complete", input: { result: "Done, as you asked." } }],
              },
              {
                when: { agent: bot.name, step: 2 },
                call: [{ tool: "enter_space", input: { spaceId: elsewhere.id } }],
              },
              { when: { agent: bot.name, step: 3 }, call: [{ tool: "send_message", input: { text: "I am here." } }] },
              { say: "Over." },
            ])
            yield* ask(() => pam.client.spaces.post(here.id, { text: "Please do it." }))
            for (const _ of ["complete", "enter_space"]) {
              const decision = yield* until(
                Effect.map(
                  ask(() => admin.decisions.list({ state: "open" })),
                  ({ items }) => items.find(({ askedBy }) => askedBy === bot.id),
                ),
              )
              yield* ask(() => admin.decisions.answer(decision.id, { verdict: "approve" }))
            }
            yield* ended(bot)
            const said = (space: string) =>
              Effect.map(
                ask(() => pam.client.spaces.messages(space)),
                ({ items }) => items.filter(({ author }) => author.id === bot.id).map(({ text }) => text),
              )
            assert.include(yield* said(here.id), "Done, as you asked.")
            assert.deepStrictEqual(yield* said(elsewhere.id), ["I am here."])
          }),
      )

      it.effect("a plan that a program writes as a record is deeper than its run, too", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const bot = yield* thinker({ ...gateway, limits: { depth: 2 } })
          yield* setRules([{ say: "Done." }])
          const plan = { name: "again", instruction: "Plan again.", runAfter: "1 second" }
          const record = { namespace: "gateway", kind: "plan", content: JSON.stringify(plan) }
          const who = yield* inTurn(bot, 2)
          const ways = [
            ["/memory", record],
            ["/memory/import", { lines: [record] }],
          ] as const
          for (const [at, [path, body]] of ways.entries()) {
            assert.isBelow((yield* call(who, "POST", path, body)).status, 300, path)
            yield* until(
              Effect.map(
                sql<{
                  failure: string
                }>`SELECT failure FROM dead_letters WHERE failure LIKE ${`%of ${bot.name} was made%`}`,
                (all) => (all.length > at ? all : undefined),
              ),
            )
          }
          assert.lengthOf(yield* runsOf(bot), 1)
        }),
      )

      it.effect("S1-60 G-10 nobody has more plans that are due than the most, however they are written", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const guest = yield* someone("service")
          const plan = { name: "tick", instruction: "Tick.", cron: "* * * * *" }
          const line = (at: number) => ({
            namespace: "gateway",
            kind: "plan",
            key: `p${at}`,
            content: JSON.stringify(plan),
          })
          for (const from of [0, 150]) {
            const lines = Array.from({ length: 150 }, (_, at) => line(from + at))
            assert.strictEqual((yield* call(guest, "POST", "/memory/import", { lines })).status, 200)
          }
          assert.strictEqual((yield* call(guest, "POST", "/memory", line(999))).status, 201)
          yield* (yield* Readers).receipt("plans")
          const [plans] = yield* sql<{ n: number }>`SELECT count(*) AS n FROM memory_plans WHERE owner = ${guest.id}`
          assert.strictEqual(plans!.n, 200)
          const [timers] = yield* sql<{ n: number }>`SELECT count(*) AS n FROM timers WHERE key LIKE 'plan %'`
          assert.isAtMost(timers!.n, 210)
        }),
      )
    },
  )
