/**
 * What agents have spent, and what is left: of an agent's day, of the day of the principal it works for, and of the
 * house's month. Models are counted when a step is written; priced tools are paid for here, before they run.
 */
import { type AgentLimits, type PrincipalId, Spend as Spent, SpendReport } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents, branchOf, seesWorkOf } from "../../access/identity/Agents.ts"
import type { BasicViewer } from "../../access/rights/Viewer.ts"
import { Budget } from "../../calls/road/Budget.ts"
import { ChatSessions } from "../../sessions/ChatSessions.ts"
import { Settings } from "../../Settings.ts"
import { lockName } from "../../store/database/dialect/Locks.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { limitsFor } from "../profile.ts"
import { makeRunRecorder } from "../record/record.ts"
import { limitsOf, type RunRow } from "../record/rows.ts"
import { makeSumCache } from "./accounts.ts"
import { type BudgetUse, exceededBudget } from "../working/limits.ts"

interface Row {
  readonly agent: PrincipalId
  readonly day: string
  readonly tokensIn: number
  readonly tokensOut: number
  readonly costMicros: number
  readonly causedMicros: number
}

export class Spend extends Context.Service<
  Spend,
  {
    /** The present state of the budgets beyond the run's own that apply to it. */
    readonly budgetsOf: (
      run: Pick<RunRow, "agent" | "payer" | "limits" | "triggerSpace">,
    ) => Effect.Effect<ReadonlyArray<BudgetUse>>
    readonly report: (viewer: BasicViewer, days: number) => Effect.Effect<SpendReport>
  }
