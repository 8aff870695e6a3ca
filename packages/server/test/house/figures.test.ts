/** The figures of Overview: exact numbers on both databases, and what each of the readers sees of them. */
import { assert, layer } from "@effect/vitest"
import type { Stoa } from "@stoa/sdk"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeToolCounts } from "../../src/calls/CallFigures.ts"
import { newId } from "../../src/store/journal/Correlation.ts"
import { ask, Guest } from "../house.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { runsHouse, stores } from "../runs/runsKit.ts"

const hour = 3_600_000
const iso = (millis: number) => new Date(millis).toISOString()

for (const store of stores)
  layer(runsHouse({ store, env: { STOA_MONTH_BUDGET: "100" } }), { excludeTestServices: true, timeout: 60_000 })(
    `figures on ${store}`,
    (it) => {
      /** Rows as the rooms leave them, at moments of the test's choosing. */
      const call = Effect.fnUntraced(function* (
        principal: string,
        at: number,
        state: string,
        ms: number | null,
        more: object = {},
      ) {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO calls ${sql.insert({
          id: newId("cal"),
          principal,
          context: "internal",
          tool: "test",
          input: "{}",
          digest: "",
          state,
          visibility: "visible",
          correlationId: "c",
          createdAt: iso(at),
          settledAt: ms === null ? null : iso(at + ms),
          ...more,
        })}`
      })
      const run = Effect.fnUntraced(function* (agent: string, at: number, state: string, costMicros: number) {
        const sql = yield* SqlClient.SqlClient
        const id = newId<string>("run")
        const over = state === "completed" || state === "failed"
        yield* sql`INSERT INTO runs ${sql.insert({
          id,
          agent,
          mailbox: agent,
          lane: 0,
          width: 1,
          thinker: "model",
          profile: "office",
          state,
          triggerKind: "service",
          triggerSummary: "",
          chainDepth: 0,
          root: id,
          nesting: 0,
          step: 1,
          rung: 0,
          fence: 1,
          // Not before the test is long over: nobody works on it.
          readyAt: Date.now() + 100 * hour,
          resumed: 0,
          attempts: 0,
          limits: "{}",
          tokensIn: 0,
          tokensOut: 0,
          costMicros,
          busyMs: 0,
          waits: 0,
          correlationId: "c",
          createdAt: iso(at),
          endedAt: over ? iso(at) : null,
        })}`
        yield* sql`INSERT INTO steps ${sql.insert({
          run: id,
          number: 1,
          state: "said",
          content: "[]",
          tokensIn: 1,
          tokensOut: 1,
          tokensCached: 0,
          costMicros,
          beganAt: iso(at),
          saidAt: iso(at),
        })}`
      })
      const spent = Effect.fnUntraced(function* (agent: string, micros: number) {
        const sql = yield* SqlClient.SqlClient
        const row = { agent, day: iso(Date.now()).slice(0, 10), tokensIn: 0, tokensOut: 0, costMicros: micros }
        yield* sql`INSERT INTO spend ${sql.insert({ ...row, causedMicros: 0 })}`
      })
      const clear = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const table of ["calls", "steps", "runs", "spend"]) yield* sql`DELETE FROM ${sql(table)}`
      })
      const figures = (of: Stoa, query: { readonly from?: string; readonly step?: number } = {}) =>
        ask(() => of.house.figures(query))

      it.effect("counts calls, runs, decisions and cost by when they were, exactly", () =>
        Effect.gen(function* () {
          yield* clear
          const { admin } = yield* Guest
          const bot = yield* someone("agent")
          const now = Date.now()
          const from = now - 4 * hour
          // The first hour.
          for (const ms of [10, 20, 30, 40, 1000]) yield* call(bot.id, from + hour / 2, "done", ms)
          yield* call(bot.id, from + hour / 2, "failed", 50)
          yield* call(bot.id, from + hour / 2, "refused", 5)
          // The third.
          yield* call(bot.id, from + 2.5 * hour, "expired", 5)
          yield* call(bot.id, from + 2.5 * hour, "canceled", 5)
          yield* call(bot.id, from + 2.5 * hour, "waiting", null, { onKind: "callback", onId: "x" })
          // It waited for somebody: how long says nothing of the tool.
          yield* call(bot.id, from + 2.5 * hour, "done", hour / 4, { onKind: "decision", onId: "x" })
          // Before the span, and within the last minute.
          yield* call(bot.id, from - hour, "done", 1)
          yield* call(bot.id, now - 1000, "done", 7)
          yield* run(bot.id, from + hour / 2, "completed", 250_000)
          yield* run(bot.id, from + hour / 2, "failed", 0)
          yield* run(bot.id, from + 3.5 * hour, "completed", 350_000)
          yield* run(bot.id, from, "queued", 0)
          yield* run(bot.id, from, "waiting_tool", 0)
          yield* spent(bot.id, 900_000)

          const it = yield* figures(admin, { from: iso(from), step: 3600 })
          assert.include(["4", "5"], String(it.calls.done.length))
          const four = (all: ReadonlyArray<unknown>) => all.slice(0, 3)
          assert.deepStrictEqual(
            [it.calls.done, it.calls.failed, it.calls.refused, it.calls.ended, it.calls.open].map(four),
            [
              [5, 0, 1],
              [1, 0, 0],
              [1, 0, 0],
              [0, 0, 2],
              [0, 0, 1],
            ],
          )
          assert.deepStrictEqual(four(it.calls.p50), [30, null, null])
          assert.deepStrictEqual(four(it.calls.p95), [1000, null, null])
          assert.strictEqual(it.calls.lastMinute, 1)
          assert.isNull(it.calls.since)
          assert.deepStrictEqual(four(it.runs.completed), [1, 0, 0])
          assert.deepStrictEqual(four(it.runs.failed), [1, 0, 0])
          assert.deepInclude(it.runs, { queued: 1, running: 0, waiting: 1 })
          assert.strictEqual(it.runs.slots.free, it.runs.slots.all)
          assert.deepStrictEqual(four(it.cost.points), [0.25, 0, 0])
          assert.strictEqual(it.cost.points.at(-1)! + it.cost.points.at(-2)!, 0.35)
          assert.strictEqual(it.cost.today, 0.9)
          // It goes on as in the last six hours: 0.6 dollars in six, for what is left of the day.
          const left = Date.parse(`${it.to.slice(0, 10)}T00:00:00Z`) + 24 * hour - Date.parse(it.to)
          const forecast = Math.round((0.9 + (0.6 / 6) * (left / hour)) * 1e6) / 1e6
          assert.closeTo(it.cost.forecast, forecast, 2e-6)
          assert.deepStrictEqual(
            it.cost.agents.map(({ agent, limit, today }) => ({ agent, limit, today })),
            [{ agent: bot.id, limit: 25, today: 0.9 }],
          )
          assert.strictEqual(it.cost.month.limit, 100)
        }),
      )

      it.effect("counts the calls of one server's tools within the last day, and nobody else's", () =>
        Effect.gen(function* () {
          yield* clear
          const { admin } = yield* Guest
          const bot = yield* someone("agent")
          const name = fresh("quay")
          // Nobody answers there: what was called before it went away is still counted.
          yield* ask(() => admin.mcpServers.add({ name, url: "http://127.0.0.1:9/mcp" }))
          const now = Date.now()
          const of = (tool: string) => ({ tool: `${name}/${tool}` })
          for (const ms of [10, 20, 900]) yield* call(bot.id, now - hour, "done", ms, of("tide"))
          yield* call(bot.id, now - 23 * hour, "failed", 30, of("berth"))
          yield* call(bot.id, now - hour, "refused", 5, of("berth"))
          yield* call(bot.id, now - hour, "waiting", null, { ...of("berth"), onKind: "decision", onId: "x" })
          // The day before, another server whose name begins alike, and a tool of the house.
          yield* call(bot.id, now - 25 * hour, "done", 1, of("tide"))
          yield* call(bot.id, now - hour, "done", 1, { tool: `${name}2/tide` })
          yield* call(bot.id, now - hour, "done", 1)
          const it = yield* ask(() => admin.mcpServers.figures(name))
          assert.deepInclude(it, { calls: 6, failed: 1, refused: 1, open: 1, p50: 20, p95: 900, since: null })
          // Its tools, over a week: the newest so many of each, and no other's.
          yield* call(bot.id, now - 8 * 24 * hour, "done", 1, of("berth"))
          const counts = yield* makeToolCounts
          const tools = ["tide", "berth", "none"].map((tool) => of(tool).tool)
          assert.deepStrictEqual(yield* counts(tools, now - 7 * 24 * hour, 1000), [4, 3, 0])
          assert.deepStrictEqual(yield* counts(tools, now - 7 * 24 * hour, 2), [2, 1, 0])
          assert.deepStrictEqual(it.tools, [])
          const refused = yield* Effect.flip(ask(() => bot.client.mcpServers.figures(name)))
          assert.strictEqual((refused as { status?: number }).status, 403)
        }),
      )

      it.effect(
        "a decision is counted when it is asked and when it is answered; the median says how long that took",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const bot = yield* someone("agent")
            const tool = fresh("asking")
            yield* ask(() =>
              admin.tools.add({
                name: tool,
                description: "Asks.",
                inputSchema: { type: "object" },
                executionType: "internal",
                requiresApproval: true,
              }),
            )
            const before = yield* figures(admin)
            const asked = yield* ask(() => bot.client.tools.call(tool, { input: {}, wait: 0 }))
            yield* ask(() => bot.client.tools.call(tool, { input: {}, wait: 0 }))
            yield* ask(() =>
              admin.decisions.answer((asked as { readonly on: { readonly id: string } }).on.id, { verdict: "deny" }),
            )
            const after = yield* figures(admin)
            const sum = (all: ReadonlyArray<number>) => all.reduce((so, one) => so + one, 0)
            assert.strictEqual(sum(after.decisions.asked) - sum(before.decisions.asked), 2)
            assert.strictEqual(sum(after.decisions.answered) - sum(before.decisions.answered), 1)
            assert.strictEqual(after.decisions.open - before.decisions.open, 1)
            assert.isAtLeast(after.decisions.median!, 0)
            // The agent has asked them: it sees its own, and nobody else's.
            const own = yield* figures(bot.client)
            assert.deepStrictEqual([sum(own.decisions.asked), own.decisions.open], [2, 1])
            const other = yield* someone()
            assert.deepStrictEqual((yield* figures(other.client)).decisions, {
              asked: own.decisions.asked.map(() => 0),
              answered: own.decisions.answered.map(() => 0),
              open: 0,
              median: null,
            })
          }),
      )

      it.effect("a member sees their own agents and spaces, and nothing of the house", () =>
        Effect.gen(function* () {
          yield* clear
          const { admin } = yield* Guest
          const [pam, eve, foreign] = [yield* someone(), yield* someone(), yield* someone("agent")]
          const mine = yield* ask(() => admin.principals.add({ kind: "agent", name: fresh("mine"), owner: pam.id }))
          const space = yield* ask(() =>
            admin.spaces.add({ name: fresh("room"), kind: "private", members: [pam.id, foreign.id] }),
          )
          const at = Date.now() - hour
          yield* call(mine.id, at, "done", 1)
          yield* call(foreign.id, at, "done", 1, { space: space.id })
          yield* call(foreign.id, at, "done", 1, { space: space.id, visibility: "hidden" })
          yield* call(foreign.id, at, "done", 1)
          yield* run(mine.id, at, "failed", 100)
          yield* run(foreign.id, at, "failed", 100)
          yield* spent(mine.id, 500_000)
          yield* spent(foreign.id, 700_000)
          const seen = (all: Awaited<ReturnType<Stoa["house"]["figures"]>>) => [
            all.calls.done.reduce((so, one) => so + one, 0),
            all.runs.failed.reduce((so, one) => so + one, 0),
            all.cost.agents.map(({ agent }) => agent),
            all.house === null,
          ]
          assert.deepStrictEqual(seen(yield* figures(pam.client)), [2, 1, [mine.id], true])
          assert.deepStrictEqual(seen(yield* figures(eve.client)), [0, 0, [], true])
          assert.deepStrictEqual(seen(yield* figures(admin)), [4, 2, [foreign.id, mine.id], false])
          assert.deepStrictEqual((yield* figures(pam.client)).needs, [])
        }),
      )

      it.effect("what needs somebody is named, with what is known of it, what stands still first", () =>
        Effect.gen(function* () {
          yield* clear
          const { admin } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const [poor, sad] = [yield* someone("agent"), yield* someone("agent")]
          yield* ask(() => admin.agents.change(poor.id, { limits: { perDay: { cost: 1 } } }))
          yield* spent(poor.id, 920_000)
          for (const state of ["failed", "failed", "failed", "completed"])
            yield* run(sad.id, Date.now() - hour, state, 0)
          const away = fresh("away").replaceAll("-", "")
          yield* ask(() => admin.mcpServers.add({ name: away, command: "/nowhere/at/all" }))
          const name = (id: string) => ask(async () => (await admin.principals.get(id)).name)
          const { needs } = yield* figures(admin)
          const of = (kind: string) => needs.filter((one) => one.kind === kind)
          assert.deepStrictEqual(of("budgetNear"), [
            {
              kind: "budgetNear",
              subject: yield* name(poor.id),
              detail: "It has spent 92 % of its day.",
              urgent: false,
            },
          ])
          assert.deepStrictEqual(of("agentFailing"), [
            {
              kind: "agentFailing",
              subject: yield* name(sad.id),
              detail: "3 of its 4 runs of the last 24 hours failed.",
              urgent: false,
            },
          ])
          assert.deepInclude(of("serverAway")[0], { subject: away, urgent: true })
          assert.strictEqual(needs[0]!.kind, "serverAway")
          assert.deepStrictEqual(of("noBackup"), [])

          // A house that is ten days old and was never copied.
          yield* sql`UPDATE journal SET at = ${iso(Date.now() - 10 * 24 * hour)} WHERE kind = 'house.started'`
          const old = (yield* figures(admin)).needs.filter(({ kind }) => kind === "noBackup")
          assert.deepStrictEqual(
            old.map(({ detail }) => detail),
            store === "sqlite" ? ["No backup was taken for 10 days."] : [],
          )
          const copy = yield* ask(() => admin.house.backup({}))
          yield* Effect.promise(async () => {
            for await (const _ of copy) void _
          })
          const after = yield* figures(admin)
          assert.deepStrictEqual(
            after.needs.filter(({ kind }) => kind === "noBackup"),
            [],
          )
          assert.isNotNull(after.house!.backupAt)
          const audit = yield* ask(() => admin.audit.list({ limit: 10 }))
          assert.isTrue(audit.items.some(({ action, resource }) => action === "back up" && resource === "house"))
        }),
      )

      it.effect("the house says what it is", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { house } = yield* figures(admin)
          assert.strictEqual(house!.store, store)
          assert.isAbove(house!.bytes, 10_000)
          assert.isAbove(house!.memory, 1_000_000)
          assert.isAbove(house!.auditEntries, 0)
          assert.isAbove(house!.checks.all, 8)
          assert.deepStrictEqual(house!.listening, { people: 0, agents: 0, services: 0 })
        }),
      )

      it.effect("a span that is too long, in the future or in too many points is refused with what to do", () =>
        Effect.gen(function* () {
          const { adminToken, raw } = yield* Guest
          const ask = (query: string) =>
            Effect.promise(async () => {
              const response = await raw(`/api/v1/figures?${query}`, {
                headers: { authorization: `Bearer ${adminToken}` },
              })
              const body = (await response.json()) as { readonly issues?: ReadonlyArray<{ readonly message: string }> }
              return [response.status, body.issues?.[0]?.message]
            })
          const at = (days: number) => encodeURIComponent(iso(Date.now() - days * 24 * hour))
          assert.deepStrictEqual(yield* ask(`from=${at(40)}&step=86400`), [400, "at most 31 days ago"])
          assert.deepStrictEqual(yield* ask(`from=${at(-1)}`), [400, "a moment in the past"])
          assert.deepStrictEqual((yield* ask(`from=${at(7)}&step=60`))[0], 400)
          assert.deepStrictEqual((yield* ask("step=1"))[0], 400)
          assert.deepStrictEqual(yield* ask(""), [200, undefined])
        }),
      )
    },
  )