>()("server/runs/Spend") {
  static readonly layer = Layer.effectContext(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const agents = yield* Agents
      const record = yield* makeRunRecorder
      const { monthBudget, sessionBudget } = yield* Settings
      const sessions = yield* ChatSessions
      const today = Effect.map(DateTime.now, (now) => DateTime.formatIso(now).slice(0, 10))

      const dayOf = Effect.fnUntraced(function* (
        count: typeof spentBy,
        whose: string,
        name: string,
        limits: AgentLimits["perDay"],
      ) {
        if (limits === undefined) return []
        const { costMicros, tokens } = yield* count(whose)
        return [{ name, period: "today", costMicros, tokens, limits }] satisfies ReadonlyArray<BudgetUse>
      })

      /** What a principal spent today and the house this month: one query, since it runs before every model request. */
      const spentBy = Effect.fnUntraced(function* (whose: string) {
        const day = yield* today
        const month = day.slice(0, 7)
        // What agents below it spend counts too; otherwise every child would add another budget.
        const rows = yield* sql<{ tokens: number | null; costMicros: number | null; month: number | null }>`SELECT
          CAST(sum(tokens_in + tokens_out) AS BIGINT) AS tokens,
          CAST(sum(cost_micros + CASE WHEN agent = ${whose} THEN caused_micros ELSE 0 END) AS BIGINT) AS cost_micros,
          (SELECT CAST(sum(cost_micros) AS BIGINT) FROM spend
            WHERE day >= ${`${month}-01`} AND day <= ${`${month}-31`}) AS month
          FROM spend WHERE day = ${day} AND agent IN ${branchOf(sql, whose)}`
        const found = rows[0]
        return { tokens: found?.tokens ?? 0, costMicros: found?.costMicros ?? 0, month: found?.month ?? 0 }
      }, Effect.orDie)

      /** All runs of one chat session share one budget. */
      const sessionOf = Effect.fnUntraced(function* (space: string | null) {
        if (space === null || !(yield* sessions.isSession(space))) return []
        const rows = yield* sql<{ costMicros: number | null }>`SELECT CAST(sum(cost_micros) AS BIGINT) AS cost_micros
          FROM runs WHERE trigger_space = ${space}`
        const costMicros = rows[0]?.costMicros ?? 0
        const limits = { cost: sessionBudget }
        return [
          { name: "This chat session", period: "so far", costMicros, tokens: 0, limits },
        ] satisfies ReadonlyArray<BudgetUse>
      }, Effect.orDie)

      /** Only agents have a budget of their own. */
      const limitsOfOne = (id: string) =>
        Effect.map(
          Effect.option(agents.getCached(id)),
          Option.match({
            onNone: () => ({ name: id, parent: null, perDay: undefined, own: undefined }),
            onSome: (agent) => {
              const { limits, name, parent } = agent
              return { name, parent, perDay: limits.perDay, own: limitsFor(agent).perDay }
            },
          }),
        )

      const budgetsBy = Effect.fn("Spend.budgetsOf")(function* (
        count: typeof spentBy,
        { agent, payer, triggerSpace, ...run }: Parameters<Spend["Service"]["budgetsOf"]>[0],
      ) {
        const { perDay: ownDay } = limitsOf(run)
        const { costMicros, month, tokens } = yield* count(agent)
        const own: ReadonlyArray<BudgetUse> =
          ownDay === undefined ? [] : [{ name: "Its agent", period: "today", costMicros, tokens, limits: ownDay }]
        const house: BudgetUse = {
          name: "The house",
          period: "this month",
          costMicros: month,
          tokens: 0,
          limits: { cost: monthBudget },
        }
        const above: Array<BudgetUse> = []
        const seen = new Set<string>([agent])
        for (let at = (yield* limitsOfOne(agent)).parent; at !== null && !seen.has(at);) {
          seen.add(at)
          const { name, parent, perDay } = yield* limitsOfOne(at)
          above.push(...(yield* dayOf(count, at, `${name}, with all who work for it,`, perDay)))
          at = parent
        }
        const asked = payer === null ? undefined : yield* limitsOfOne(payer)
        const theirs =
          asked === undefined || seen.has(payer!)
            ? []
            : yield* dayOf(count, payer!, `${asked.name}, for whom it works,`, asked.perDay)
        return [...own, ...above, ...theirs, ...(yield* sessionOf(triggerSpace)), house]
      })

      const sums = yield* makeSumCache(sql, spentBy)
      const budgetsOf: Spend["Service"]["budgetsOf"] = (run) => budgetsBy(sums, run)

      const pay: Budget["Service"]["pay"] = Effect.fn("Spend.pay")(function* ({ micros, principal, run }) {
        yield* journal.transact(
          Effect.gen(function* () {
            // Reading and paying are one step: two at once would both find enough.
            yield* Effect.orDie(lockName(sql, "spend", "pay"))
            const row = run === null ? undefined : yield* record.byId(run.id)
            const whose = yield* limitsOfOne(principal)
            const limits = row === undefined ? { perDay: whose.own } : limitsOf(row)
            const all = yield* budgetsBy(spentBy, {
              agent: principal,
              payer: row?.payer ?? null,
              triggerSpace: row?.triggerSpace ?? null,
              limits: JSON.stringify(limits.perDay === undefined ? {} : { perDay: limits.perDay }),
            })
            const own: ReadonlyArray<BudgetUse> =
              row === undefined || limitsOf(row).cost === undefined
                ? []
                : [
                    {
                      name: "The run",
                      period: "so far",
                      costMicros: row.costMicros,
                      tokens: 0,
                      limits: { cost: limitsOf(row).cost! },
                    },
                  ]
            for (const budget of [...own, ...all]) {
              const why = exceededBudget(budget, micros)
              if (why !== undefined) return yield* Effect.fail(why)
            }
            const spent = { tokensIn: 0, tokensOut: 0, costMicros: micros }
            yield* record.spendToday({ agent: principal, payer: row?.payer ?? null }, spent)
            if (row !== undefined)
              yield* Effect.orDie(sql`UPDATE runs SET cost_micros = cost_micros + ${micros} WHERE id = ${row.id}`)
          }),
        )
      })

      const seenBy = (viewer: BasicViewer) => seesWorkOf(sql, viewer, sql`s.agent`)

      const report: Spend["Service"]["report"] = Effect.fn("Spend.report")(function* (viewer, days) {
        const now = yield* DateTime.now
        const since = DateTime.formatIso(DateTime.subtract(now, { days: days - 1 })).slice(0, 10)
        const name = DateTime.formatIso(now).slice(0, 7)
        const rows = yield* sql<Row>`SELECT s.* FROM spend s WHERE s.day >= ${since} AND ${seenBy(viewer)}
          ORDER BY s.day DESC, s.agent LIMIT 10000`
        const sum = yield* sql<{
          costMicros: number | null
        }>`SELECT CAST(sum(s.cost_micros) AS BIGINT) AS cost_micros FROM spend s
          WHERE s.day >= ${`${name}-01`} AND s.day <= ${`${name}-31`} AND ${seenBy(viewer)}`
        return new SpendReport({
          items: rows.map(
            (row) =>
              new Spent({
                principal: row.agent,
                day: row.day,
                tokens: { in: row.tokensIn, out: row.tokensOut },
                cost: row.costMicros / 1e6,
                caused: row.causedMicros / 1e6,
              }),
          ),
          month: { name, cost: (sum[0]?.costMicros ?? 0) / 1e6, limit: monthBudget },
        })
      }, Effect.orDie)

      return Context.make(Spend, { budgetsOf, report }).pipe(Context.add(Budget, { pay }))
    }),
  )
}
